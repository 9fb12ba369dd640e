import { count, define, NONE, type PoolStages, pools, text, texts, time } from '../parameters.ts';

/** Its time comes first: an Event has room for no more than the beginning of a long message. */
export const BACK_OFF_UNTIL = 'no NodeClaim is launched for it before ';
/** How many NodePools a sentence names; the parameters have them all. */
const POOLS_NAMED_MAX = 3;
/** Launches that a sentence names. */
const LAUNCHES_NAMED_MAX = 3;

function poolText({ nodePool, stages }: PoolStages): string {
  const [first] = stages;
  if (first === undefined) return `NodePool ${nodePool}`;
  const steps = stages.map(({ what, after }) => `${after} after ${what}`);
  return `NodePool ${nodePool}: ${first.before} types → ${steps.join(' → ')}`;
}

function nodesText(existingNodes: number): readonly string[] {
  return existingNodes === 0 ? [] : [`none of ${existingNodes} existing nodes has room for it`];
}

function launchesText(launches: readonly string[]): string {
  const named = launches.slice(0, LAUNCHES_NAMED_MAX).join(', ');
  const more = launches.length - LAUNCHES_NAMED_MAX;
  return more > 0 ? `${named} and ${more} more` : named;
}

const launches = texts('NodeClaims that were launched in vain, each with what it lacks');

const waitsText = (each: readonly string[]): string =>
  `${each.length} were launched for it or pods like it, joined, and it still waits: ${launchesText(each)}`;

/** Why a pod gets no node. */
export const PODS = {
  'pod-unplaced': define({
    meaning: 'No NodePool has an instance type for the pod, and no node has room for it.',
    remedy: 'Each step of each NodePool is a reason of its own: see the steps below.',
    parameters: {
      nodePools: pools('NodePools with the steps that left nothing, the nearest first'),
      existingNodes: count('nodes that are there and cannot take it'),
    },
    sentence: ({ nodePools, existingNodes }) => {
      if (nodePools.length === 0)
        return ['there is no NodePool', ...nodesText(existingNodes)].join('; ');
      const named = nodePools.slice(0, POOLS_NAMED_MAX).map(poolText);
      const others = nodePools.length - named.length;
      const more = others > 0 ? [`and ${others} more NodePools`] : [];
      return [...named, ...more, ...nodesText(existingNodes)].join('; ');
    },
  }),
  'pod-unreadable': define({
    meaning: 'A field of the pod has a value that Joiner cannot read.',
    remedy: 'Correct the field.',
    parameters: { fault: text('the field and its fault') },
    sentence: ({ fault }) => `cannot be read: ${fault}`,
  }),
  'pod-with-resource-claims': define({
    meaning: 'The pod uses dynamic resource allocation (resourceClaims).',
    remedy: 'Nothing: launch its node in another way, such as a static NodePool.',
    parameters: NONE,
    sentence: () => 'dynamic resource claims are not supported',
  }),
  'volume-claim-missing': define({
    meaning: 'The pod names a PersistentVolumeClaim that does not exist.',
    remedy: 'Create it, or correct its name in the pod.',
    parameters: { volumeClaim: text('its name') },
    sentence: ({ volumeClaim }) => `PersistentVolumeClaim ${volumeClaim} does not exist`,
  }),
  'volume-claim-deleting': define({
    meaning: 'The PersistentVolumeClaim of the pod is being deleted.',
    remedy: 'Wait for its end and create it again, or use another.',
    parameters: { volumeClaim: text('its name') },
    sentence: ({ volumeClaim }) => `PersistentVolumeClaim ${volumeClaim} is being deleted`,
  }),
  'volume-claim-lost': define({
    meaning: 'The PersistentVolume of the claim no longer exists.',
    remedy: 'Restore the volume, or create the claim again.',
    parameters: { volumeClaim: text('its name') },
    sentence: ({ volumeClaim }) => `PersistentVolumeClaim ${volumeClaim} has lost its volume`,
  }),
  'volume-claim-binding': define({
    meaning: 'The PersistentVolumeClaim names a volume, and binding it is not complete.',
    remedy: 'Wait. Where it stays so, look at the events of the claim.',
    parameters: { volumeClaim: text('its name') },
    sentence: ({ volumeClaim }) => `PersistentVolumeClaim ${volumeClaim} is not bound yet`,
  }),
  'volume-missing': define({
    meaning: 'The PersistentVolume that the claim is bound to does not exist.',
    remedy: 'Restore the volume, or create the claim again.',
    parameters: { volume: text('the name of the PersistentVolume') },
    sentence: ({ volume }) => `PersistentVolume ${volume} does not exist`,
  }),
  'volume-claim-without-class': define({
    meaning: 'The claim is not bound, and nothing says how its volume is to be made.',
    remedy: 'Set storageClassName, or bind the claim to a volume.',
    parameters: { volumeClaim: text('its name') },
    sentence: ({ volumeClaim }) =>
      `PersistentVolumeClaim ${volumeClaim} is unbound and names no storage class`,
  }),
  'storage-class-missing': define({
    meaning: 'The claim names a StorageClass that does not exist.',
    remedy: 'Create the StorageClass, or correct the claim.',
    parameters: { volumeClaim: text('its name'), storageClass: text('its name') },
    sentence: ({ volumeClaim, storageClass }) =>
      `PersistentVolumeClaim ${volumeClaim}: StorageClass ${storageClass} does not exist`,
  }),
  'volume-claim-unbound': define({
    meaning: 'The claim has to be bound before its pod is scheduled, and it is not.',
    remedy: 'Look at the events of the claim, or use volumeBindingMode WaitForFirstConsumer.',
    parameters: { volumeClaim: text('its name') },
    sentence: ({ volumeClaim }) =>
      `PersistentVolumeClaim ${volumeClaim} is unbound, its class binds immediately`,
  }),
  'launch-back-off': define({
    meaning:
      'Nodes were launched for the pod or pods like it, joined, and the pod still waits. Nothing ' +
      'more is launched for it for a while, so that it does not cost a node a minute.',
    remedy:
      'Look at what the launched nodes lack. A change of the pod, a NodePool, an EC2NodeClass or a ' +
      'DaemonSet, or a new value of the annotation joiner.dev/retry-launch, launches one earlier.',
    parameters: { until: time('the end of the back-off'), launches },
    sentence: ({ until, launches: each }) =>
      `${BACK_OFF_UNTIL}${until}: ${waitsText(each)}. One is launched earlier ` +
      'if the pod, a NodePool, an EC2NodeClass or a DaemonSet changes, or if the annotation ' +
      'joiner.dev/retry-launch of the pod gets a new value',
  }),
  'launch-trial': define({
    meaning: 'Nodes have just joined for the pod or pods like it. Whether they help is seen first.',
    remedy: 'Wait: the outcome is known within minutes.',
    parameters: { trying: texts('NodeClaims whose nodes have just joined'), launches },
    sentence: ({ trying, launches: each }) => {
      const text = `no NodeClaim is launched for it until it is seen whether ${launchesText(trying)} help`;
      return each.length === 0
        ? `${text}, whose nodes have joined, and it still waits`
        : `${text}: ${waitsText(each)}`;
    },
  }),
  'pods-alike': define({
    meaning: 'Other pods wait for the same reason.',
    remedy: 'See the reason.',
    parameters: { others: count('how many') },
    sentence: ({ others }) => `and ${others} other ${others === 1 ? 'pod' : 'pods'}`,
  }),
  'launch-back-off-said': define({
    meaning: 'An Event of `provision` says that the pod waits for a launch back-off.',
    remedy: 'As for launch-back-off.',
    parameters: { said: text('what the Event says') },
    sentence: ({ said }) => said,
  }),
} as const;

