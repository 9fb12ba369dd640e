import { HOSTNAME } from '../../model/labels.ts';
import { type Definitions, NONE, OTHERS, roomText, type Sentences } from '../parameters.ts';

/**
 * Stages that eliminate every instance type of a NodePool for a pod. Each names one obstacle:
 * without it and the other named obstacles, the NodePool has an instance type for the pod.
 */
export const STAGES = {
  'nodepool-deleting': {
    meaning: 'The NodePool is being deleted and launches nothing.',
    remedy: 'Create it again, or let the pod use another NodePool.',
    parameters: NONE,
  },
  'nodepool-static': {
    meaning: 'The NodePool has spec.replicas: its nodes are not launched for pods.',
    remedy: 'Raise spec.replicas, or let the pod use a NodePool without it.',
    parameters: NONE,
  },
  'nodepool-invalid': {
    meaning: 'The NodePool has a fault that is only found at run time.',
    remedy: 'Correct the NodePool: its condition ValidationSucceeded names the fault.',
    parameters: { fault: { type: 'text', what: 'what is wrong with it' } },
  },
  'nodepool-not-ready': {
    meaning: 'A condition of the NodePool that launches need is not True.',
    remedy: 'Look at the conditions of the NodePool and of its EC2NodeClass.',
    parameters: {
      condition: { type: 'text', what: 'the condition, and its reason where it has one' },
    },
  },
  'nodepool-without-types': {
    meaning:
      'No instance type of the region can be launched with the EC2NodeClass. Other obstacles are ' +
      'reported once it has some.',
    remedy: 'Check the AMIs and subnets of the EC2NodeClass, and the age of the prices.',
    parameters: NONE,
  },
  'nodepool-requirements': {
    meaning:
      'The requirements of the NodePool exclude the instance types, or each of their offerings.',
    remedy: 'Widen spec.template.spec.requirements of the NodePool.',
    parameters: NONE,
  },
  'offerings-unavailable': {
    meaning:
      'The offerings that the requirements allow are unavailable: EC2 could not launch them, they ' +
      'have no price, or a reservation has no capacity left.',
    remedy:
      '`joiner bars` lists unavailable offerings with their expiry. Allow more types or zones.',
    parameters: NONE,
  },
  'daemonset-requests': {
    meaning: 'The DaemonSets that would run on the node request more than the instance type has.',
    remedy: 'Allow larger instance types, or lower the requests of the DaemonSets.',
    parameters: NONE,
  },
  'node-affinity': {
    meaning: 'The nodeSelector or node affinity of the pod requires a label that no such node has.',
    remedy: 'Change the label in the pod, or the requirements or labels of the NodePool.',
    parameters: {
      key: { type: 'text', what: 'the label' },
      values: { type: 'text', what: 'operator and values that the pod requires' },
    },
  },
  'node-affinity-terms': {
    meaning: 'No node can meet any of the nodeSelectorTerms of the pod.',
    remedy: 'Change one of the terms, or the requirements or labels of the NodePool.',
    parameters: { terms: { type: 'count', what: 'nodeSelectorTerms that the pod has' } },
  },
  'node-affinity-contradicts-itself': {
    meaning: 'The nodeSelector and the node affinity of the pod contradict each other.',
    remedy: 'Correct the pod: no node can meet it.',
    parameters: NONE,
  },
  'taint-not-tolerated': {
    meaning: 'The NodePool gives its nodes taints that the pod does not tolerate.',
    remedy: 'Add the tolerations to the pod, or let it use another NodePool.',
    parameters: { taints: { type: 'texts', what: 'the taints as `key=value:effect`' } },
  },
  'volume-zones': {
    meaning: 'The volumes of the pod are in other zones than the NodePool launches in.',
    remedy: 'Let the NodePool and the EC2NodeClass use the zones of the volumes.',
    parameters: NONE,
  },
  'request-too-large': {
    meaning:
      'No remaining instance type has this amount of the resource in addition to the DaemonSets.',
    remedy: 'Lower the request, or allow larger instance types in the NodePool.',
    parameters: {
      resource: { type: 'text', what: 'the resource' },
      amount: { type: 'text', what: 'what the pod requests of it' },
    },
  },
  'too-many-volumes': {
    meaning: 'No remaining instance type can attach this many volumes of the driver.',
    remedy: 'Use fewer volumes, or allow instance types that can attach more.',
    parameters: {
      volumes: { type: 'count', what: 'volumes of the pod' },
      driver: { type: 'text', what: 'the CSI driver' },
    },
  },
  'host-ports-of-daemonsets': {
    meaning: 'A DaemonSet of the node uses a host port that the pod requests.',
    remedy: 'Change the hostPort of the pod or of the DaemonSet.',
    parameters: NONE,
  },
  'host-ports-in-use': {
    meaning: 'Pods on the node use host ports that the pod asks for.',
    remedy: 'Nothing: a node of its own is launched for the pod. Or do without hostPort.',
    parameters: NONE,
  },
  'limits-reached': {
    meaning: 'Another node would exceed spec.limits of the NodePool.',
    remedy: 'Raise spec.limits of the NodePool.',
    parameters: {
      resources: { type: 'texts', what: 'the limits that would be exceeded' },
      left: { type: 'texts', what: 'what is left of each of them, such as `1 of 10 cpu`' },
    },
  },
  'limit-group-reached': {
    meaning:
      'Another node would exceed a cap of the limit group that the NodePool belongs to. All nodes ' +
      'of the group count, also those that drain, and what other clusters hold of a shared group.',
    remedy: 'Raise the cap in the setting `limitGroups`, or wait until nodes of the group go.',
    parameters: {
      group: { type: 'text', what: 'the limit group' },
      resources: { type: 'texts', what: 'the caps that would be exceeded' },
      left: { type: 'texts', what: 'what is left of each of them, such as `1 of 10 cpu`' },
      others: OTHERS,
    },
  },
  'limits-or-reservations-reached': {
    meaning:
      'Of the remaining instance types, some would exceed spec.limits of the NodePool, ' +
      'and the reservations of the others have no capacity left.',
    remedy: 'Raise spec.limits, or allow spot or on-demand capacity in the NodePool.',
    parameters: NONE,
  },
  'topology-spread': {
    meaning:
      'A topologySpreadConstraint with DoNotSchedule: in each domain of the NodePool the skew would ' +
      'exceed maxSkew, or the label is missing.',
    remedy: 'Raise maxSkew, let the NodePool use more domains, or use ScheduleAnyway.',
    parameters: { key: { type: 'text', what: 'the topologyKey' } },
  },
  'pod-affinity': {
    meaning: 'A required pod affinity: no selected pod runs in a domain of the NodePool.',
    remedy: 'Start the selected pods, or let the NodePool use their domain.',
    parameters: { key: { type: 'text', what: 'the topologyKey' } },
  },
  'pod-anti-affinity': {
    meaning: 'A required pod anti-affinity: each remaining domain has selected pods.',
    remedy: 'Let the NodePool use more domains, or make the term a preference.',
    parameters: { key: { type: 'text', what: 'the topologyKey' } },
  },
  'anti-affinity-of-others': {
    meaning: 'In each remaining domain, pods have a required anti-affinity against the pod.',
    remedy: 'Let the NodePool use more domains, or relax the anti-affinity of the other pods.',
    parameters: NONE,
  },
  'min-values': {
    meaning:
      'With the constraints of the pod, fewer values of a label remain than minValues requires.',
    remedy: 'Lower minValues, or set minValuesPolicy to BestEffort.',
    parameters: NONE,
  },
  'steps-used-up': {
    meaning: 'The problem is so large that planning stopped before it reached every pod.',
    remedy:
      'Nothing: the next pass continues. If this does not change, use fewer different pods at once.',
    parameters: { steps: { type: 'count', what: 'placement steps that a plan may take' } },
  },
  'room-beside-other-pods': {
    meaning:
      'A new node has room for the pod alone, but no node has room for it together with the pods ' +
      'that its affinity requires on the same node or in the same domain.',
    remedy: 'Allow larger instance types, or relax the affinity.',
    parameters: NONE,
  },
} as const satisfies Definitions;

