import { expect, it } from 'vitest';
import { RULES_PER_STACK } from '../../cli/doctor/check-account.ts';
import { stackRole } from '../../cli/doctor/check-cluster.ts';
import { resources, synthesise } from './synthesis.ts';

/** What `joiner doctor` foretells of a stack is what the stack has. */

const LONG = 'a-cluster-whose-name-is-longer-than-a-role-may-be';

it('as many rules on the default bus', () => {
  const rules = [...resources(synthesise({ cluster: 'demo' }), 'AWS::Events::Rule').values()];
  const onDefault = rules.filter((each) => each['EventBusName'] === undefined);
  expect(onDefault).toHaveLength(RULES_PER_STACK);
});

it.each(['demo', LONG])('the name of the node role of %s', (cluster) => {
  const env = { account: '111122223333', region: 'eu-west-1' };
  const stack = synthesise({ cluster }, { env });
  const names = [...resources(stack, 'AWS::IAM::Role').values()].map((each) => each['RoleName']);
  expect(names).toContain(stackRole(cluster, 'eu-west-1'));
});
