import { RegionInfo } from 'aws-cdk-lib/region-info';
import { describe, expect, it } from 'vitest';
import { AWS_REGIONS } from '../../../cli/aws-regions.ts';
import { checkAll } from '../../../cli/commands/doctor.ts';
import { HEALTHY, KUBERNETES } from './healthy.ts';
import { kubernetes, NOT_DEPLOYED } from './row.ts';
import { ACCOUNT_ROWS } from './rows-account.ts';
import { CLUSTER_ROWS } from './rows-cluster.ts';
import { NETWORK_ROWS } from './rows-network.ts';
import { STACK_ROWS } from './rows-stack.ts';

describe.each([
  ['the cluster', CLUSTER_ROWS],
  ['the network', NETWORK_ROWS],
  ['the account', ACCOUNT_ROWS],
  ['the stack', STACK_ROWS],
])('%s', (_, rows) => {
  it.each(rows)('%s', (_what, change, check, status, says) => {
    const lines = checkAll({ ...HEALTHY, ...change }).filter((line) => line.check === check);
    expect(lines).toContainEqual({
      check,
      status,
      message: expect.any(String),
      advice: status === 'OK' ? '' : expect.stringMatching(/./),
    });
    const said = lines
      .filter((line) => line.status === status)
      .map(({ message, advice }) => `${message} → ${advice}`);
    expect(said.join('\n')).toContain(says);
  });
});

it('knows the regions that the CDK knows, of the partitions that there are prices for', () => {
  const names = RegionInfo.regions.map(({ name }) => name);
  const priced = names.filter((each) => !/^us-gov-|-iso|^eusc-/.test(each));
  expect(AWS_REGIONS).toEqual(priced.sort());
});

describe('what is as it should be', () => {
  it('has nothing to be said about', () => {
    expect(checkAll(HEALTHY).filter(({ status }) => status !== 'OK')).toEqual([]);
  });

  it('before the deployment has no failure', () => {
    const definitions = new Map<string, unknown>();
    const rights = KUBERNETES.rights.map((each) => ({ ...each, state: 'absent' as const }));
    const before = kubernetes({ definitions, rights, signs: [] });
    const lines = checkAll({ ...HEALTHY, ...NOT_DEPLOYED, ...before });
    expect(lines.filter(({ status }) => status === 'FAIL')).toEqual([]);
  });

  it('is in the tables with every kind of check', () => {
    const rows = [...CLUSTER_ROWS, ...NETWORK_ROWS, ...ACCOUNT_ROWS, ...STACK_ROWS];
    const tried = new Set(rows.map(([, , check]) => check.replace(/^(reach|way to) .*/, '$1')));
    const all = rows.flatMap(([, change]) => checkAll({ ...HEALTHY, ...change }));
    const known = new Set(all.map(({ check }) => check.replace(/^(reach|way to) .*/, '$1')));
    expect([...known].filter((check) => !tried.has(check))).toEqual([]);
  });
});
