import { sha256 } from '../../../shared/core/launch/sha256.ts';
import type { Json } from '../../../shared/sim/json.ts';
import { Prng } from '../../../shared/sim/prng.ts';

/** How many cases there are, made from the numbers from 1 on. */
export const CASES = 130;

const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;

/** Families as EC2 has them: a letter, a generation, architecture, GiB and USD an hour by vCPU. */
const FAMILIES = [
  ['c6a', 'amd64', 2, 0.0383],
  ['c7g', 'arm64', 2, 0.0363],
  ['c7i', 'amd64', 2, 0.0446],
  ['m6a', 'amd64', 4, 0.0432],
  ['m7g', 'arm64', 4, 0.0408],
  ['m7i', 'amd64', 4, 0.0504],
  ['r6a', 'amd64', 8, 0.0567],
  ['r7g', 'arm64', 8, 0.0536],
  ['r7i', 'amd64', 8, 0.0662],
] as const;

const SIZES = [
  ['large', 2],
  ['xlarge', 4],
  ['2xlarge', 8],
  ['4xlarge', 16],
  ['8xlarge', 32],
  ['12xlarge', 48],
  ['16xlarge', 64],
  ['24xlarge', 96],
] as const;

const GPU_SIZES = [
  ['xlarge', 4, 1, 0.526],
  ['2xlarge', 8, 1, 0.752],
  ['12xlarge', 48, 4, 3.912],
] as const;

function offering(zone: string, capacityType: string, price: number): Json {
  return { zone, zoneId: `${zone}-id`, capacityType, price: Math.round(price * 1e5) / 1e5 };
}

function instanceType(
  name: string,
  arch: string,
  cpu: number,
  gib: number,
  price: number,
  random: Prng,
  gpus = 0,
): Json {
  const [family = ''] = name.split('.');
  const spot = ZONES.map((zone) => offering(zone, 'spot', price * (0.28 + 0.4 * random.next())));
  return {
    name,
    capacity: {
      cpu: String(cpu),
      memory: `${Math.floor(gib * 1024 * 0.925)}Mi`,
      pods: String(cpu <= 2 ? 29 : cpu <= 16 ? 58 : 234),
      'ephemeral-storage': '20Gi',
      ...(gpus === 0 ? {} : { 'nvidia.com/gpu': String(gpus) }),
    },
    overhead: { kubeReserved: { cpu: '80m', memory: `${255 + 11 * Math.min(58, 8 * cpu)}Mi` } },
    requirements: {
      'kubernetes.io/arch': [arch],
      'kubernetes.io/os': ['linux'],
      'karpenter.k8s.aws/instance-family': [family],
      'karpenter.k8s.aws/instance-category': [family.slice(0, 1)],
      'karpenter.k8s.aws/instance-cpu': [String(cpu)],
    },
    offerings: [...ZONES.map((zone) => offering(zone, 'on-demand', price)), ...spot],
  };
}

export function instanceTypes(random: Prng): readonly Json[] {
  const plain = FAMILIES.flatMap(([family, arch, gib, price]) =>
    SIZES.map(([size, cpu]) =>
      instanceType(`${family}.${size}`, arch, cpu, cpu * gib, cpu * price, random),
    ),
  );
  const gpus = GPU_SIZES.map(([size, cpu, count, price]) =>
    instanceType(`g4dn.${size}`, 'amd64', cpu, cpu * 4, price, random, count),
  );
  return [...plain, ...gpus];
}

function one<Value>(random: Prng, values: readonly Value[]): Value {
  return values[Math.floor(random.next() * values.length)] as Value;
}

function chance(random: Prng, share: number): boolean {
  return random.next() < share;
}

export function requirement(key: string, ...values: readonly string[]): Json {
  return { key, operator: 'In', values };
}

const NO_GPU: Json = {
  key: 'karpenter.k8s.aws/instance-category',
  operator: 'NotIn',
  values: ['g'],
};

export function pool(
  name: string,
  requirements: readonly Json[],
  spec: Json = {},
  template: Json = {},
) {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: { template: { spec: { requirements, nodeClassRef, ...template } }, ...spec },
  };
}

/** What a case has beside plain pods. */
interface Traits {
  readonly spreads: boolean;
  readonly affinities: boolean;
  readonly wishes: boolean;
  readonly gpus: boolean;
  readonly isTainted: boolean;
}

