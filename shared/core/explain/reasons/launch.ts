import { count, type Definitions, NONE, remainders, text, texts } from '../parameters.ts';

/** What becomes of NodeClaims that have no instance yet. */
export const LAUNCH = {
  'instance-launched': {
    meaning: 'EC2 has launched an instance for the NodeClaim.',
    remedy: 'Nothing.',
    parameters: {
      instance: text('its id'),
      instanceType: text('its type'),
      capacityType: text('its capacity type'),
      zone: text('its zone'),
    },
  },
  'proven-image-launched': {
    meaning: 'The canary of the image that the EC2NodeClass selects did not become ready.',
    remedy: 'Look at the condition CanaryHealthy of the NodePool, and correct the image.',
    parameters: { image: text('the id of the image'), nodeClass: text('the EC2NodeClass') },
  },
  'nothing-to-launch': {
    meaning:
      'No available offering meets the requirements of the NodeClaim and is large enough. The ' +
      'NodeClaim is deleted, and its pods are planned again.',
    remedy:
      'Nothing. If it repeats, allow more types or zones; `joiner bars` lists unavailable offerings.',
    parameters: { remainders: remainders('what each filter of offerings left') },
  },
  'no-image-or-subnet': {
    meaning: 'No AMI or no subnet of the EC2NodeClass matches an instance type of the NodeClaim.',
    remedy: 'Check the AMI and subnet selectors of the EC2NodeClass.',
    parameters: NONE,
  },
  'nodeclass-missing': {
    meaning: 'The NodeClaim names an EC2NodeClass that does not exist.',
    remedy: 'Create the EC2NodeClass, or correct nodeClassRef of the NodePool.',
    parameters: { nodeClass: text('the EC2NodeClass') },
  },
  'nodeclass-not-ready': {
    meaning: 'A condition of the EC2NodeClass that launches need is False.',
    remedy: 'Look at the conditions of the EC2NodeClass.',
    parameters: { nodeClass: text('the EC2NodeClass') },
  },
  'nodeclass-not-checked': {
    meaning: 'The EC2NodeClass is new, and `nodeclass` has not checked it yet.',
    remedy: 'Wait a few seconds. If this does not change, check the log of `nodeclass`.',
    parameters: { nodeClass: text('the EC2NodeClass') },
  },
  'capacity-insufficient': {
    meaning:
      'EC2 could not launch any of the offerings. They are unavailable until their entries expire.',
    remedy:
      'Allow more types, zones or capacity types. `joiner bars` lists the unavailable offerings with their expiry.',
    parameters: { faults: texts('each error once, as `code: message`') },
  },
  'launch-refused': {
    meaning: 'EC2 rejected the launch, or did not respond. Joiner tries again.',
    remedy:
      'Look up the code in the EC2 API reference. Permissions and quotas are the usual causes.',
    parameters: { code: text("EC2's error code"), said: text('the message of EC2') },
  },
  'nodeclaim-unreadable': {
    meaning: 'A field of the NodeClaim has a value that Joiner cannot read.',
    remedy: 'Delete the NodeClaim, or correct it.',
    parameters: { fault: text('the field and its fault') },
  },
  'launches-halted': {
    meaning:
      'The last nodes of the NodePool did not register. Its launches stop for 1 to 30 minutes.',
    remedy: 'Look at the user data, the AMI, the node role and the network of the EC2NodeClass.',
    parameters: { nodePool: text('the NodePool') },
  },
  'launches-capped': {
    meaning: 'As many nodes as maxLaunchesPerMinute allows were launched in the last minute.',
    remedy: 'Wait, or raise maxLaunchesPerMinute.',
    parameters: { waiting: count('NodeClaims that are not launched yet') },
  },
  'launches-postponed': {
    meaning:
      'The invocation was almost out of time. The next one launches the remaining NodeClaims.',
    remedy: 'Nothing.',
    parameters: { waiting: count('NodeClaims that are not launched yet') },
  },
} as const satisfies Definitions;
