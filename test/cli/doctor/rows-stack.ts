import type { Facts, Identity, Kubernetes } from '../../../cli/doctor/facts.ts';
import type { FunctionName } from '../../../shared/contract.ts';
import { COMMAND, HEALTHY, KUBERNETES, NOW_MS, roleOf, unknown, yes } from './healthy.ts';
import { asked, functions, kubernetes, NOT_DEPLOYED, type Row } from './row.ts';

/** Our definition of NodePools without a field, or with one more. */
function definitions(change: 'older' | 'newer' | 'other' | 'absent'): Partial<Kubernetes> {
  const name = 'nodepools.karpenter.sh';
  const all = new Map(KUBERNETES.definitions);
  let text = JSON.stringify(all.get(name));
  if (change !== 'newer') text = text.replaceAll('"consolidateAfter"', '"other"');
  if (change === 'older') text = text.replaceAll('"other":', '"budgets":');
  if (change === 'newer') text = text.replaceAll('"replicas":{', '"future":{},"replicas":{');
  all.set(name, JSON.parse(text));
  if (change === 'absent') all.delete(name);
  return { definitions: all };
}

const ADMIN = 'arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy';

/** One function that is somebody else in the cluster than it should be. */
function identity(name: FunctionName, change: Partial<Identity>): Partial<Facts> {
  const known = HEALTHY.identities.ok ? HEALTHY.identities.value : [];
  return {
    identities: yes(known.map((each) => (each.name === name ? { ...each, ...change } : each))),
  };
}

/** Functions of these versions in turn. */
function deployed(...versions: readonly string[]): Partial<Facts> {
  const version = (at: number) => versions[at % versions.length] ?? '';
  return { functions: yes(functions.map((each, at) => ({ ...each, version: version(at) }))) };
}

const sign = (
  lease: string,
  secondsAgo: number,
  namespace = 'kube-system',
): Kubernetes['signs'][number] => ({
  who: lease.startsWith('joiner') ? 'Joiner' : 'Karpenter',
  lease: `${namespace}/${lease}`,
  holder: `${namespace}-pod`,
  atMs: NOW_MS - secondsAgo * 1000,
  takenBy: new Map(),
});

