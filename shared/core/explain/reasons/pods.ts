import {
  type Definitions,
  NONE,
  type PoolStages,
  type Sentences,
  stageText,
} from '../parameters.ts';

const launches = {
  type: 'texts',
  what: 'NodeClaims whose nodes do not run the pod, each with what the node lacks',
} as const;

/** Why a pod gets no node. */
export const PODS = {
  'pod-unplaced': {
    meaning: 'No NodePool has an instance type for the pod, and no existing node takes it.',
    remedy: 'Each stage is a reason of its own: see "A NodePool has no instance type for a pod".',
    parameters: {
      nodePools: {
        type: 'pools',
        what: 'NodePools with the stages that left nothing, the closest first',
      },
      existingNodes: { type: 'count', what: 'existing nodes, none of which has room for the pod' },
    },
  },
  'pod-unreadable': {
    meaning: 'A field of the pod has a value that Joiner cannot read.',
    remedy: 'Correct the field.',
    parameters: { fault: { type: 'text', what: 'the field and its fault' } },
  },
  'pod-too-complex': {
    meaning:
      'The pod asks for more labels, resources, volumes and other pods together than plans take: of the pods with very many demands the ones with the fewest are planned.',
    remedy: 'Ask for less: give nodes one label that stands for many.',
    parameters: {
      demands: { type: 'count', what: 'what the pod asks for' },
      ordinary: { type: 'count', what: 'what every pod may ask for' },
      most: { type: 'count', what: 'what a plan takes of pods that ask for more, together' },
    },
  },
  'resources-not-offered': {
    meaning:
      'The pod requests resources that no instance type and no node has, and so do so many other pods that plans do not look into it.',
    remedy: 'Correct the names of the resources, or deploy what offers them.',
    parameters: {
      resource: { type: 'text', what: 'one of the resources' },
      most: { type: 'count', what: 'names of such resources that a plan looks into' },
    },
  },
  'pod-with-resource-claims': {
    meaning: 'The pod uses dynamic resource allocation (resourceClaims).',
    remedy: 'Nothing: launch its node in another way, such as a static NodePool.',
    parameters: NONE,
  },
  'volume-claim-missing': {
    meaning: 'The pod names a PersistentVolumeClaim that does not exist.',
    remedy: 'Create it, or correct its name in the pod.',
    parameters: { volumeClaim: { type: 'text', what: 'its name' } },
  },
  'volume-claim-deleting': {
    meaning: 'The PersistentVolumeClaim of the pod is being deleted.',
    remedy: 'Wait until it is deleted and create it again, or use another one.',
    parameters: { volumeClaim: { type: 'text', what: 'its name' } },
  },
  'volume-claim-lost': {
    meaning: 'The PersistentVolume of the claim no longer exists.',
    remedy: 'Restore the volume, or create the claim again.',
    parameters: { volumeClaim: { type: 'text', what: 'its name' } },
  },
  'volume-claim-binding': {
    meaning:
      'The PersistentVolumeClaim names a volume; without the annotation, kube-scheduler waits whatever its phase is.',
    remedy: 'Wait. If this does not change, check the events of the claim.',
    parameters: { volumeClaim: { type: 'text', what: 'its name' } },
  },
  'volume-missing': {
    meaning: 'The PersistentVolume that the claim is bound to does not exist.',
    remedy: 'Restore the volume, or create the claim again.',
    parameters: { volume: { type: 'text', what: 'the name of the PersistentVolume' } },
  },
  'volume-claim-without-class': {
    meaning: 'The claim is not bound, and it names no StorageClass to create its volume.',
    remedy: 'Set storageClassName, or bind the claim to a volume.',
    parameters: { volumeClaim: { type: 'text', what: 'its name' } },
  },
  'storage-class-missing': {
    meaning: 'The claim names a StorageClass that does not exist.',
    remedy: 'Create the StorageClass, or correct the claim.',
    parameters: {
      volumeClaim: { type: 'text', what: 'its name' },
      storageClass: { type: 'text', what: 'its name' },
    },
  },
  'volume-claim-unbound': {
    meaning: 'The claim has to be bound before its pod is scheduled, and it is not.',
    remedy: 'Look at the events of the claim, or use volumeBindingMode WaitForFirstConsumer.',
    parameters: { volumeClaim: { type: 'text', what: 'its name' } },
  },
  'launch-back-off': {
    meaning:
      'Nodes were launched for the pod or similar pods. They registered, and the pod is still ' +
      'pending. No further node is launched for it until the end of the back-off.',
    remedy:
      'Check what the launched nodes lack. A change of the pod, a NodePool, an EC2NodeClass or a ' +
      'DaemonSet, or a new value of the annotation joiner.dev/retry-launch, ends the back-off.',
    parameters: { until: { type: 'time', what: 'the end of the back-off' }, launches },
  },
  'launch-trial': {
    meaning: 'Nodes for the pod or similar pods have just registered. Joiner waits for the result.',
    remedy: 'Wait: the result is known within minutes.',
    parameters: {
      trying: { type: 'texts', what: 'NodeClaims whose nodes have just registered' },
      launches,
    },
  },
  'pods-alike': {
    meaning: 'Other pods are pending for the same reason.',
    remedy: 'See the reason.',
    parameters: { others: { type: 'count', what: 'how many' } },
  },
  'launch-back-off-said': {
    meaning:
      'The command `joiner` shows the launch back-off that the function `provision` wrote in an Event ' +
      'of the pod.',
    remedy: 'See `launch-back-off`.',
    parameters: { said: { type: 'text', what: 'the message of the Event' } },
  },
} as const satisfies Definitions;
/** Why a pod without a node is ignored. */
export const OTHERS_PODS = {
  'pod-of-daemonset': {
    meaning: 'Pods of DaemonSets are bound to the node that they were created for.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'pod-static': {
    meaning: 'The kubelet of its node runs the pod from a file.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'pod-deleting': {
    meaning: 'The pod is being deleted and needs no node any more.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'pod-not-pending': {
    meaning: 'The pod has finished.',
    remedy: 'Nothing.',
    parameters: { phase: { type: 'text', what: 'its phase' } },
  },
  'pod-gated': {
    meaning: 'The pod has schedulingGates, so kube-scheduler ignores it.',
    remedy: 'Remove the gates, or check the controller that should remove them.',
    parameters: NONE,
  },
  'pod-preempting': {
    meaning: 'kube-scheduler evicts pods of lower priority to make room for the pod.',
    remedy: 'Wait.',
    parameters: NONE,
  },
  'pod-not-unschedulable': {
    meaning: 'kube-scheduler has not marked the pod unschedulable: it may still bind it.',
    remedy: 'Wait. If this does not change, check spec.schedulerName and that the scheduler runs.',
    parameters: NONE,
  },
  'pod-wants-no-nodepool': {
    meaning: 'The node affinity of the pod excludes every node of a NodePool.',
    remedy: 'Nothing, or drop karpenter.sh/nodepool DoesNotExist.',
    parameters: NONE,
  },
} as const satisfies Definitions;

