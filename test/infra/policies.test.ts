import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENT_SCOPE, permissionsDocument } from '../../infra/policies/document.ts';
import { POLICIES } from '../../infra/policies/policies.ts';
import type { PolicyScope, Statement } from '../../infra/policies/statement.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract.ts';

const SCOPE = DOCUMENT_SCOPE;

const statements = (name: FunctionName, change: Partial<PolicyScope> = {}): readonly Statement[] =>
  POLICIES[name]({ ...SCOPE, ...change });
const actions = (name: FunctionName): ReadonlySet<string> =>
  new Set(statements(name).flatMap((each) => each.actions));

const LAUNCHES = ['ec2:RunInstances', 'ec2:CreateFleet', 'ec2:CreateLaunchTemplate'];
const ENDS = ['ec2:TerminateInstances', 'ec2:StopInstances'];

describe.each(FUNCTION_NAMES)('the policy of %s', (name) => {
  it('is the one that was reviewed', async () => {
    const file = join(import.meta.dirname, 'golden/policies', `${name}.json`);
    const text = `${JSON.stringify(statements(name), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot(file);
  });

  it('names whole actions, once each statement, with a reason', () => {
    const sids = statements(name).map((each) => each.sid);
    expect(new Set(sids).size).toBe(sids.length);
    for (const each of statements(name)) {
      expect(each.why).toMatch(/^[A-Z].*\.$/);
      for (const action of each.actions) expect(action).toMatch(/^[a-z0-9-]+:[A-Za-z0-9]+$/);
    }
  });

  it('binds what it does to everything', () => {
    const unbound = statements(name).filter(
      (each) => each.resources.includes('*') && each.conditions === undefined,
    );
    // Pricing is served from other regions and knows no resources.
    expect(unbound.flatMap((each) => each.actions)).toEqual(
      name === 'catalog' ? ['pricing:GetProducts'] : [],
    );
  });

  it('may not both launch and end', () => {
    const may = actions(name);
    const launches = LAUNCHES.some((each) => may.has(each));
    const ends = ENDS.some((each) => may.has(each));
    expect(launches).toBe(name === 'provision');
    expect(ends).toBe(name === 'lifecycle');
  });
});

it('every change of an EC2 resource is bound to tags of the cluster', () => {
  const changing = /^ec2:(Run|Create|Terminate|Delete)/;
  const bound = 'kubernetes.io/cluster/CLUSTER';
  const loose = FUNCTION_NAMES.flatMap((name) =>
    statements(name)
      .filter((each) => each.actions.some((action) => changing.test(action)))
      .filter((each) => !JSON.stringify(each.conditions ?? {}).includes(bound))
      .map((each) => `${name} ${each.sid}`),
  );
  // What an instance is launched from is not the cluster's: images, subnets, security groups.
  expect(loose).toEqual(['provision LaunchFrom']);
});

it('only the node role is passed, and only to EC2', () => {
  const passing = FUNCTION_NAMES.flatMap((name) =>
    statements(name).filter((each) => each.actions.includes('iam:PassRole')),
  );
  expect(passing).toHaveLength(2);
  for (const each of passing) {
    expect(each.resources).toEqual(SCOPE.nodeRoleArns);
    expect(each.conditions).toEqual({
      StringEquals: { 'iam:PassedToService': ['ec2.amazonaws.com', 'ec2.amazonaws.com.cn'] },
    });
  }
});

it('nothing of IAM is left where there is no way to it, but for the role of instances', () => {
  const left = FUNCTION_NAMES.flatMap((name) =>
    statements(name, { isIsolated: true }).flatMap((each) => each.actions),
  ).filter((action) => action.startsWith('iam:'));
  expect(left).toEqual(['iam:PassRole']);
});

it('keys are used only where bucket or queue has one', () => {
  const keyed = FUNCTION_NAMES.flatMap((name) =>
    statements(name, { keyArn: undefined, queueKeyArn: undefined }).flatMap((each) => each.actions),
  ).filter((action) => action.startsWith('kms:'));
  expect(keyed).toEqual([]);
});

it('of a shared bucket the installer removes only what is of this cluster', () => {
  const removing = statements('install', { isBucketOwned: false }).find((each) =>
    each.actions.includes('s3:DeleteObject'),
  );
  expect(removing?.resources).toEqual([
    'arn:aws:s3:::BUCKET/clusters/CLUSTER/*',
    'arn:aws:s3:::BUCKET/shared/REGION/*/CLUSTER.json',
  ]);
});

it('the page of permissions says what the policies say', async () => {
  const file = join(import.meta.dirname, '../../docs/permissions.md');
  await expect(permissionsDocument()).toMatchFileSnapshot(file);
});
