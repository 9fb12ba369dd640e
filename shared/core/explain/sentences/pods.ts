import type { PoolStages, Sentences } from '../parameters.ts';
import type { OTHERS_PODS, PODS } from '../reasons/pods.ts';

/** The time comes first, because an Event cuts off the end of a long message. */
export const BACK_OFF_UNTIL = 'no NodeClaim is launched for it before ';
/** How many NodePools a sentence names; the parameters have them all. */
const POOLS_NAMED_MAX = 3;
/** Launches that a sentence names. */
const LAUNCHES_NAMED_MAX = 3;

function poolText({ nodePool, stages }: PoolStages): string {
  const [first] = stages;
  if (first === undefined) return `NodePool ${nodePool}`;
  const left = stages.map(({ what, after }) => `${after} after ${what}`);
  return `NodePool ${nodePool}: ${first.before} types → ${left.join(' → ')}`;
}

function nodesText(existingNodes: number): readonly string[] {
  return existingNodes === 0 ? [] : [`none of ${existingNodes} existing nodes has room for it`];
}

function launchesText(launches: readonly string[]): string {
  const named = launches.slice(0, LAUNCHES_NAMED_MAX).join(', ');
  const more = launches.length - LAUNCHES_NAMED_MAX;
  return more > 0 ? `${named} and ${more} more` : named;
}

const waitsText = (each: readonly string[]): string =>
  `${each.length === 1 ? '1 node was' : `${each.length} nodes were`} launched for this pod or similar pods. ` +
  `${each.length === 1 ? 'It' : 'They'} registered, and the pod is still pending: ${launchesText(each)}`;

export const PODS_SENTENCES: Sentences<typeof PODS> = {
  'pod-unplaced': ({ nodePools, existingNodes }) => {
    if (nodePools.length === 0)
      return ['there is no NodePool', ...nodesText(existingNodes)].join('; ');
    const named = nodePools.slice(0, POOLS_NAMED_MAX).map(poolText);
    const others = nodePools.length - named.length;
    const more = others > 0 ? [`and ${others} more NodePools`] : [];
    return [...named, ...more, ...nodesText(existingNodes)].join('; ');
  },
  'pod-unreadable': ({ fault }) => `cannot be read: ${fault}`,
  'pod-with-resource-claims': () => 'dynamic resource claims are not supported',
  'volume-claim-missing': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} does not exist`,
  'volume-claim-deleting': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} is being deleted`,
  'volume-claim-lost': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} has lost its volume`,
  'volume-claim-binding': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} is not bound yet`,
  'volume-missing': ({ volume }) => `PersistentVolume ${volume} does not exist`,
  'volume-claim-without-class': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} is unbound and names no storage class`,
  'storage-class-missing': ({ volumeClaim, storageClass }) =>
    `PersistentVolumeClaim ${volumeClaim}: StorageClass ${storageClass} does not exist`,
  'volume-claim-unbound': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} is unbound, its class binds immediately`,
  'launch-back-off': ({ until, launches: each }) =>
    `${BACK_OFF_UNTIL}${until}: ${waitsText(each)}. A NodeClaim is launched earlier ` +
    'if the pod, a NodePool, an EC2NodeClass or a DaemonSet changes, or if the annotation ' +
    'joiner.dev/retry-launch of the pod gets a new value',
  'launch-trial': ({ trying, launches: each }) => {
    const text = `no further NodeClaim is launched for it until it is known whether ${launchesText(trying)} runs the pod`;
    return each.length === 0 ? `${text}: the pod is still pending` : `${text}: ${waitsText(each)}`;
  },
  'pods-alike': ({ others }) => `and ${others} other ${others === 1 ? 'pod' : 'pods'}`,
  'launch-back-off-said': ({ said }) => said,
};

export const OTHERS_PODS_SENTENCES: Sentences<typeof OTHERS_PODS> = {
  'pod-of-daemonset': () => 'owned by a DaemonSet',
  'pod-static': () => 'a static pod of its node',
  'pod-deleting': () => 'being deleted',
  'pod-not-pending': ({ phase }) => `in phase ${phase}`,
  'pod-gated': () => 'held back by scheduling gates',
  'pod-preempting': () => 'waiting for a preemption',
  'pod-not-unschedulable': () => 'not marked unschedulable by its scheduler',
  'pod-wants-no-nodepool': () =>
    'requires nodes without a NodePool (karpenter.sh/nodepool DoesNotExist)',
};
