import { count, type Definitions, NONE, pools, text, texts, time } from '../parameters.ts';

const launches = texts('NodeClaims whose nodes do not run the pod, each with what the node lacks');

/** Why a pod gets no node. */
export const PODS = {
  'pod-unplaced': {
    meaning: 'No NodePool has an instance type for the pod, and no node has room for it.',
    remedy: 'Each stage is a reason of its own: see "A NodePool has no instance type for a pod".',
    parameters: {
      nodePools: pools('NodePools with the stages that left nothing, the closest first'),
      existingNodes: count('existing nodes, none of which has room for the pod'),
    },
  },
  'pod-unreadable': {
    meaning: 'A field of the pod has a value that Joiner cannot read.',
    remedy: 'Correct the field.',
    parameters: { fault: text('the field and its fault') },
  },
  'pod-with-resource-claims': {
    meaning: 'The pod uses dynamic resource allocation (resourceClaims).',
    remedy: 'Nothing: launch its node in another way, such as a static NodePool.',
    parameters: NONE,
  },
  'volume-claim-missing': {
    meaning: 'The pod names a PersistentVolumeClaim that does not exist.',
    remedy: 'Create it, or correct its name in the pod.',
    parameters: { volumeClaim: text('its name') },
  },
  'volume-claim-deleting': {
    meaning: 'The PersistentVolumeClaim of the pod is being deleted.',
    remedy: 'Wait until it is deleted and create it again, or use another one.',
    parameters: { volumeClaim: text('its name') },
  },
  'volume-claim-lost': {
    meaning: 'The PersistentVolume of the claim no longer exists.',
    remedy: 'Restore the volume, or create the claim again.',
    parameters: { volumeClaim: text('its name') },
  },
  'volume-claim-binding': {
    meaning: 'The PersistentVolumeClaim names a volume, and binding it is not complete.',
    remedy: 'Wait. If this does not change, check the events of the claim.',
    parameters: { volumeClaim: text('its name') },
  },
  'volume-missing': {
    meaning: 'The PersistentVolume that the claim is bound to does not exist.',
    remedy: 'Restore the volume, or create the claim again.',
    parameters: { volume: text('the name of the PersistentVolume') },
  },
  'volume-claim-without-class': {
    meaning: 'The claim is not bound, and it names no StorageClass to create its volume.',
    remedy: 'Set storageClassName, or bind the claim to a volume.',
    parameters: { volumeClaim: text('its name') },
  },
  'storage-class-missing': {
    meaning: 'The claim names a StorageClass that does not exist.',
    remedy: 'Create the StorageClass, or correct the claim.',
    parameters: { volumeClaim: text('its name'), storageClass: text('its name') },
  },
  'volume-claim-unbound': {
    meaning: 'The claim has to be bound before its pod is scheduled, and it is not.',
    remedy: 'Look at the events of the claim, or use volumeBindingMode WaitForFirstConsumer.',
    parameters: { volumeClaim: text('its name') },
  },
  'launch-back-off': {
    meaning:
      'Nodes were launched for the pod or similar pods. They registered, and the pod is still ' +
      'pending. No further node is launched for it until the end of the back-off.',
    remedy:
      'Check what the launched nodes lack. A change of the pod, a NodePool, an EC2NodeClass or a ' +
      'DaemonSet, or a new value of the annotation joiner.dev/retry-launch, ends the back-off.',
    parameters: { until: time('the end of the back-off'), launches },
  },
  'launch-trial': {
    meaning: 'Nodes for the pod or similar pods have just registered. Joiner waits for the result.',
    remedy: 'Wait: the result is known within minutes.',
    parameters: { trying: texts('NodeClaims whose nodes have just registered'), launches },
  },
  'pods-alike': {
    meaning: 'Other pods are pending for the same reason.',
    remedy: 'See the reason.',
    parameters: { others: count('how many') },
  },
  'launch-back-off-said': {
    meaning:
      'The command `joiner` shows the launch back-off that the function `provision` wrote in an Event ' +
      'of the pod.',
    remedy: 'See `launch-back-off`.',
    parameters: { said: text('the message of the Event') },
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
    parameters: { phase: text('its phase') },
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
