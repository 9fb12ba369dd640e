import type { Definitions, Sentences } from '../parameters.ts';

const nodeClass = { type: 'text', what: 'the EC2NodeClass' } as const;
const nodePool = { type: 'text', what: 'the NodePool' } as const;

/** What a node differs in from what its NodePool and EC2NodeClass ask for. */
export const DRIFT = {
  'nodepool-template-changed': {
    meaning: 'The template of the NodePool has changed since the node was launched.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodePool },
  },
  'requirements-changed': {
    meaning: 'The requirements of the NodePool do not allow a label of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: {
      nodePool,
      key: { type: 'text', what: 'the label' },
      value: { type: 'text', what: 'its value, or (absent)' },
    },
  },
  'instance-type-withdrawn': {
    meaning: 'AWS does not offer the instance type in the zone of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: {
      instanceType: { type: 'text', what: 'the instance type' },
      zone: { type: 'text', what: 'the zone' },
    },
  },
  'nodeclass-changed': {
    meaning: 'The EC2NodeClass has changed since the node was launched.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass },
  },
  'image-changed': {
    meaning: 'The EC2NodeClass selects another AMI for the instance type of the node.',
    remedy: 'Nothing. To stay with an AMI, pin its version in amiSelectorTerms.',
    parameters: {
      nodeClass,
      selected: { type: 'text', what: 'the AMI that it selects, or that it selects none' },
      image: { type: 'text', what: 'the AMI of the node' },
    },
  },
  'security-groups-changed': {
    meaning: 'The EC2NodeClass selects other security groups than the node has.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass, had: { type: 'text', what: 'the security groups of the node' } },
  },
  'subnet-deselected': {
    meaning: 'The EC2NodeClass does not select the subnet of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass, subnet: { type: 'text', what: 'the subnet of the node' } },
  },
  'reservation-deselected': {
    meaning: 'The EC2NodeClass does not select the capacity reservation of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: {
      nodeClass,
      reservation: { type: 'text', what: 'the capacity reservation of the node' },
    },
  },
} as const satisfies Definitions;

export const DRIFT_SENTENCES: Sentences<typeof DRIFT> = {
  'nodepool-template-changed': ({ nodePool: name }) =>
    `The template of NodePool ${name} has changed`,
  'requirements-changed': ({ nodePool: name, key, value }) =>
    `NodePool ${name} does not allow ${key}=${value} any more`,
  'instance-type-withdrawn': ({ instanceType, zone }) =>
    `${instanceType} is not offered in ${zone} any more`,
  'nodeclass-changed': ({ nodeClass: name }) => `EC2NodeClass ${name} has changed`,
  'image-changed': ({ nodeClass: name, selected, image }) =>
    `EC2NodeClass ${name} selects ${selected}, not ${image}`,
  'security-groups-changed': ({ nodeClass: name, had }) =>
    `EC2NodeClass ${name} selects other security groups than ${had}`,
  'subnet-deselected': ({ nodeClass: name, subnet }) =>
    `EC2NodeClass ${name} does not select ${subnet} any more`,
  'reservation-deselected': ({ nodeClass: name, reservation }) =>
    `EC2NodeClass ${name} does not select ${reservation} any more`,
};
