/**
 * Names that the functions and the stack share: a name is written here once, read by the code that
 * runs and set by the code that deploys.
 */

/** The functions that exist, in the order of the documentation; a folder of `functions/` each. */
export const FUNCTION_NAMES = [
  'watch',
  'provision',
  'lifecycle',
  'disrupt',
  'interrupt',
  'nodeclass',
  'catalog',
  'events',
  'metrics',
  'shadow',
  'install',
] as const;

export type FunctionName = (typeof FUNCTION_NAMES)[number];

/** Functions that a stack has only where a prop asks for them. */
export const OPTIONAL_FUNCTIONS: ReadonlySet<FunctionName> = new Set([
  'events',
  'metrics',
  'shadow',
]);

/** Those of a stack that decides beside Karpenter and never acts: no others are there. */
export const SHADOW_FUNCTIONS: ReadonlySet<FunctionName> = new Set([
  'catalog',
  'shadow',
  'install',
]);

/** Environment variables that the stack sets beside those of the settings (`contract/settings.ts`). */
export const ENV = {
  /** The EKS cluster's name. */
  cluster: 'CLUSTER_NAME',
  /** Which of {@link FUNCTION_NAMES} runs. */
  function: 'JOINER_FUNCTION',
  version: 'JOINER_VERSION',
  /** Twelve digits: interruption messages of another account are not believed. */
  account: 'JOINER_ACCOUNT',
  /** Of the partition, e.g. `amazonaws.com`. */
  dnsSuffix: 'JOINER_DNS_SUFFIX',
  /** Joiner's memory. */
  bucket: 'JOINER_BUCKET',
  /** Name of the bus that carries wake-ups. */
  eventBus: 'JOINER_EVENT_BUS',
  /** Of `events` alone: one of {@link DECISION_EVENTS}. */
  decisionEvents: 'JOINER_DECISION_EVENTS',
  /** Present where `metrics` writes to Prometheus: measurements are lines of the log, with labels. */
  measurements: 'JOINER_MEASUREMENTS',
  /** Of `metrics` alone, the rest of it too: where to, as JSON. */
  remoteWrite: 'JOINER_REMOTE_WRITE',
  logLevel: 'LOG_LEVEL',
  /** Read by Powertools. */
  service: 'POWERTOOLS_SERVICE_NAME',
  /** Read by Powertools. */
  metricsNamespace: 'POWERTOOLS_METRICS_NAMESPACE',
} as const;

/**
 * Where a stack states in the cluster what decisions go by, by the names of variables: `joiner plan`
 * and `explain` decide as the functions do. Written by `install`, read by no function.
 */
export const SETTINGS_CONFIG_MAP = { namespace: 'kube-system', name: 'joiner-settings' } as const;

/** Lambda's own variable; the stack states its region by the same name. */
export const REGION_VARIABLE = 'AWS_REGION';

/** Feature gates with their defaults. The names are Karpenter's, but for PodNomination. */
export const FEATURE_GATES = {
  ReservedCapacity: true,
  SpotToSpotConsolidation: false,
  NodeRepair: false,
  NodeOverlay: true,
  StaticCapacity: true,
  CapacityBuffer: true,
  PodNomination: true,
} as const satisfies Readonly<Record<string, boolean>>;

export type FeatureGate = keyof typeof FEATURE_GATES;

/**
 * Who wakes whom: what the functions say on the stack's bus, and whom it wakes. `watch` says all that
 * happens in the cluster, within a second, and of what CapacityBuffers name within ten; `provision`,
 * `lifecycle`, `disrupt` and `interrupt` say what they have done where others go on with it. Whoever
 * is woken looks for itself, and a wake-up that is lost is made good by the next schedule.
 */
