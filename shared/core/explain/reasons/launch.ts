import { count, define, NONE, type Remainder, remainders, text, texts } from '../parameters.ts';

function remaindersText(all: readonly Remainder[]): string {
  return `Nothing to launch: ${all.map(({ what, left }) => `${left} ${what}`).join(', ')}`;
}

/** What becomes of NodeClaims that have no instance yet. */
export const LAUNCH = {
  'instance-launched': define({
    meaning: 'EC2 has launched an instance for the NodeClaim.',
    remedy: 'Nothing.',
    parameters: {
      instance: text('its id'),
      instanceType: text('its type'),
      capacityType: text('how it is paid for'),
      zone: text('where it is'),
    },
    sentence: ({ instance, instanceType, capacityType, zone }) =>
      `${instance}: ${instanceType} ${capacityType} in ${zone}`,
  }),
  'proven-image-launched': define({
    meaning: 'The canary of the image that the EC2NodeClass selects did not become ready.',
    remedy: 'Look at the condition CanaryHealthy of the NodePool, and correct the image.',
    parameters: { image: text('the id of the image'), nodeClass: text('the EC2NodeClass') },
    sentence: ({ image, nodeClass }) =>
      `Launched with the proven image ${image}: the canary with the image ` +
      `that EC2NodeClass ${nodeClass} selects did not become ready`,
  }),
  'nothing-to-launch': define({
    meaning: 'No available offering meets the requirements of the NodeClaim and is large enough.',
    remedy:
      'The NodeClaim is deleted, and its pods are planned again. `joiner bars` lists offerings.',
    parameters: { remainders: remainders('what each step of the choice left') },
    sentence: ({ remainders: all }) => remaindersText(all),
  }),
  'no-image-or-subnet': define({
    meaning: 'No image or no subnet of the EC2NodeClass is for an instance type of the NodeClaim.',
    remedy: 'Check the AMI and subnet selectors of the EC2NodeClass.',
    parameters: NONE,
    sentence: () => 'No image or subnet for any instance type of the claim',
  }),
  'nodeclass-missing': define({
    meaning: 'The NodeClaim names an EC2NodeClass that does not exist.',
    remedy: 'Create the EC2NodeClass, or correct nodeClassRef of the NodePool.',
    parameters: { nodeClass: text('the EC2NodeClass') },
    sentence: ({ nodeClass }) => `EC2NodeClass ${nodeClass} does not exist`,
  }),
  'nodeclass-not-ready': define({
    meaning: 'A condition of the EC2NodeClass that launches need is False.',
    remedy: 'Look at the conditions of the EC2NodeClass.',
    parameters: { nodeClass: text('the EC2NodeClass') },
    sentence: ({ nodeClass }) => `EC2NodeClass ${nodeClass} is not ready`,
  }),
  'nodeclass-not-checked': define({
    meaning: 'The EC2NodeClass is new, and `nodeclass` has not looked at it yet.',
    remedy: 'Wait a few seconds. Where it stays so, look at the log of `nodeclass`.',
    parameters: { nodeClass: text('the EC2NodeClass') },
    sentence: ({ nodeClass }) => `EC2NodeClass ${nodeClass} has no condition Ready yet`,
  }),
  'capacity-insufficient': define({
    meaning:
      'EC2 had none of the offerings. They are unavailable for a while, and others are tried.',
    remedy: 'Allow more types, zones or capacity types. `joiner bars` lists what expires when.',
    parameters: { faults: texts('each error once, as `code: message`') },
    sentence: ({ faults }) => faults.join('; '),
  }),
  'launch-refused': define({
    meaning: 'EC2 refused the launch, or could not be asked. It is tried again.',
    remedy:
      'Look up the code in the EC2 API reference. Permissions and quotas are the usual causes.',
    parameters: { code: text("EC2's error code"), said: text('what EC2 says') },
    sentence: ({ said }) => said,
  }),
  'nodeclaim-unreadable': define({
    meaning: 'A field of the NodeClaim has a value that Joiner cannot read.',
    remedy: 'Delete the NodeClaim, or correct it.',
    parameters: { fault: text('the field and its fault') },
    sentence: ({ fault }) => fault,
  }),
  'launches-halted': define({
    meaning:
      'The last nodes of the NodePool did not register. Its launches stop for 1 to 30 minutes.',
    remedy: 'Look at the user data, the AMI, the node role and the network of the EC2NodeClass.',
    parameters: { nodePool: text('the NodePool') },
    sentence: ({ nodePool }) =>
      `launches of NodePool ${nodePool} are halted: its last nodes did not register`,
  }),
  'launches-capped': define({
    meaning: 'As many nodes as maxLaunchesPerMinute allows were launched in the last minute.',
    remedy: 'Wait, or raise maxLaunchesPerMinute.',
    parameters: { waiting: count('NodeClaims that wait') },
    sentence: ({ waiting }) => `${waiting} launches wait: maxLaunchesPerMinute is reached`,
  }),
  'launches-postponed': define({
    meaning: 'The invocation was almost out of time. The next one launches what is left.',
    remedy: 'Nothing.',
    parameters: { waiting: count('NodeClaims that wait') },
    sentence: ({ waiting }) => `${waiting} launches wait for the next pass: the time is nearly up`,
  }),
} as const;
