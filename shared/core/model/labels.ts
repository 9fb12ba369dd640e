/** Label, taint and annotation names that decisions read or write, and their well-known values. */

export type Labels = Readonly<Record<string, string>>;

export const ZONE = 'topology.kubernetes.io/zone';
export const REGION = 'topology.kubernetes.io/region';
export const ZONE_ID = 'topology.k8s.aws/zone-id';
export const HOSTNAME = 'kubernetes.io/hostname';
export const ARCH = 'kubernetes.io/arch';
export const OS = 'kubernetes.io/os';
export const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
export const WINDOWS_BUILD = 'node.kubernetes.io/windows-build';

export const CAPACITY_TYPE = 'karpenter.sh/capacity-type';
export const NODE_POOL = 'karpenter.sh/nodepool';
export const REGISTERED = 'karpenter.sh/registered';
export const INITIALIZED = 'karpenter.sh/initialized';
export const DO_NOT_SYNC_TAINTS = 'karpenter.sh/do-not-sync-taints';
export const NODE_CLASS = 'karpenter.k8s.aws/ec2nodeclass';
export const RESERVATION_ID = 'karpenter.k8s.aws/capacity-reservation-id';
export const RESERVATION_TYPE = 'karpenter.k8s.aws/capacity-reservation-type';
export const RESERVATION_INTERRUPTIBLE = 'karpenter.k8s.aws/capacity-reservation-interruptible';
/** A type has them where any of its offerings is of a reservation: nodes of the others do not. */
export const RESERVATION_LABELS: ReadonlySet<string> = new Set([
  RESERVATION_ID,
  RESERVATION_TYPE,
  RESERVATION_INTERRUPTIBLE,
]);
export const TENANCY = 'karpenter.k8s.aws/instance-tenancy';
export const PLACEMENT_GROUP_ID = 'karpenter.k8s.aws/placement-group-id';
export const PLACEMENT_GROUP_PARTITION = 'karpenter.k8s.aws/placement-group-partition';

export const SPOT = 'spot';
export const ON_DEMAND = 'on-demand';
export const RESERVED = 'reserved';
/** Every value of {@link CAPACITY_TYPE}. */
export const CAPACITY_TYPES = [SPOT, ON_DEMAND, RESERVED] as const;
export type CapacityType = typeof SPOT | typeof ON_DEMAND | typeof RESERVED;

export const DISRUPTED_TAINT_KEY = 'karpenter.sh/disrupted';
export const UNREGISTERED_TAINT_KEY = 'karpenter.sh/unregistered';
export const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
export const PRICE_OVERLAY_APPLIED = 'karpenter.sh/price-overlay-applied';
export const CAPACITY_OVERLAY_APPLIED = 'karpenter.sh/capacity-overlay-applied';
export const NODE_POOL_HASH = 'karpenter.sh/nodepool-hash';
export const NODE_POOL_HASH_VERSION = 'karpenter.sh/nodepool-hash-version';
export const NODE_CLASS_HASH = 'karpenter.k8s.aws/ec2nodeclass-hash';
export const NODE_CLASS_HASH_VERSION = 'karpenter.k8s.aws/ec2nodeclass-hash-version';
export const MIN_VALUES_RELAXED = 'karpenter.sh/nodeclaim-min-values-relaxed';

/** Joiner's own annotations, but for those of Leases; docs/annotations.md lists all of them. */
export const PLAN = 'joiner.dev/plan';
export const DECISION = 'joiner.dev/decision';
/** On a launched NodeClaim: what an hour of its instance cost, after overlays, as a number. */
export const PRICE = 'joiner.dev/price';
/** On Events: the code of the reason that the message puts in words. */
export const REASON_CODE = 'joiner.dev/reason';
export const NOMINATED_UNTIL = 'joiner.dev/nominated-until';
export const PLANNED_PODS = 'joiner.dev/planned-pods';
export const LAUNCHED_FOR = 'joiner.dev/launched-for';
/** On a pod: nodes are launched for it again though others were in vain; each new value once. */
export const RETRY_LAUNCH = 'joiner.dev/retry-launch';
export const INTERRUPTED = 'joiner.dev/interrupted';
export const REPLACES = 'joiner.dev/replaces';
export const REPLACED_BY = 'joiner.dev/replaced-by';
export const REPLACED_FOR = 'joiner.dev/replaced-for';
export const EVICTION_ORDER = 'joiner.dev/eviction-order';
/** On a pod, `rollout`: its Deployment is restarted instead of evicting it from a draining node. */
export const DRAIN = 'joiner.dev/drain';
export const APPROVED = 'joiner.dev/approved';
export const LIMITS_GUARD = 'joiner.dev/limits-guard';
/** On NodePools: what all pods together may use of a node, by metrics.k8s.io, after a move. */
export const USAGE_GUARD = 'joiner.dev/usage-guard';
export const CONSOLIDATION_GUARD = 'joiner.dev/consolidation-guard';
/** On NodePools: their nodes that are fallbacks go back to what is tried first. */
export const RETURN_TO_FIRST_CHOICE = 'joiner.dev/return-to-first-choice';
/** On NodePools: the group whose caps (setting `limitGroups`) their nodes count against. */
export const LIMIT_GROUP = 'joiner.dev/limit-group';
/** On NodePools: windows in which launches or disruptions of the pool are paused. */
export const PAUSE = 'joiner.dev/pause';
export const TRIES = 'joiner.dev/tries';
/**
 * On a NodeClaim, and a tag of its instance: the fleet request that it belongs to. It is written on
 * all of its claims before the request. A repeat after a crash forms the same group, and so sends
 * the same client token.
 */