export const WAKE_TARGETS = {
  /** A pod has no node, and kube-scheduler says that none fits. */
  'pods-unschedulable': ['provision'],
  /** A claim has no instance yet, whoever wrote it. */
  'nodeclaim-created': ['provision'],
  'nodeclaim-changed': ['lifecycle'],
  /** Its pods need another place, and its instance has to end. */
  'nodeclaim-deleted': ['lifecycle', 'provision'],
  /** Its finalizer, too: limits have room for others. */
  'nodeclaim-gone': ['provision'],
  'node-joined': ['lifecycle'],
  'node-changed': ['lifecycle'],
  'node-deleted': ['lifecycle'],
  /** Its nodes may have drifted, and more or others may be launched. */
  'nodepool-changed': ['provision', 'disrupt'],
  'nodepool-ready': ['provision'],
  /** Prices and capacities are others. */
  'nodeoverlay-changed': ['provision', 'disrupt'],
  /** What it selects has to be looked for first: what comes of that is `nodeclass-resolved`. */
  'nodeclass-changed': ['nodeclass'],
  /** It is ready, and was not, or for another version, or with other images, subnets or groups. */
  'nodeclass-resolved': ['provision', 'disrupt'],
  /** A claim has gone while a class waits for its last one to go. */
  'nodeclass-released': ['nodeclass'],
  /** A CapacityBuffer, or the PodTemplate or workload that it names. */
  'capacitybuffer-changed': ['provision'],
  /** The stack was installed or upgraded: what takes longest to come by is fetched at once. */
  installed: ['catalog', 'nodeclass'],
} as const satisfies Readonly<Record<string, readonly FunctionName[]>>;

export type WakeKind = keyof typeof WAKE_TARGETS;

/** The kinds in schedules. `spot-prices` and `all` are for `catalog`. */
export const SCHEDULE_KINDS = ['tick', 'spot-prices', 'all'] as const;

export type ScheduleKind = (typeof SCHEDULE_KINDS)[number];

/** The envelope of wake-ups and of schedules; `detail` is a {@link Wake}. */
export const WAKE_EVENT = {
  source: 'joiner',
  wakeDetailType: 'Joiner Wake-up',
  scheduleDetailType: 'Joiner Schedule',
} as const;

/** Which decisions become events: those that change something, or also what was not done. */
export const DECISION_EVENTS = ['changes', 'all'] as const;

/**
 * A decision on the account's default bus. `detail` is the record, as `joiner schema decision`
 * describes it; `resources` is the cluster's ARN.
 */
export const DECISION_EVENT = {
  source: 'joiner.decisions',
  detailType: 'Joiner Decision',
  /** Of EventBridge's buses, the one that every account has. */
  bus: 'default',
} as const;

/**
 * A marked event that `joiner doctor --probe` sends to see whether notices arrive. It goes the way of
 * EC2's own but for the rule, since nobody may send events in the name of AWS. The answer is a
 * decision in the bucket; its object's name ends in `decision` and the mark.
 */
export const PROBE = {
  source: 'joiner.probe',
  detailType: 'Joiner Probe',
  decision: 'interrupt-probe-',
} as const;

/** A hint that carries no data: whoever is woken looks for itself. */
export interface Wake {
  readonly cluster: string;
  readonly kind: WakeKind | ScheduleKind;
}

/** The functions that speak to the cluster, each as a group of its own. */
export const CLUSTER_FUNCTIONS = FUNCTION_NAMES.filter(
  (name) => name !== 'catalog' && name !== 'events',
);

/** The Kubernetes group of a function's role; `infra/rbac` says what it may do. */
export function kubernetesGroup(name: FunctionName): string {
  return `joiner:${name}`;
}

/** By which a function is known to the API server: its user agent, its fields, its Events. */
export function kubernetesClient<Name extends FunctionName>(name: Name): `joiner-${Name}` {
  return `joiner-${name}`;
}

/** Tag keys by which instances, templates and profiles are known as ours; Karpenter's. */
export const TAGS = {
  /** With the cluster's name behind it; the value is `owned`. */
  clusterPrefix: 'kubernetes.io/cluster/',
  clusterName: 'eks:eks-cluster-name',
  nodePool: 'karpenter.sh/nodepool',
  nodeClaim: 'karpenter.sh/nodeclaim',
  nodeClass: 'karpenter.k8s.aws/ec2nodeclass',
  name: 'Name',
  region: 'topology.kubernetes.io/region',
} as const;

/** Where things are in the bucket. */
export const BUCKET_LAYOUT = {
  /** Only this cluster's functions read and write below it. */
  cluster: (cluster: string): string => `clusters/${cluster}/`,
  /** Every stack reads it; each writes only its own file below each topic. */
  shared: (region: string): string => `shared/${region}/`,
  /** Below `shared`: `<topic>/<writer>.json`, the writer being the cluster's name. */
  sharedFile: (region: string, topic: string, cluster: string): string =>
    `shared/${region}/${topic}/${cluster}.json`,
  /** What the clusters that share a limit group hold of it; never removed with a cluster. */
  limitGroup: (region: string, group: string): string => `limit-groups/${region}/${group}.json`,
  /** Topics below the cluster's folder that expire. */
  decisions: 'decisions/',
  snapshots: 'snapshots/',
  observations: 'shadow/',
  /** What `metrics` has counted so far. */
  totals: (cluster: string): string => `clusters/${cluster}/metrics/totals.json`,
} as const;