/** The time comes first, because an Event cuts off the end of a long message. */
export const BACK_OFF_UNTIL = 'no NodeClaim is launched for it before ';
/** How many NodePools a sentence names; the parameters have them all. */
const POOLS_NAMED_MAX = 3;
/** Launches that a sentence names. */
const LAUNCHES_NAMED_MAX = 3;

function poolText({ nodePool, stages }: PoolStages): string {
  const [first] = stages;
  if (first === undefined) return `NodePool ${nodePool}`;
  return `NodePool ${nodePool}: ${first.before} types → ${stages.map(stageText).join(' → ')}`;
}

function nodesText(existingNodes: number): readonly string[] {
  if (existingNodes === 0) return [];
  if (existingNodes === 1) return ['the existing node does not take it'];
  return [`none of ${existingNodes} existing nodes takes it`];
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
  'pod-too-complex': ({ demands, ordinary, most }) =>
    `asks for ${demands} labels, resources and other pods; of pods that ask for more than ${ordinary}, a plan takes ${most} together`,
  'resources-not-offered': ({ resource, most }) =>
    `requests ${resource}, which no instance type and no node has; pods request more than ${most} such resources`,
  'pod-with-resource-claims': () => 'dynamic resource claims are not supported',
  'volume-claim-missing': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} does not exist`,
  'volume-claim-deleting': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} is being deleted`,
  'volume-claim-lost': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} has lost its volume`,
  'volume-claim-binding': ({ volumeClaim }) =>
    `PersistentVolumeClaim ${volumeClaim} is not bound: it lacks the annotation pv.kubernetes.io/bind-completed`,
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
