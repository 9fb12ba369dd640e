import { type Definitions, text } from '../parameters.ts';

const nodeClass = text('the EC2NodeClass');
const nodePool = text('the NodePool');

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
    parameters: { nodePool, key: text('the label'), value: text('its value, or (absent)') },
  },
  'instance-type-withdrawn': {
    meaning: 'AWS does not offer the instance type in the zone of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { instanceType: text('the instance type'), zone: text('the zone') },
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
      selected: text('the AMI that it selects, or that it selects none'),
      image: text('the AMI of the node'),
    },
  },
  'security-groups-changed': {
    meaning: 'The EC2NodeClass selects other security groups than the node has.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass, had: text('the security groups of the node') },
  },
  'subnet-deselected': {
    meaning: 'The EC2NodeClass does not select the subnet of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass, subnet: text('the subnet of the node') },
  },
  'reservation-deselected': {
    meaning: 'The EC2NodeClass does not select the capacity reservation of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass, reservation: text('the capacity reservation of the node') },
  },
} as const satisfies Definitions;