export const METRICS_NAMESPACE = 'Joiner';

/** The one dimension of every metric: more would be paid for by the series. */
export const CLUSTER_DIMENSION = 'cluster';

/**
 * What a decision does, on which the dashboard's queries filter. `none` is what was not done though
 * it was due: paused, halted, capped, not believed.
 */
export const DECISION_ACTIONS = {
  create: 'create',
  launch: 'launch',
  launchFailed: 'launch-failed',
  /** A node that is to go gets its replacement first. */
  replace: 'replace',
  delete: 'delete',
  terminate: 'terminate',
  unschedulable: 'unschedulable',
  none: 'none',
  /** A whole pass that changed nothing. */
  unchanged: 'unchanged',
} as const;

export type DecisionAction = (typeof DECISION_ACTIONS)[keyof typeof DECISION_ACTIONS];

/** Fields of a decision in the log, on which the dashboard's queries are built. */
export const DECISION_LOG = {
  /** The value of `message` in every decision's line. */
  message: 'decision',
  fields: {
    useCase: 'useCase',
    action: 'action',
    object: 'object',
    reason: 'reason',
    /** Of the first reason; docs/reasons.md has them all. */
    code: 'code',
    nodePool: 'nodepool',
    capacityType: 'capacity_type',
    text: 'text',
  },
} as const;

/** What the log of `shadow` says of an observation, on which the dashboard's queries are built. */
export const OBSERVED_LOG = {
  message: 'observed',
  fields: {
    pending: 'pending',
    unplaced: 'unplaced',
    launches: 'launches',
    removals: 'removals',
    now: 'usd_an_hour_now',
    planned: 'usd_an_hour_planned',
  },
} as const;

/** What the custom resources of the stack ask the function `install` to do. */
export const INSTALL_STEPS = {
  /** Before any access entry: is the cluster there, and does it take access entries? */
  check: 'check',
  /** Refuses that a node role goes while nodes are there. */
  roles: 'roles',
  /** CRDs, rights and flow schemas. */
  apply: 'apply',
  /** Takes back what nobody needs any more: older rights, and the installer's own as admin. */
  settle: 'settle',
  /** The stack's settings, for the command line to find: {@link SETTINGS_CONFIG_MAP}. */
  settings: 'settings',
  /** Removes Joiner's own objects from the bucket when the stack goes. */
  data: 'data',
  /** Refuses that the stack goes while nodes of its classes are there. */
  nodes: 'nodes',
} as const;

export type InstallStep = (typeof INSTALL_STEPS)[keyof typeof INSTALL_STEPS];

const FUNCTION_NAME_LENGTH_MAX = 64;

/**
 * A function's name in Lambda: `joiner-<cluster>-<function>`. A cluster's name that is too long for
 * it is cut and ends in a checksum, so that two clusters never share a name.
 */
export function functionName(cluster: string, name: FunctionName): string {
  const lengthMax = FUNCTION_NAME_LENGTH_MAX - 'joiner--'.length - name.length;
  return `joiner-${shortened(cluster, lengthMax)}-${name}`;
}

const QUEUE_CLUSTER_LENGTH_MAX = 40;

/** Of SQS, by their clusters: where notices wait for `interrupt`, and what it has failed on. */
export function interruptionQueueNames(cluster: string): {
  readonly queue: string;
  readonly deadLetters: string;
} {
  const queue = `joiner-${shortened(cluster, QUEUE_CLUSTER_LENGTH_MAX)}-interruption`;
  return { queue, deadLetters: `${queue}-dead` };
}

/** How often `interrupt` is handed a notice before it is moved to the dead letters. */
export const INTERRUPTION_RECEIVES_MAX = 5;

/** The text itself, or its beginning and a checksum of the whole. */
export function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const sum = checksum(text);
  return `${text.slice(0, lengthMax - sum.length - 1)}-${sum}`;
}

/** Seven letters and digits, by FNV-1a. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash.toString(36).padStart(7, '0');
}