/** Why a pod without a node is not looked at. */
export const OTHERS_PODS = {
  'pod-of-daemonset': define({
    meaning: 'Pods of DaemonSets are bound to the node that they were made for.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'owned by a DaemonSet',
  }),
  'pod-static': define({
    meaning: 'The kubelet of its node runs the pod from a file.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'a static pod of its node',
  }),
  'pod-deleting': define({
    meaning: 'The pod is being deleted and needs no node any more.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'being deleted',
  }),
  'pod-not-pending': define({
    meaning: 'The pod is over.',
    remedy: 'Nothing.',
    parameters: { phase: text('its phase') },
    sentence: ({ phase }) => `in phase ${phase}`,
  }),
  'pod-gated': define({
    meaning: 'The pod has schedulingGates, so that kube-scheduler does not look at it.',
    remedy: 'Remove the gates, or look at the controller that is to remove them.',
    parameters: NONE,
    sentence: () => 'held back by scheduling gates',
  }),
  'pod-preempting': define({
    meaning: 'kube-scheduler evicts pods of lower priority to make room for the pod.',
    remedy: 'Wait.',
    parameters: NONE,
    sentence: () => 'waiting for a preemption',
  }),
  'pod-not-unschedulable': define({
    meaning: 'kube-scheduler has not said that no node fits the pod: it may still bind it.',
    remedy: 'Wait. Where it stays so, check spec.schedulerName and that the scheduler runs.',
    parameters: NONE,
    sentence: () => 'not marked unschedulable by its scheduler',
  }),
  'pod-wants-no-nodepool': define({
    meaning: 'The node affinity of the pod excludes every node of a NodePool.',
    remedy: 'Nothing, or drop karpenter.sh/nodepool DoesNotExist.',
    parameters: NONE,
    sentence: () => 'requires nodes without a NodePool (karpenter.sh/nodepool DoesNotExist)',
  }),
} as const;
