import { define, text } from '../parameters.ts';

const nodeClass = text('the EC2NodeClass');
const nodePool = text('the NodePool');

/** What a node differs in from what its NodePool and EC2NodeClass ask for. */
export const DRIFT = {
  'nodepool-template-changed': define({
    meaning: 'The template of the NodePool is another than the node was launched with.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodePool },
    sentence: ({ nodePool: name }) => `The template of NodePool ${name} has changed`,
  }),
  'requirements-changed': define({
    meaning: 'The requirements of the NodePool do not allow a label of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodePool, key: text('the label'), value: text('its value, or (absent)') },
    sentence: ({ nodePool: name, key, value }) =>
      `NodePool ${name} does not allow ${key}=${value} any more`,
  }),
  'instance-type-withdrawn': define({
    meaning: 'AWS does not offer the instance type in the zone of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { instanceType: text('the instance type'), zone: text('the zone') },
    sentence: ({ instanceType, zone }) => `${instanceType} is not offered in ${zone} any more`,
  }),
  'nodeclass-changed': define({
    meaning: 'The EC2NodeClass is another than the node was launched with.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass },
    sentence: ({ nodeClass: name }) => `EC2NodeClass ${name} has changed`,
  }),
  'image-changed': define({
    meaning: 'The EC2NodeClass selects another AMI for the instance type of the node.',
    remedy: 'Nothing. To stay with an AMI, pin its version in amiSelectorTerms.',
    parameters: {
      nodeClass,
      selected: text('the AMI that it selects, or that it selects none'),
      image: text('the AMI of the node'),
    },
    sentence: ({ nodeClass: name, selected, image }) =>
      `EC2NodeClass ${name} selects ${selected}, not ${image}`,
  }),
  'security-groups-changed': define({
    meaning: 'The EC2NodeClass selects other security groups than the node has.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass, had: text('the security groups of the node') },
    sentence: ({ nodeClass: name, had }) =>
      `EC2NodeClass ${name} selects other security groups than ${had}`,
  }),
  'subnet-deselected': define({
    meaning: 'The EC2NodeClass does not select the subnet of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass, subnet: text('the subnet of the node') },
    sentence: ({ nodeClass: name, subnet }) =>
      `EC2NodeClass ${name} does not select ${subnet} any more`,
  }),
  'reservation-deselected': define({
    meaning: 'The EC2NodeClass does not select the capacity reservation of the node any more.',
    remedy: 'Nothing: the node is replaced as budgets allow.',
    parameters: { nodeClass, reservation: text('the capacity reservation of the node') },
    sentence: ({ nodeClass: name, reservation }) =>
      `EC2NodeClass ${name} does not select ${reservation} any more`,
  }),
} as const;
