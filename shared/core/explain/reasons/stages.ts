import { HOSTNAME } from '../../model/labels.ts';
import { count, define, NONE, text, texts } from '../parameters.ts';

function domainText(key: string): string {
  return key === HOSTNAME ? 'node' : key;
}

/**
 * What leaves a pod without an instance type of a NodePool. Each names one obstacle: without it,
 * and without the others that are named beside it, the NodePool has an instance type for the pod.
 */
export const STAGES = {
  'nodepool-deleting': define({
    meaning: 'The NodePool is being deleted and launches nothing.',
    remedy: 'Create it again, or let the pod use another NodePool.',
    parameters: NONE,
    sentence: () => 'the NodePool, which is being deleted',
  }),
  'nodepool-static': define({
    meaning: 'The NodePool has spec.replicas: its nodes are not launched for pods.',
    remedy: 'Raise spec.replicas, or let the pod use a NodePool without it.',
    parameters: NONE,
    sentence: () => 'the NodePool, which is static',
  }),
  'nodepool-invalid': define({
    meaning: 'The NodePool has a fault that is only found at run time.',
    remedy: 'Correct the NodePool: its condition ValidationSucceeded names the fault.',
    parameters: { fault: text('what is wrong with it') },
    sentence: ({ fault }) => `the NodePool, which is invalid (${fault})`,
  }),
  'nodepool-not-ready': define({
    meaning: 'A condition of the NodePool that launches need is not True.',
    remedy: 'Look at the conditions of the NodePool and of its EC2NodeClass.',
    parameters: { condition: text('the condition, and its reason where it has one') },
    sentence: ({ condition }) => `the NodePool, which is not ready (${condition})`,
  }),
  'nodepool-without-types': define({
    meaning:
      'No instance type of the region can be launched with the EC2NodeClass at all. What else keeps ' +
      'a pod from the NodePool is seen once it has some.',
    remedy: 'Check the AMIs and subnets of the EC2NodeClass, and the age of the prices.',
    parameters: NONE,
    sentence: () => 'the NodePool has no instance types',
  }),
  'nodepool-requirements': define({
    meaning:
      'The requirements of the NodePool exclude the instance types, or each of their offerings.',
    remedy: 'Widen spec.template.spec.requirements of the NodePool.',
    parameters: NONE,
    sentence: () => 'its requirements',
  }),
  'offerings-unavailable': define({
    meaning:
      'What the requirements allow cannot be had: EC2 has refused the offerings, they have no price, ' +
      'or a reservation has no capacity left.',
    remedy: '`joiner bars` lists what EC2 has refused, and until when. Allow more types or zones.',
    parameters: NONE,
    sentence: () => 'its offerings, which are unavailable',
  }),
  'daemonset-requests': define({
    meaning: 'The DaemonSets that would run on the node request more than it has.',
    remedy: 'Allow larger instance types, or lower the requests of the DaemonSets.',
    parameters: NONE,
    sentence: () => 'the requests of DaemonSets',
  }),
  'node-affinity': define({
    meaning: 'The nodeSelector or node affinity of the pod asks for a label that no such node has.',
    remedy: 'Change the label in the pod, or the requirements or labels of the NodePool.',
    parameters: {
      key: text('the label'),
      values: text('operator and values that the pod asks for'),
    },
    sentence: ({ key, values }) => `${key} ${values}`,
  }),
  'node-affinity-terms': define({
    meaning: 'None of the nodeSelectorTerms of the pod is met, of which one has to be.',
    remedy: 'Change one of the terms, or the requirements or labels of the NodePool.',
    parameters: { terms: count('nodeSelectorTerms that the pod has') },
    sentence: ({ terms }) => `node affinity (none of ${terms} terms)`,
  }),
  'node-affinity-contradicts-itself': define({
    meaning: 'The nodeSelector and the node affinity of the pod contradict each other.',
    remedy: 'Correct the pod: no node can meet it.',
    parameters: NONE,
    sentence: () => 'node affinity, which nothing can meet',
  }),
  'taint-not-tolerated': define({
    meaning: 'The NodePool gives its nodes taints that the pod does not tolerate.',
    remedy: 'Add the tolerations to the pod, or let it use another NodePool.',
    parameters: { taints: texts('the taints as `key=value:effect`') },
    sentence: ({ taints }) =>
      `its taint${taints.length === 1 ? '' : 's'} ${taints.join(' and ')}, ` +
      `which the pod does not tolerate`,
  }),
  'volume-zones': define({
    meaning: 'The volumes of the pod are in other zones than the NodePool launches in.',
    remedy: 'Let the NodePool and the EC2NodeClass use the zones of the volumes.',
    parameters: NONE,
    sentence: () => 'the zones of its volumes',
  }),
  'request-too-large': define({
    meaning: 'No instance type that is left has so much of the resource beside the DaemonSets.',
    remedy: 'Lower the request, or allow larger instance types in the NodePool.',
    parameters: { resource: text('the resource'), amount: text('what the pod requests of it') },
    sentence: ({ resource, amount }) => `${resource} ${amount}`,
  }),
  'too-many-volumes': define({
    meaning: 'No instance type that is left can have so many volumes of the driver.',
    remedy: 'Use fewer volumes, or allow instance types that can attach more.',
    parameters: { volumes: count('volumes of the pod'), driver: text('the CSI driver') },
    sentence: ({ volumes, driver }) => `${volumes} volumes of ${driver}`,
  }),
  'host-ports-of-daemonsets': define({
    meaning: 'A DaemonSet of the node uses a host port that the pod asks for.',
    remedy: 'Change the hostPort of the pod or of the DaemonSet.',
    parameters: NONE,
    sentence: () => 'host ports that DaemonSets leave free',
  }),
  'limits-reached': define({
    meaning: 'Another node would exceed spec.limits of the NodePool.',
    remedy: 'Raise spec.limits of the NodePool.',
    parameters: {
      resources: texts('the limits that would be exceeded'),
      left: texts('what is left of each of them, such as `1 of 10 cpu`'),
    },
    sentence: ({ left }) => `limits, which have ${left.join(' and ')} left`,
  }),
  'limits-or-reservations-reached': define({
    meaning:
      'Of the instance types that are left, some would exceed spec.limits of the NodePool, ' +
      'and the reservations of the others have no capacity left.',
    remedy: 'Raise spec.limits, or allow spot or on-demand capacity in the NodePool.',
    parameters: NONE,
    sentence: () => 'limits and reservations that still have room',
  }),
  'topology-spread': define({
    meaning:
      'A topologySpreadConstraint with DoNotSchedule: where the NodePool could launch, the skew ' +
      'would exceed maxSkew, or the label is missing.',
    remedy: 'Raise maxSkew, let the NodePool use more domains, or use ScheduleAnyway.',
    parameters: { key: text('the topologyKey') },
    sentence: ({ key }) => `spread by ${domainText(key)}`,
  }),
  'pod-affinity': define({
    meaning: 'A required pod affinity: no pod that it selects is where the NodePool could launch.',
    remedy: 'Start the pods that it selects, or let the NodePool use their domain.',
    parameters: { key: text('the topologyKey') },
    sentence: ({ key }) => `pod affinity by ${domainText(key)}`,
  }),
  'pod-anti-affinity': define({
    meaning: 'A required pod anti-affinity: pods that it selects are in each domain that is left.',
    remedy: 'Let the NodePool use more domains, or make the term a preference.',
    parameters: { key: text('the topologyKey') },
    sentence: ({ key }) => `pod anti-affinity by ${domainText(key)}`,
  }),
  'anti-affinity-of-others': define({
    meaning: 'Pods in each domain that is left have a required anti-affinity against the pod.',
    remedy: 'Let the NodePool use more domains, or relax the anti-affinity of the other pods.',
    parameters: NONE,
    sentence: () => 'anti-affinity of other pods',
  }),
  'min-values': define({
    meaning: 'The pod leaves fewer values of a label than minValues of the NodePool asks for.',
    remedy: 'Lower minValues, or set minValuesPolicy to BestEffort.',
    parameters: NONE,
    sentence: () => 'minValues of the NodePool',
  }),
  'steps-used-up': define({
    meaning: 'The problem is so large that the plan stopped before it had looked at every pod.',
    remedy: 'Nothing: the next pass goes on. Where it stays so, use fewer kinds of pods at once.',
    parameters: { steps: count('steps that a plan may take') },
    sentence: ({ steps }) => `the steps of a plan, which are ${steps}`,
  }),
  'room-beside-other-pods': define({
    meaning:
      'A node of its own would hold the pod, but none holds it together with the pods that its ' +
      'affinity puts on the same node or in the same domain.',
    remedy: 'Allow larger instance types, or relax the affinity.',
    parameters: NONE,
    sentence: () => 'room beside the pods that it must run with',
  }),
} as const;
