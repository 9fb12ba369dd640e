import { SERVICES } from '../../../cli/doctor/endpoints.ts';
import type { ClassFacts, Cluster, Facts, Known, Kubernetes } from '../../../cli/doctor/facts.ts';
import { customResourceDefinitions } from '../../../shared/api/crds/definitions.ts';
import { decodeEC2NodeClass } from '../../../shared/api/ec2-node-class.ts';
import { decodeNodePool } from '../../../shared/api/node-pool.ts';
import { CLUSTER_FUNCTIONS, FUNCTION_NAMES, OPTIONAL_FUNCTIONS } from '../../../shared/contract.ts';
import type { NodeClass } from '../../../shared/core/model/node-class.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';

/** A cluster, an account and a stack with which everything is as it should be. */

export const NOW_MS = Date.UTC(2026, 0, 2);

export const yes = <Value>(value: Value): Known<Value> => ({ ok: true, value });
export const unknown = (why: string): Known<never> => ({ ok: false, why });

export const CLUSTER: Cluster = {
  status: 'ACTIVE',
  version: '1.33',
  authenticationMode: 'API_AND_CONFIG_MAP',
  endpoint: 'https://ABCDEF.gr7.eu-west-1.eks.amazonaws.com',
  caPem: 'CA',
  isPublic: true,
  publicCidrs: ['0.0.0.0/0'],
  isPrivate: true,
  vpcId: 'vpc-1',
  subnetIds: ['subnet-a', 'subnet-b'],
  securityGroupId: 'sg-cluster',
  isAutoMode: false,
};

export const KUBERNETES: Kubernetes = {
  version: 'v1.33.1',
  nowMs: NOW_MS,
  definitions: new Map(customResourceDefinitions().map((each) => [each.metadata.name, each])),
  rights: [{ object: 'ClusterRole joiner:watch', state: 'same' }],
  signs: ['decide', 'lifecycle', 'nodeclass'].map((name) => ({
    who: 'Joiner',
    lease: `kube-system/joiner-${name}`,
    atMs: NOW_MS - 30_000,
    holder: undefined,
    takenBy: new Map(),
  })),
  paused: {},
};

export function aClass(spec: object = {}): NodeClass {
  const decoded = decodeEC2NodeClass({
    apiVersion: 'karpenter.k8s.aws/v1',
    kind: 'EC2NodeClass',
    metadata: { name: 'default' },
    spec: {
      role: 'EksNodes',
      amiSelectorTerms: [{ alias: 'al2023@latest' }],
      subnetSelectorTerms: [{ tags: { team: 'web' } }],
      securityGroupSelectorTerms: [{ tags: { team: 'web' } }],
      ...spec,
    },
  });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value;
}

/** Without an operator it says nothing of capacity types. */
export function aPool(operator?: string, values: readonly string[] = []): NodePool {
  const key = 'karpenter.sh/capacity-type';
  const decoded = decodeNodePool({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'general' },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          requirements: operator === undefined ? [] : [{ key, operator, values }],
        },
      },
    },
  });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value;
}

export const CLASS: ClassFacts = {
  nodeClass: aClass(),
  role: yes('EksNodes'),
  roleArn: yes('arn:aws:iam::111122223333:role/EksNodes'),
  subnets: yes([
    { id: 'subnet-a', zone: 'eu-west-1a', freeAddresses: 4000 },
    { id: 'subnet-b', zone: 'eu-west-1b', freeAddresses: 4000 },
  ]),
  securityGroups: yes([{ id: 'sg-nodes' }]),
};

export const roleOf = (name: string): string => `arn:aws:iam::111122223333:role/joiner-${name}`;

const reach = Object.fromEntries(SERVICES.map((service) => [service, yes('answers')]));

/** The version of the command and of the functions. */
export const COMMAND = '0.2.0';

export const HEALTHY: Facts = {
  command: COMMAND,
  asked: { cluster: 'demo', region: 'eu-west-1', isInside: false, hasEmbeddedCatalog: true },
  nowMs: NOW_MS,
  caller: yes({ account: '111122223333', arn: 'arn:aws:iam::111122223333:user/engineer' }),
  cluster: yes(CLUSTER),
  accessEntries: yes([
    { principalArn: 'arn:aws:iam::111122223333:role/EksNodes', type: 'EC2_LINUX' },
  ]),
  reach: reach as Facts['reach'],
  network: yes({ subnetIds: [], endpoints: [], routedSubnetIds: [] }),
  quotas: {
    concurrency: yes({ limit: 1000, unreserved: 1000 }),
    onDemandCpus: yes(1152),
    spotCpus: yes(640),
    putEventsPerSecond: yes(10_000),
    rules: yes({ limit: 300, used: 20 }),
  },
  spotRole: yes(true),
  functions: yes(
    FUNCTION_NAMES.filter((name) => !OPTIONAL_FUNCTIONS.has(name)).map((name) => ({
      name,
      roleArn: roleOf(name),
      state: 'Active',
      version: COMMAND,
      bucket: 'joiner-demo',
      subnetIds: [],
    })),
  ),
  identities: yes(
    CLUSTER_FUNCTIONS.filter((name) => !OPTIONAL_FUNCTIONS.has(name)).map((name) => ({
      name,
      principalArn: roleOf(name),
      groups: [`joiner:${name}`],
      policyArns: [],
    })),
  ),
  catalogAtMs: yes(NOW_MS - 3_600_000),
  kubernetes: yes(KUBERNETES),
  classes: [CLASS],
  pools: [],
};