function poolsOf(random: Prng, { gpus, isTainted }: Traits): readonly Json[] {
  const both = requirement('karpenter.sh/capacity-type', 'spot', 'on-demand');
  const onDemand = requirement('karpenter.sh/capacity-type', 'on-demand');
  const capacity = one(random, [both, onDemand, onDemand]);
  const arch = one(random, [['amd64'], ['amd64', 'arm64'], ['arm64']] as const);
  const category = requirement('karpenter.k8s.aws/instance-category', 'c', 'm', 'r');
  const minValues = chance(random, 0.15) ? { minValues: 2 + Math.floor(random.next() * 3) } : {};
  const family = {
    key: 'karpenter.k8s.aws/instance-family',
    operator: 'Exists',
    ...minValues,
  };
  const limits = chance(random, 0.15) ? { limits: { cpu: '4000' } } : {};
  const first = pool('general', [
    capacity,
    requirement('kubernetes.io/arch', ...arch),
    category,
    family,
  ]);
  const pools: Json[] = [{ ...first, spec: { ...first.spec, ...limits } }];
  if (chance(random, 0.4)) {
    const weight = chance(random, 0.7) ? { weight: 10 + Math.floor(random.next() * 80) } : {};
    const size = requirement('karpenter.k8s.aws/instance-cpu', '2', '4', '8');
    pools.push(pool('small', [onDemand, size, NO_GPU], weight));
  }
  if (gpus) {
    pools.push(
      pool(
        'gpu',
        [onDemand, requirement('karpenter.k8s.aws/instance-category', 'g')],
        {},
        {
          taints: [{ key: 'nvidia.com/gpu', value: 'true', effect: 'NoSchedule' }],
        },
      ),
    );
  }
  if (isTainted) {
    const effect = chance(random, 0.6) ? 'NoSchedule' : 'PreferNoSchedule';
    pools.push(
      pool('team', [onDemand, category], {}, { taints: [{ key: 'team', value: 'a', effect }] }),
    );
  }
  return pools;
}

function daemonSets(random: Prng): readonly Json[] {
  const all = [
    ['aws-node', '50m', '128Mi'],
    ['kube-proxy', '100m', '64Mi'],
    ['logs', '200m', '256Mi'],
    ['metrics', '100m', '180Mi'],
  ] as const;
  return all.slice(0, Math.floor(random.next() * 5)).map(([name, cpu, memory]) => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'kube-system', uid: `daemon-${name}` },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          tolerations: [{ operator: 'Exists' }],
          containers: [{ name, image: name, resources: { requests: { cpu, memory } } }],
        },
      },
    },
  }));
}

function spread(random: Prng, app: string, key: string, whenUnsatisfiable: string): Json {
  const labelSelector = { matchLabels: { app } };
  return {
    maxSkew: 1 + Math.floor(random.next() * 2),
    topologyKey: key,
    whenUnsatisfiable,
    labelSelector,
  };
}

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

/** What the pods of a Deployment ask of their nodes, and of one another. */
function placement(random: Prng, app: string, traits: Traits): Json {
  const term = (topologyKey: string) => ({ topologyKey, labelSelector: { matchLabels: { app } } });
  const spec: Record<string, unknown> = {};
  if (traits.spreads && chance(random, 0.4)) {
    const rule = chance(random, 0.6) || !traits.wishes ? 'DoNotSchedule' : 'ScheduleAnyway';
    spec['topologySpreadConstraints'] = [spread(random, app, ZONE, rule)];
  }
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  if (traits.affinities && chance(random, 0.3)) {
    spec['affinity'] = { podAntiAffinity: { [required]: [term(HOST)] } };
  } else if (traits.affinities && chance(random, 0.15)) {
    spec['affinity'] = { podAffinity: { [required]: [term(chance(random, 0.5) ? HOST : ZONE)] } };
  } else if (traits.affinities && chance(random, 0.2)) {
    const nodeSelectorTerms = [ZONES[2], ZONES[0]].map((zone) => ({
      matchExpressions: [requirement(ZONE, zone)],
    }));
    spec['affinity'] = { nodeAffinity: { [required]: { nodeSelectorTerms } } };
  } else if (traits.wishes && chance(random, 0.3)) {
    const key = 'preferredDuringSchedulingIgnoredDuringExecution';
    const podAffinityTerm = term(HOST);
    spec['affinity'] = chance(random, 0.4)
      ? { podAntiAffinity: { [key]: [{ weight: 50, podAffinityTerm }] } }
      : {
          nodeAffinity: {
            [key]: [
              {
                weight: 10,
                preference: { matchExpressions: [requirement(ZONE, one(random, ZONES))] },
              },
            ],
          },
        };
  }
  if (chance(random, 0.15)) spec['nodeSelector'] = { [ZONE]: one(random, ZONES) };
  else if (chance(random, 0.1))
    spec['nodeSelector'] = { 'karpenter.sh/capacity-type': 'on-demand' };
  return spec;
}

interface Shape {
  readonly requests: Json;
  readonly tolerations: readonly Json[];
  readonly nodeSelector?: Json;
}

