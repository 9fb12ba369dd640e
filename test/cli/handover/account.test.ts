import { describe, expect, it } from 'vitest';
import type { Line } from '../../../cli/doctor/line.ts';
import type { AccountFacts } from '../../../cli/handover/account.ts';
import { checkAccountOf } from '../../../cli/handover/check-account.ts';
import { claimOf } from '../../builders/scheduling.ts';
import { HEALTHY } from '../doctor/healthy.ts';
import { clusterState } from './state.ts';

function fact<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

const ROLE = 'arn:aws:iam::111122223333:role';

const IN_ORDER: AccountFacts = {
  passable: fact(new Map([[`${ROLE}/nodes`, true]])),
  queue: fact({ name: 'joiner-shop', rules: ['a', 'b'] }),
  karpenterQueue: fact({ name: 'shop', rules: ['c'] }),
  instances: fact(['i-0a']),
  templates: fact(0),
};

const state = clusterState({ nodeClaims: [claimOf('a', { providerId: 'aws:///a/i-0a' })] });

function checked(change: Partial<AccountFacts> = {}): readonly Line[] {
  return checkAccountOf(state, { ...IN_ORDER, ...change }, HEALTHY);
}

const said = ({ status, check, message }: Line): string => `${status} ${check}: ${message}`;

it('an account in which nothing is in the way', () => {
  expect(checked().map(said)).toEqual([
    'OK pass role: provision may launch nodes with the role nodes',
    'OK queue: 2 EventBridge rules send to joiner-shop',
    "OK queue: 1 EventBridge rule sends to Karpenter's queue shop; both queues get every message",
    'OK instances: 1, each with its NodeClaim',
    'OK launch templates: none of Karpenter is left',
  ]);
});

describe('what is in the way', () => {
  const unknown = { ok: false, why: 'AccessDenied' } as const;

  it.each<readonly [string, Partial<AccountFacts>, string]>([
    [
      'a role that may not be passed',
      { passable: fact(new Map([[`${ROLE}/nodes`, false]])) },
      'FAIL pass role: provision may not launch nodes with the role nodes',
    ],
    [
      'no queue',
      { queue: fact({ name: 'joiner-shop', rules: undefined }) },
      'FAIL queue: there is no queue joiner-shop',
    ],
    [
      'no rule',
      { queue: fact({ name: 'joiner-shop', rules: [] }) },
      'FAIL queue: no EventBridge rule sends to joiner-shop',
    ],
    [
      'no queue of Karpenter',
      { karpenterQueue: fact({ name: 'shop', rules: undefined }) },
      "WARN queue: Karpenter's queue shop is not there",
    ],
    [
      'a claim whose instance has other tags',
      { instances: fact([]) },
      `FAIL instances: the instances of NodeClaim a are gone or lack the tag eks:eks-cluster-name=${HEALTHY.asked.cluster}: Joiner would treat their nodes as terminated`,
    ],
    [
      'an instance without a claim',
      { instances: fact(['i-0a', 'i-0b']) },
      'WARN instances: instances without a NodeClaim: i-0b',
    ],
    [
      'launch templates of Karpenter',
      { templates: fact(2) },
      'WARN launch templates: 2 of Karpenter stay when it is stopped; Joiner makes its own',
    ],
    ['what may not be asked', { instances: unknown }, 'WARN instances: not checked: AccessDenied'],
  ])('%s', (_, change, line) => {
    expect(checked(change).map(said)).toContain(line);
  });

  it('advice is a command', () => {
    const advice = checked({
      passable: fact(
        new Map([
          [`${ROLE}/nodes`, false],
          [`${ROLE}/known`, true],
          [`${ROLE}/team/windows`, false],
        ]),
      ),
      templates: fact(1),
    }).map((each) => each.advice);
    expect(advice.find((each) => each.startsWith('deploy'))).toMatch(
      /^deploy with -c nodeRoles=arn:aws:iam::\d{12}:role\/nodes,arn:\S*:role\/team\/windows -c cluster=/,
    );
    expect(advice.join()).toContain('aws ec2 delete-launch-template');
  });
});