export const FLEET = 'joiner.dev/fleet';
/** When a launch of the claim was first tried; written together with {@link FLEET}. */
export const LAUNCH_TRIED = 'joiner.dev/launch-tried';
/** On a claim: the pods of its node with which `status.lastPodEventTime` was noted. */
export const PODS_HASH = 'joiner.dev/pods-hash';
/** On the pods that stand for the room of a CapacityBuffer, in plans only. */
export const FAKE_POD = 'karpenter.sh/capacity-buffer-fake-pod';
export const FAILED_CANARIES = 'joiner.dev/failed-canaries';
export const FAILED_MOVES = 'joiner.dev/failed-moves';
/** On NodePools: workloads that consolidation has moved, and moves that new nodes for them undid. */
export const UNDONE_MOVES = 'joiner.dev/undone-moves';
/** On NodeClaims: moves that the node's pods held. */
export const HELD_MOVES = 'joiner.dev/held-moves';
export const UNCONFIRMED = 'joiner.dev/unconfirmed-interruptions';
export const ADOPTED_HASHES = 'joiner.dev/adopted-hashes';
export const SUBNET = 'joiner.dev/subnet';
export const INSTANCE_PROFILE = 'karpenter.k8s.aws/instance-profile-name';
export const SECURITY_GROUPS = 'joiner.dev/security-groups';
export const SIMULATED_DURATION = 'joiner.dev/simulated-duration';

const AWS = 'karpenter.k8s.aws';

/** The `karpenter.k8s.aws/instance-*` labels that describe an instance type. */
export const INSTANCE_LABELS = {
  hypervisor: `${AWS}/instance-hypervisor`,
  encryptionInTransit: `${AWS}/instance-encryption-in-transit-supported`,
  nitroSandbox: `${AWS}/nitro-sandbox`,
  category: `${AWS}/instance-category`,
  capabilityFlex: `${AWS}/instance-capability-flex`,
  family: `${AWS}/instance-family`,
  generation: `${AWS}/instance-generation`,
  size: `${AWS}/instance-size`,
  localNvme: `${AWS}/instance-local-nvme`,
  cpu: `${AWS}/instance-cpu`,
  cpuManufacturer: `${AWS}/instance-cpu-manufacturer`,
  cpuClockMhz: `${AWS}/instance-cpu-sustained-clock-speed-mhz`,
  memory: `${AWS}/instance-memory`,
  ebsBandwidth: `${AWS}/instance-ebs-bandwidth`,
  networkBandwidth: `${AWS}/instance-network-bandwidth`,
  gpuName: `${AWS}/instance-gpu-name`,
  gpuManufacturer: `${AWS}/instance-gpu-manufacturer`,
  gpuCount: `${AWS}/instance-gpu-count`,
  gpuMemory: `${AWS}/instance-gpu-memory`,
  acceleratorName: `${AWS}/instance-accelerator-name`,
  acceleratorManufacturer: `${AWS}/instance-accelerator-manufacturer`,
  acceleratorCount: `${AWS}/instance-accelerator-count`,
} as const;

/**
 * Labels that a pod may require without any NodePool defining them. Each is described by the
 * instance type, by its offerings or by the pool; what none of them describes no node has.
 */
export const WELL_KNOWN_LABELS: ReadonlySet<string> = new Set([
  ...Object.values(INSTANCE_LABELS),
  ZONE,
  REGION,
  ZONE_ID,
  ARCH,
  OS,
  INSTANCE_TYPE,
  WINDOWS_BUILD,
  CAPACITY_TYPE,
  NODE_POOL,
  RESERVATION_ID,
  RESERVATION_TYPE,
  RESERVATION_INTERRUPTIBLE,
  TENANCY,
  PLACEMENT_GROUP_ID,
  PLACEMENT_GROUP_PARTITION,
]);

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', ZONE],
  ['failure-domain.beta.kubernetes.io/region', REGION],
  ['beta.kubernetes.io/arch', ARCH],
  ['beta.kubernetes.io/os', OS],
  ['beta.kubernetes.io/instance-type', INSTANCE_TYPE],
  // The CSI driver of EBS names zones by a label of its own in volumes and StorageClasses.
  ['topology.ebs.csi.aws.com/zone', ZONE],
]);

/** The current name of a label that Kubernetes renamed; every other key unchanged. */
export function normalizeLabelKey(key: string): string {
  return ALIASES.get(key) ?? key;
}

/** What an object read from outside has under a key: never what every object inherits. */
export function ownValue<Value>(
  values: Readonly<Record<string, Value>>,
  key: string,
): Value | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}
