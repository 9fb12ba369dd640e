import { RegionInfo } from 'aws-cdk-lib/region-info';
import { describe, expect, it } from 'vitest';
import { AWS_REGIONS } from '../../../cli/aws-regions.ts';
import { checkAll } from '../../../cli/commands/doctor.ts';
import type { Facts, Kubernetes } from '../../../cli/doctor/facts.ts';
import { SHADOW_FUNCTIONS } from '../../../shared/contract.ts';
import { COMMAND, HEALTHY, KUBERNETES, NOW_MS, yes } from './healthy.ts';
import { functions, kubernetes, NOT_DEPLOYED } from './row.ts';
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

describe('a stack that never acts', () => {
  const [first] = functions;
  const SHADOW: Partial<Facts> = {
    functions: yes(
      first === undefined ? [] : [...SHADOW_FUNCTIONS].map((name) => ({ ...first, name })),
    ),
  };
  const RIGHTS = [
    { object: 'ClusterRole joiner:shadow', state: 'same' },
    { object: 'ClusterRole joiner:provision', state: 'absent' },
    { object: 'FlowSchema joiner', state: 'absent' },
  ] as const;
  const KARPENTER = {
    who: 'Karpenter',
    lease: 'kube-system/karpenter-leader-election',
    holder: 'karpenter-0',
    atMs: NOW_MS - 2000,
    takenBy: new Map(),
  } as const;
  const definitions = new Map(
    [...KUBERNETES.definitions.keys()]
      .filter((name) => name.endsWith('karpenter.sh') || name.endsWith('karpenter.k8s.aws'))
      .map((name) => [name, {}]),
  );
  const cluster = { rights: RIGHTS, signs: [KARPENTER], definitions };
  const shadowed = (change: Partial<Kubernetes> = {}): Facts => ({
    ...HEALTHY,
    ...SHADOW,
    ...kubernetes({ ...cluster, ...change }),
  });

  it("beside an active Karpenter, with Karpenter's definitions, is as it should be", () => {
    const lines = checkAll(shadowed());
    expect(lines.filter(({ status }) => status !== 'OK')).toEqual([]);
    const said = lines.map(({ check, message }) => `${check}: ${message}`);
    expect(said).toEqual(
      expect.arrayContaining([
        `stack: 3 functions of version ${COMMAND}, which record and never act`,
        "definition: Karpenter's, which the stack leaves alone",
        'rights: 1 objects as ours',
        'karpenter: is active: what it does is recorded beside the plans',
      ]),
    );
  });

  it.each<[string, Partial<Kubernetes>, string, string]>([
    ['a Karpenter that is not active', { signs: [] }, 'WARN karpenter', 'not active'],
    [
      'a right that is absent',
      { rights: [{ object: 'ClusterRole joiner:shadow', state: 'absent' }] },
      'FAIL rights',
      'ClusterRole joiner:shadow is absent',
    ],
    ['no definitions', { definitions: new Map() }, 'FAIL definition', 'nodepools.karpenter.sh'],
  ])('names %s', (_, change, check, says) => {
    const lines = checkAll(shadowed(change)).filter(({ status }) => status !== 'OK');
    expect(lines.map((each) => `${each.status} ${each.check}`)).toEqual([check]);
    expect(lines[0]?.message).toContain(says);
  });

  it('that lacks a function is deployed again as it is', () => {
    const all = SHADOW.functions?.ok === true ? SHADOW.functions.value : [];
    const rest = yes(all.filter(({ name }) => name !== 'catalog'));
    const lines = checkAll({ ...shadowed(), functions: rest });
    const [failed] = lines.filter(({ status }) => status === 'FAIL');
    expect(failed).toMatchObject({
      message: 'functions are missing: catalog',
      advice: expect.stringMatching(/ -c shadow=true$/),
    });
  });
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
