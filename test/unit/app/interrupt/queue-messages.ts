import type { QueueMessage } from '../../../../shared/app/interrupt/interrupt.ts';
import { instanceIdOf } from '../../../../shared/core/lifecycle/actions.ts';
import { ACCOUNT, type World } from '../../../../shared/sim/world.ts';
import { runningWorld, spread } from '../world.ts';

const EVENTS = {
  spot: { source: 'aws.ec2', 'detail-type': 'EC2 Spot Instance Interruption Warning' },
  stopped: {
    source: 'aws.ec2',
    'detail-type': 'EC2 Instance State-change Notification',
  },
  reservation: {
    source: 'aws.ec2',
    'detail-type': 'EC2 Capacity Reservation Instance Interruption Warning',
  },
} as const;

export function messageOf(world: World, kind: keyof typeof EVENTS, id: string): QueueMessage {
  const body = JSON.stringify({
    ...EVENTS[kind],
    account: ACCOUNT,
    region: 'us-east-1',
    time: new Date(world.timeline.nowMs()).toISOString(),
    detail: { 'instance-id': id, state: 'stopped' },
  });
  return { id: `m-${id}`, body };
}

export function sentAt(message: QueueMessage, atMs: number): QueueMessage {
  const time = new Date(atMs).toISOString();
  return { ...message, body: JSON.stringify({ ...JSON.parse(message.body), time }) };
}

export async function claimsOf({ ports }: World) {
  return (await ports.cluster.readClaims()).nodeClaims;
}

export async function leaving(world: World): Promise<number> {
  return (await claimsOf(world)).filter(({ deletedAtMs }) => deletedAtMs !== undefined).length;
}

export async function forEachNode(world: World, kind: keyof typeof EVENTS) {
  const ids = (await claimsOf(world)).map((claim) => instanceIdOf(claim.providerId) ?? '');
  return ids.map((id) => messageOf(world, kind, id));
}

/** As EC2 sends them: the spot requests say the same. */
export async function warnings(world: World): Promise<readonly QueueMessage[]> {
  for (const { id } of world.compute.machines.values()) world.compute.takeBack(id);
  return await forEachNode(world, 'spot');
}

export const tenNodes = () => runningWorld([spread('web', 10)], 'spot');

/** A clock whose waits are counted, each taken after the other; something may happen meanwhile. */
export function waiting(world: World, meanwhile: (waited: number) => void = () => undefined) {
  const waits: number[] = [];
  const waitedMs = (): number => waits.reduce((sum, ms) => sum + ms, 0);
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
    meanwhile(waits.length);
  };
  return { waits, waitedMs, clock: { nowMs: () => world.timeline.nowMs() + waitedMs(), sleep } };
}