function domainText(key: string): string {
  return key === HOSTNAME ? 'node' : key;
}

export const STAGES_SENTENCES: Sentences<typeof STAGES> = {
  'nodepool-deleting': () => 'the NodePool, which is being deleted',
  'nodepool-static': () => 'the NodePool, which is static',
  'nodepool-invalid': ({ fault }) => `the NodePool, which is invalid (${fault})`,
  'nodepool-not-ready': ({ condition }) => `the NodePool, which is not ready (${condition})`,
  'nodepool-without-types': () => 'the NodePool has no instance types',
  'nodepool-requirements': () => 'its requirements',
  'offerings-unavailable': () => 'its offerings, which are unavailable',
  'daemonset-requests': () => 'the requests of DaemonSets',
  'node-affinity': ({ key, values }) => `${key} ${values}`,
  'node-affinity-terms': ({ terms }) => `node affinity (none of ${terms} terms)`,
  'node-affinity-contradicts-itself': () => 'node affinity, which no node can meet',
  'taint-not-tolerated': ({ taints }) =>
    `its taint${taints.length === 1 ? '' : 's'} ${taints.join(' and ')}, ` +
    `which the pod does not tolerate`,
  'volume-zones': () => 'volume zones',
  'request-too-large': ({ resource, amount }) => `${resource} ${amount}`,
  'too-many-volumes': ({ volumes, driver }) => `${volumes} volumes of ${driver}`,
  'host-ports-of-daemonsets': () => 'host ports, which DaemonSets use',
  'host-ports-in-use': () => 'host ports, which pods there use',
  'limits-reached': ({ left }) => `NodePool limits (${left.join(' and ')} left)`,
  'limit-group-reached': ({ group, left, others }) =>
    `limit group ${group} (${roomText(left, others)})`,
  'limits-or-reservations-reached': () => 'NodePool limits and reservations',
  'topology-spread': ({ key }) => `spread by ${domainText(key)}`,
  'pod-affinity': ({ key }) => `pod affinity by ${domainText(key)}`,
  'pod-anti-affinity': ({ key }) => `pod anti-affinity by ${domainText(key)}`,
  'anti-affinity-of-others': () => 'anti-affinity of other pods',
  'min-values': () => 'minValues of the NodePool',
  'steps-used-up': ({ steps }) => `planning, which reached its maximum of ${steps} placement steps`,
  'room-beside-other-pods': () =>
    'pod affinity (no node has room for the pod and the selected pods)',
};