function shapeOf(random: Prng, { gpus, isTainted }: Traits): Shape {
  const cpu = one(random, [100, 150, 250, 400, 500, 750, 1000, 1500, 2000, 4000]);
  const perCpu = one(random, [1, 2, 4, 4, 8]);
  const memory = `${Math.ceil((cpu / 1000) * perCpu * 1024 * (0.5 + 0.5 * random.next()))}Mi`;
  const requests = { cpu: `${cpu}m`, memory };
  if (gpus && chance(random, 0.25)) {
    const tolerations = [{ key: 'nvidia.com/gpu', operator: 'Exists' }];
    return { requests: { ...requests, 'nvidia.com/gpu': '1' }, tolerations };
  }
  const isTeams = isTainted && chance(random, 0.4);
  const tolerations = isTeams ? [{ key: 'team', operator: 'Equal', value: 'a' }] : [];
  return { requests, tolerations };
}

function deployment(random: Prng, at: number, count: number, traits: Traits): readonly Json[] {
  const app = `app-${at}`;
  const { requests, tolerations } = shapeOf(random, traits);
  const isGpu = 'nvidia.com/gpu' in requests;
  const place = isGpu ? {} : placement(random, app, traits);
  const created = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();
  return Array.from({ length: count }, (_, index) => {
    const name = `${app}-${String(index).padStart(4, '0')}`;
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'default',
        uid: `uid-${name}`,
        creationTimestamp: created,
        labels: { app },
      },
      spec: {
        ...place,
        tolerations,
        containers: [
          {
            name: 'app',
            image: 'app',
            // Limits of GPUs have to be said; everything else is free to grow.
            resources: isGpu ? { requests, limits: { 'nvidia.com/gpu': '1' } } : { requests },
          },
        ],
      },
    };
  });
}

/** Nodes that run already, each with a pod that leaves it some room. */
function nodesOf(random: Prng, pools: readonly Json[]): { nodes: Json[]; running: Json[] } {
  const [{ metadata } = pool('general', [])] = pools as [ReturnType<typeof pool>];
  const count = 1 + Math.floor(random.next() * 6);
  const nodes = Array.from({ length: count }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `node-${at}`,
      labels: {
        'karpenter.sh/nodepool': metadata.name,
        'karpenter.sh/registered': 'true',
        'karpenter.sh/initialized': 'true',
        'karpenter.sh/capacity-type': 'on-demand',
        'node.kubernetes.io/instance-type': 'm7i.2xlarge',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        [ZONE]: one(random, ZONES),
      },
    },
    spec: { providerID: `aws:///node-${at}` },
    status: {
      capacity: { cpu: '8', memory: '30000Mi', pods: '58' },
      allocatable: { cpu: '7910m', memory: '29000Mi', pods: '58' },
    },
  }));
  const running = nodes.map((node, at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `running-${at}`, namespace: 'default', uid: `uid-running-${at}` },
    spec: {
      nodeName: node.metadata.name,
      containers: [
        {
          name: 'app',
          image: 'app',
          resources: { requests: { cpu: `${1000 + Math.floor(random.next() * 5000)}m` } },
        },
      ],
    },
    status: { phase: 'Running' },
  }));
  return { nodes, running };
}

/** Pods in all, from a handful to two thousand. */
function podCount(seed: number, random: Prng): number {
  if (seed % 13 === 0) return 1000 + Math.floor(random.next() * 1001);
  if (seed % 4 === 0) return 100 + Math.floor(random.next() * 300);
  return 1 + Math.floor(random.next() * 60);
}

/** The case of this number, as `joiner solve` reads it; the same number gives the same bytes. */
export function caseOf(seed: number): Json {
  const random = new Prng(seed, 'first-fit');
  const traits: Traits = {
    spreads: seed % 3 === 0,
    affinities: seed % 5 === 0,
    wishes: seed % 7 === 0,
    gpus: seed % 11 === 0,
    isTainted: seed % 6 === 1,
  };
  const types = instanceTypes(random);
  const nodePools = poolsOf(random, traits);
  let left = podCount(seed, random);
  const pods: Json[] = [];
  for (let at = 0; left > 0; at++) {
    const count = Math.min(left, 1 + Math.floor(random.next() * Math.max(8, left / 3)));
    pods.push(...deployment(random, at, count, traits));
    left -= count;
  }
  const { nodes, running } =
    seed % 8 === 3 ? nodesOf(random, nodePools) : { nodes: [], running: [] };
  return {
    name: `case-${seed}`,
    instanceTypes: types,
    nodePools,
    daemonSets: daemonSets(random),
    nodes,
    pods: [...pods, ...running],
    options: { timeoutSeconds: -1 },
  };
}

/** Tells whether a case is still the one that was answered. */
export function digestOf(problem: Json): string {
  return sha256(JSON.stringify(problem)).slice(0, 12);
}
