import { type Definitions, NONE, type Remainder, type Sentences } from '../parameters.ts';

/** What becomes of NodeClaims that have no instance yet. */
export const LAUNCH = {
  'instance-launched': {
    meaning: 'EC2 has launched an instance for the NodeClaim.',
    remedy: 'Nothing.',
    parameters: {
      instance: { type: 'text', what: 'its id' },
      instanceType: { type: 'text', what: 'its type' },
      capacityType: { type: 'text', what: 'its capacity type' },
      zone: { type: 'text', what: 'its zone' },
    },
  },
  'proven-image-launched': {
    meaning: 'The canary of the image that the EC2NodeClass selects did not become ready.',
    remedy: 'Look at the condition CanaryHealthy of the NodePool, and correct the image.',
    parameters: {
      image: { type: 'text', what: 'the id of the image' },
      nodeClass: { type: 'text', what: 'the EC2NodeClass' },
    },
  },
  'nothing-to-launch': {
    meaning:
      'No available offering meets the requirements of the NodeClaim and is large enough. The ' +
      'NodeClaim is deleted, and its pods are planned again.',
    remedy:
      'Nothing. If it repeats, allow more types or zones; `joiner bars` lists unavailable offerings.',
    parameters: { remainders: { type: 'remainders', what: 'what each filter of offerings left' } },
  },
  'no-image-or-subnet': {
    meaning: 'No AMI or no subnet of the EC2NodeClass matches an instance type of the NodeClaim.',
    remedy: 'Check the AMI and subnet selectors of the EC2NodeClass.',
    parameters: NONE,
  },
  'nodeclass-missing': {
    meaning: 'The NodeClaim names an EC2NodeClass that does not exist.',
    remedy: 'Create the EC2NodeClass, or correct nodeClassRef of the NodePool.',
    parameters: { nodeClass: { type: 'text', what: 'the EC2NodeClass' } },
  },
  'nodeclass-not-ready': {
    meaning: 'A condition of the EC2NodeClass that launches need is False.',
    remedy: 'Look at the conditions of the EC2NodeClass.',
    parameters: { nodeClass: { type: 'text', what: 'the EC2NodeClass' } },
  },
  'nodeclass-not-checked': {
    meaning: 'The EC2NodeClass is new, and `nodeclass` has not checked it yet.',
    remedy: 'Wait a few seconds. If this does not change, check the log of `nodeclass`.',
    parameters: { nodeClass: { type: 'text', what: 'the EC2NodeClass' } },
  },
  'capacity-insufficient': {
    meaning:
      'EC2 could not launch any of the offerings. They are unavailable until their entries expire.',
    remedy:
      'Allow more types, zones or capacity types. `joiner bars` lists the unavailable offerings with their expiry.',
    parameters: { faults: { type: 'texts', what: 'each error once, as `code: message`' } },
  },
  'launch-refused': {
    meaning: 'EC2 rejected the launch, or did not respond. Joiner tries again.',
    remedy:
      'Look up the code in the EC2 API reference. Permissions and quotas are the usual causes.',
    parameters: {
      code: { type: 'text', what: "EC2's error code" },
      said: { type: 'text', what: 'the message of EC2' },
    },
  },
  'nodeclaim-unreadable': {
    meaning: 'A field of the NodeClaim has a value that Joiner cannot read.',
    remedy: 'Delete the NodeClaim, or correct it.',
    parameters: { fault: { type: 'text', what: 'the field and its fault' } },
  },
  'launches-halted': {
    meaning:
      'The last nodes of the NodePool did not register. Its launches stop for 1 to 30 minutes.',
    remedy: 'Look at the user data, the AMI, the node role and the network of the EC2NodeClass.',
    parameters: { nodePool: { type: 'text', what: 'the NodePool' } },
  },
  'launches-capped': {
    meaning: 'As many nodes as maxLaunchesPerMinute allows were launched in the last minute.',
    remedy: 'Wait, or raise maxLaunchesPerMinute.',
    parameters: { waiting: { type: 'count', what: 'NodeClaims that are not launched yet' } },
  },
  'launches-postponed': {
    meaning:
      'The invocation was almost out of time. The next one launches the remaining NodeClaims.',
    remedy: 'Nothing.',
    parameters: { waiting: { type: 'count', what: 'NodeClaims that are not launched yet' } },
  },
} as const satisfies Definitions;

function remaindersText(all: readonly Remainder[]): string {
  return `Nothing to launch: ${all.map(({ what, left }) => `${left} ${what}`).join(', ')}`;
}

export const LAUNCH_SENTENCES: Sentences<typeof LAUNCH> = {
  'instance-launched': ({ instance, instanceType, capacityType, zone }) =>
    `${instance}: ${instanceType} ${capacityType} in ${zone}`,
  'proven-image-launched': ({ image, nodeClass }) =>
    `Launched with the proven image ${image}: the canary with the image ` +
    `that EC2NodeClass ${nodeClass} selects did not become ready`,
  'nothing-to-launch': ({ remainders: all }) => remaindersText(all),
  'no-image-or-subnet': () => 'No AMI and subnet match any instance type of the NodeClaim',
  'nodeclass-missing': ({ nodeClass }) => `EC2NodeClass ${nodeClass} does not exist`,
  'nodeclass-not-ready': ({ nodeClass }) => `EC2NodeClass ${nodeClass} is not ready`,
  'nodeclass-not-checked': ({ nodeClass }) =>
    `EC2NodeClass ${nodeClass} has no condition Ready yet`,
  'capacity-insufficient': ({ faults }) => faults.join('; '),
  'launch-refused': ({ said }) => said,
  'nodeclaim-unreadable': ({ fault }) => fault,
  'launches-halted': ({ nodePool }) =>
    `launches of NodePool ${nodePool} are halted: its last nodes did not register`,
  'launches-capped': ({ waiting }) => `${waiting} launches wait: maxLaunchesPerMinute is reached`,
  'launches-postponed': ({ waiting }) =>
    `The invocation is almost out of time: ${waiting} launches are left to the next pass`,
};
