import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountFacts } from '../../../cli/handover/account.ts';
import type { AwsAccess } from '../../../shared/aws/access.ts';
import { interruptionQueueNames } from '../../../shared/contract.ts';
import { CheckedAccount } from '../../support/aws/checked-account.ts';
import { CLASS, HEALTHY, roleOf } from '../doctor/healthy.ts';

let aws = new CheckedAccount();
let access: AwsAccess;

beforeEach(async () => {
  aws = new CheckedAccount();
  access = {
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' },
    functionName: 'adopt',
    endpoint: await aws.start(),
  };
});
afterEach(() => aws.stop());

const { queue: OWN } = interruptionQueueNames(HEALTHY.asked.cluster);
const arnOf = (name: string): string => `arn:aws:sqs:us-east-1:111122223333:${name}`;

it('roles are asked for by their ARN, as what provision passes to EC2', async () => {
  aws.roles.add('EksNodes').add('Others');
  const other = { ...CLASS, role: { ok: true, value: 'Others' } } as const;
  aws.passable.set(roleOf('provision'), ['arn:aws:iam::111122223333:role/EksNodes']);
  const facts = { ...HEALTHY, classes: [CLASS, other] };
  const { passable } = await accountFacts(access, facts, undefined);
  expect(passable).toEqual({
    ok: true,
    value: new Map([
      ['arn:aws:iam::111122223333:role/EksNodes', true],
      ['arn:aws:iam::111122223333:role/Others', false],
    ]),
  });
});

it.each(['EksNodes', 'team/EksNodes'])('a role with a path is known as %s', async (role) => {
  aws.roles.add('EksNodes');
  aws.rolePaths.set('EksNodes', '/team/');
  const classes = [{ ...CLASS, role: { ok: true, value: role } } as const];
  const { passable } = await accountFacts(access, { ...HEALTHY, classes }, undefined);
  const arn = 'arn:aws:iam::111122223333:role/team/EksNodes';
  expect(passable).toEqual({ ok: true, value: new Map([[arn, false]]) });
});

it('rules are those of the queue, on all pages', async () => {
  aws.queues.set(OWN, []);
  aws.rulesByTarget.set(arnOf(OWN), ['spot', 'health']);
  const { queue, karpenterQueue } = await accountFacts(access, HEALTHY, 'shop');
  expect(queue).toEqual({ ok: true, value: { name: OWN, rules: ['spot', 'health'] } });
  expect(karpenterQueue).toEqual({ ok: true, value: { name: 'shop', rules: undefined } });
});

it('what is refused says why, and stops nothing else', async () => {
  aws.denied.add('iam');
  aws.queues.set(OWN, []);
  const { passable, queue, karpenterQueue } = await accountFacts(access, HEALTHY, undefined);
  expect(passable).toMatchObject({ ok: false, why: expect.stringContaining('AccessDenied') });
  expect(queue).toEqual({ ok: true, value: { name: OWN, rules: [] } });
  expect(karpenterQueue).toBeUndefined();
});
