import { Prng } from '../../shared/sim/prng.ts';
import { one } from '../../test/sim/swarm/one.ts';

/*
 * Pods as benchmarks of Karpenter have them (generic, diverse, preferences), and as clusters hold
 * them (deployments). The same seed gives the same pods.
 */

const SEED = 42;
const CPUS = ['100m', '250m', '500m', '1', '1500m'] as const;
const MEMORIES = ['100Mi', '256Mi', '512Mi', '1Gi', '2Gi', '4Gi'] as const;
const LETTERS = 'abcdefg';
const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

export type Labels = Readonly<Record<string, string>>;

/** What pods of a case differ in. */
export interface PodSpec {
  readonly labels?: Labels;
  readonly requests: Readonly<Record<string, string>>;
  /** Fields of the pod's spec beside its container. */
  readonly spec?: object;
}

/** Pods of one case: names and uids by their place. */
export function podsOf(specs: readonly PodSpec[]): readonly object[] {
  return specs.map(({ labels = {}, requests, spec = {} }, index) => {
    const number = String(index).padStart(6, '0');
    // Devices are the same in limits, as the API server asks for.
    const { cpu: _, memory: __, ...devices } = requests;
    const resources = {
      requests,
      ...(Object.keys(devices).length === 0 ? {} : { limits: devices }),
    };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `pod-${number}`,
        namespace: 'default',
        uid: `00000000-0000-4000-8000-000000${number}`,
        labels,
      },
      spec: { ...spec, containers: [{ name: 'main', image: 'main', resources }] },
    };
  });
}

function sizeOf(random: Prng): PodSpec['requests'] {
  return { cpu: one(random, CPUS), memory: one(random, MEMORIES) };
}

const selected = (matchLabels: Labels) => ({ labelSelector: { matchLabels } });

function spreadOver(topologyKey: string, labels: Labels, whenUnsatisfiable: string): object {
  return { maxSkew: 1, topologyKey, whenUnsatisfiable, ...selected(labels) };
}

function termOf(topologyKey: string, labels: Labels): object {
  return { topologyKey, ...selected(labels) };
}

function required(kind: 'podAffinity' | 'podAntiAffinity', term: object): object {
  return { affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

type Maker = (random: Prng, count: number) => readonly PodSpec[];

function plain(random: Prng): PodSpec {
  return { labels: { group: random.pick(LETTERS) }, requests: sizeOf(random) };
}

/** Plain pods of 30 sizes. */
const generic: Maker = (random, count) => Array.from({ length: count }, () => plain(random));

/** A fifth each: plain, spread over zones, spread over nodes, together in a zone, one on a node. */
const diverse: Maker = (random, count) => {
  const makers: readonly (() => Partial<PodSpec>)[] = [
    () => ({}),
    ...[ZONE, HOST].map((key) => () => {
      const counted = { group: random.pick(LETTERS) };
      return {
        spec: { topologySpreadConstraints: [spreadOver(key, counted, 'DoNotSchedule')] },
      };
    }),
    () => {
      const labels = { together: random.pick(LETTERS) };
      return { labels, spec: required('podAffinity', termOf(ZONE, labels)) };
    },
    () => {
      const labels = { apart: 'all' };
      return { labels, spec: required('podAntiAffinity', termOf(HOST, labels)) };
    },
  ];
  return Array.from({ length: count }, (_, index) => {
    const made = makers[Math.floor((index * makers.length) / count)];
    return { ...plain(random), ...made?.() };
  });
};

/** The kinds of Deployments, of six: two spread softly, one over zones, one on demand, two plain. */
function deploymentSpec(random: Prng, labels: Labels): object {
  const kind = random.between(0, 5);
  if (kind < 2) {
    const soft = [ZONE, HOST].map((key) => spreadOver(key, labels, 'ScheduleAnyway'));
    return { topologySpreadConstraints: soft };
  }
  if (kind === 2) {
    return { topologySpreadConstraints: [spreadOver(ZONE, labels, 'DoNotSchedule')] };
  }
  return kind === 3 ? { nodeSelector: { 'karpenter.sh/capacity-type': 'on-demand' } } : {};
}

/** Groups of 5 to 50 equal pods. */
const deployments: Maker = (random, count) => {
  const specs: PodSpec[] = [];
  while (specs.length < count) {
    const labels = { app: `app-${specs.length}` };
    const pod = { labels, requests: sizeOf(random), spec: deploymentSpec(random, labels) };
    const size = Math.min(count - specs.length, random.between(5, 50));
    specs.push(...Array.from({ length: size }, () => pod));
  }
  return specs;
};

/** Equal pods that would rather be in one zone and rather not beside each other. */
const preferences: Maker = (random, count) => {
  const labels = { app: 'all' };
  const inZone = [{ key: ZONE, operator: 'In', values: ['us-east-1a'] }];
  const apart = [ZONE, HOST].map((key, index) => ({
    weight: index === 0 ? 10 : 1,
    podAffinityTerm: termOf(key, labels),
  }));
  const affinity = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: inZone } },
      ],
    },
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: apart },
  };
  const pod = { labels, requests: sizeOf(random), spec: { affinity } };
  return Array.from({ length: count }, () => pod);
};

const MAKERS = { generic, deployments, diverse, preferences } satisfies Record<string, Maker>;

export type Mix = keyof typeof MAKERS;

/** That many pods of a mix. */
export function mixedSpecs(mix: Mix, count: number): readonly PodSpec[] {
  return MAKERS[mix](new Prng(SEED, mix), count);
}