export const STACK_ROWS: readonly Row[] = [
  ['a stack', {}, 'stack', 'OK', `8 functions of version ${COMMAND}`],
  ['one version', {}, 'versions', 'OK', `the command and the functions are ${COMMAND}`],
  [
    'functions of the next minor version',
    deployed('0.3.7'),
    'versions',
    'WARN',
    'need one version',
  ],
  ['functions of another release', deployed('0.2.1'), 'versions', 'WARN', 'functions are 0.2.1'],
  ['much newer functions', deployed('0.4.0'), 'versions', 'WARN', 'is not supported'],
  ['functions without a version', deployed(''), 'versions', 'WARN', 'version is not known'],
  [
    'a deployment that is under way',
    deployed('0.2.0', '0.3.0'),
    'versions',
    'WARN',
    'the functions are of several versions: 0.2.0, 0.3.0',
  ],
  ['no stack', NOT_DEPLOYED, 'stack', 'WARN', 'npx cdk deploy -c cluster=demo -c region=eu-west-1'],
  [
    'no watch with reaction=tick',
    { functions: yes(functions.filter(({ name }) => name !== 'watch')) },
    'stack',
    'OK',
    '7 functions',
  ],
  [
    'half a stack',
    { functions: yes(functions.filter(({ name }) => name !== 'interrupt')) },
    'stack',
    'FAIL',
    'missing: interrupt',
  ],
  [
    'a function that cannot run',
    { functions: yes(functions.map((each) => ({ ...each, state: 'Failed' }))) },
    'stack',
    'FAIL',
    'provision is Failed',
  ],
  ['no API server', { kubernetes: unknown('no route') }, 'kubernetes', 'WARN', '--kubeconfig'],
  ['an API server', {}, 'kubernetes', 'OK', 'v1.33.1'],
  ['our definitions', {}, 'definition', 'OK', 'nodepools.karpenter.sh is ours'],
  ['newer ones', kubernetes(definitions('newer')), 'definition', 'OK', 'newer than ours'],
  ['none', kubernetes(definitions('absent')), 'definition', 'FAIL', 'is not installed'],
  [
    'none, before the deployment',
    { ...NOT_DEPLOYED, ...kubernetes(definitions('absent')) },
    'definition',
    'WARN',
    'is not installed',
  ],
  [
    'older ones',
    kubernetes(definitions('older')),
    'definition',
    'FAIL',
    'consolidateAfter: the API',
  ],
  [
    'older ones, before the deployment',
    { ...NOT_DEPLOYED, ...kubernetes(definitions('older')) },
    'definition',
    'WARN',
    'consolidateAfter',
  ],
  [
    'others',
    { ...NOT_DEPLOYED, ...kubernetes(definitions('other')) },
    'definition',
    'FAIL',
    'which Joiner does not know',
  ],
  ['identities', {}, 'identities', 'OK', '7 functions with groups of their own'],
  [
    'a function in the group of an older version',
    identity('lifecycle', { groups: ['joiner:controller'] }),
    'identities',
    'FAIL',
    'lifecycle is in joiner:controller, not in joiner:lifecycle',
  ],
  [
    'a function without an access entry',
    identity('watch', { groups: [] }),
    'identities',
    'FAIL',
    'watch is in no group, not in joiner:watch',
  ],
  [
    'an installer that has kept its access',
    identity('install', { policyArns: [ADMIN] }),
    'identities',
    'WARN',
    'install has AmazonEKSClusterAdminPolicy, as while a deployment lasts',
  ],
  [
    'how it is taken away',
    identity('install', { policyArns: [ADMIN] }),
    'identities',
    'WARN',
    `--principal-arn ${roleOf('install')} --policy-arn ${ADMIN}`,
  ],
  ['rights', {}, 'rights', 'OK', '1 objects as ours'],
  [
    'other rights',
    kubernetes({ rights: [{ object: 'ClusterRole joiner:watch', state: 'different' }] }),
    'rights',
    'FAIL',
    'ClusterRole joiner:watch is different',
  ],
  [
    'no rights, before the deployment',
    {
      ...NOT_DEPLOYED,
      ...kubernetes({ rights: [{ object: 'ClusterRole joiner:watch', state: 'absent' }] }),
    },
    'rights',
    'WARN',
    'is absent',
  ],
  ['at work', {}, 'at work', 'OK', 'provision took its Lease 30 s ago'],
  [
    'stopped',
    kubernetes({ signs: [sign('joiner-decide', 301), sign('joiner-lifecycle', 299)] }),
    'at work',
    'FAIL',
    'aws logs tail /aws/lambda/joiner-demo-provision --region eu-west-1',
  ],
  [
    'stopped, while disrupt goes on',
    kubernetes({
      signs: [
        { ...sign('joiner-decide', 10), takenBy: new Map([['provision', NOW_MS - 301_000]]) },
        sign('joiner-lifecycle', 10),
      ],
    }),
    'at work',
    'FAIL',
    'aws logs tail /aws/lambda/joiner-demo-provision --region eu-west-1',
  ],
  [
    'stopped disrupt, while provision goes on',
    kubernetes({
      signs: [
        {
          ...sign('joiner-decide', 10),
          takenBy: new Map([
            ['provision', NOW_MS - 10_000],
            ['disrupt', NOW_MS - 301_000],
          ]),
        },
        sign('joiner-lifecycle', 10),
      ],
    }),
    'at work',
    'FAIL',
    'disrupt took its Lease 301 s ago',
  ],
  [
    'never begun, while disrupt goes on',
    kubernetes({
      signs: [
        { ...sign('joiner-decide', 10), takenBy: new Map([['disrupt', NOW_MS - 10_000]]) },
        sign('joiner-lifecycle', 10),
      ],
    }),
    'at work',
    'FAIL',
    'provision has never taken its Lease',
  ],
  ['never begun', kubernetes({ signs: [] }), 'at work', 'FAIL', 'lifecycle has never taken'],
  [
    'nodeclass between two of its runs',
    kubernetes({ signs: [sign('joiner-nodeclass', 899)] }),
    'at work',
    'OK',
    'nodeclass took its Lease 899 s ago',
  ],
  [
    'stopped nodeclass',
    kubernetes({ signs: [sign('joiner-nodeclass', 901)] }),
    'at work',
    'FAIL',
    'aws logs tail /aws/lambda/joiner-demo-nodeclass --region eu-west-1',
  ],
  [
    'Karpenter at work',
    kubernetes({ signs: [...KUBERNETES.signs, sign('karpenter-leader-election', 59)] }),
    'karpenter',
    'WARN',
    'Joiner only reads',
  ],
  [
    'a Lease of that name elsewhere, beside that of a Karpenter that has stopped',
    kubernetes({
      signs: [
        ...KUBERNETES.signs,
        sign('karpenter-leader-election', 9_000),
        sign('karpenter-leader-election', 20, 'tenant'),
      ],
    }),
    'karpenter',
    'WARN',
    'tenant-pod renews the Lease tenant/karpenter-leader-election',
  ],
  [
    'a Karpenter that has given its Lease up',
    kubernetes({
      signs: [...KUBERNETES.signs, { ...sign('karpenter-leader-election', 5), holder: undefined }],
    }),
    'karpenter',
    'OK',
    'not active',
  ],
  [
    'Karpenter stopped',
    kubernetes({ signs: [...KUBERNETES.signs, sign('karpenter-leader-election', 61)] }),
    'karpenter',
    'OK',
    'not active',
  ],
  [
    'a pause',
    kubernetes({ paused: { launch: Number.POSITIVE_INFINITY } }),
    'pauses',
    'WARN',
    'paused: launch',
  ],
  ['a pause of yesterday', kubernetes({ paused: { launch: NOW_MS - 1 } }), 'pauses', 'OK', 'off'],
  ['prices', {}, 'prices', 'OK', 'read 1 hours ago'],
  [
    'old prices',
    { catalogAtMs: yes(NOW_MS - 49 * 3_600_000) },
    'prices',
    'WARN',
    '/aws/lambda/joiner-demo-catalog',
  ],
  ['no prices', { catalogAtMs: yes(undefined) }, 'prices', 'WARN', 'embedded prices are used'],
  [
    'no prices, none embedded',
    { catalogAtMs: yes(undefined), asked: asked({ hasEmbeddedCatalog: false }) },
    'prices',
    'FAIL',
    'none is embedded for eu-west-1',
  ],
];
