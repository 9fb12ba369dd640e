import { expect, test } from 'vitest';
import { conditionStatus, phaseOf } from '../../shared/sim/objects.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import {
  deployment,
  jobOf,
  nodeClass,
  nodePool,
  smallWorld,
  withPodAnnotations,
} from './small-world.ts';

const atMinute = (minutes: number): number => WORLD_START_MS + minutes * 60_000;
const POOL = nodePool(['on-demand'], { disruption: { consolidateAfter: '0s' } });

test('a Job whose pods fail has as many as it may, which stay, and their node goes', async () => {
  const job = jobOf(deployment('batch', 1, '1'), { backoffLimit: 2 });
  const { world } = await smallWorld([nodeClass, POOL, job]);
  world.fails = () => true;
  await world.run(atMinute(40));
  const [made] = world.store.list('Job');
  expect(made && conditionStatus(made, 'Failed')).toBe('True');
  expect(world.store.list('Pod').map(phaseOf)).toEqual(['Failed', 'Failed', 'Failed']);
  expect(world.store.list('Node')).toEqual([]);
});

test('a pod that its node presses out stays there, and another comes', async () => {
  const { world } = await smallWorld([nodeClass, POOL, deployment('web', 1, '1')]);
  await world.run(atMinute(3));
  for (const pod of world.store.list('Pod')) world.kubelets.pressOut(pod);
  await world.run(atMinute(5));
  expect(world.store.list('Pod').map(phaseOf).sort()).toEqual(['Failed', 'Running']);
  expect(world.launched).toBe(1);
});

test('after each failure in a row the next pod of a Job comes twice as late', async () => {
  const lasting = { 'joiner.dev/simulated-duration': '20s' };
  const job = jobOf(withPodAnnotations(deployment('batch', 1, '1'), lasting), { backoffLimit: 3 });
  const { world } = await smallWorld([nodeClass, POOL, job]);
  const seen: (readonly [string, number])[] = [];
  world.fails = () => true;
  world.store.onChange(({ kind, object }) => {
    const nowMs = world.timeline.nowMs();
    if (object.kind !== 'Pod' || kind === 'removed') return;
    if (kind === 'created') seen.push(['created', nowMs]);
    else if (phaseOf(object) === 'Failed') seen.push(['failed', nowMs]);
  });
  await world.run(atMinute(10));
  expect(seen.map(([what]) => what)).toEqual(Array(4).fill(['created', 'failed']).flat());
  const times = seen.map(([, ms]) => ms);
  const waits = [2, 4, 6].map((at) => ((times[at] ?? 0) - (times[at - 1] ?? 0)) / 1000);
  // It knows the end of a pod to the second.
  expect(waits.map(Math.ceil)).toEqual([10, 20, 40]);
});
