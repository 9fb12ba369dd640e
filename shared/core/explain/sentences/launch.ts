import type { Remainder, Sentences } from '../parameters.ts';
import type { LAUNCH } from '../reasons/launch.ts';

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
