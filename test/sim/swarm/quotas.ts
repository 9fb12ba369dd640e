import type { Json } from '../../../shared/sim/json.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { one } from './one.ts';

const MINUTE = 60_000;
const LAST_MINUTE = 30;

function quotaOf(name: string, hard: Json): Json {
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name, namespace: 'default' },
    spec: { hard },
  };
}

function drawHard(random: Prng): Json {
  const pods = String(random.between(3, 20));
  const cpu = String(random.between(3, 24));
  return one<Json>(random, [
    { pods },
    { 'requests.cpu': cpu },
    { pods, cpu },
    // Pods that are over count, too, for as long as they are there.
    { 'count/pods': String(random.between(10, 30)) },
  ]);
}

/** In some worlds a quota lets no more pods be created, is changed again and again, and may stay. */
export function boundPods(world: World, seed: number, mark: (what: string) => void): void {
  const random = new Prng(seed, 'quotas');
  if (random.next() >= 0.4) return;
  const { store, timeline } = world;
  const stays = random.next() < 0.5;
  const remove = (): void => {
    for (const each of store.list('ResourceQuota')) store.delete(each);
  };
  for (let minute = random.between(0, 5); minute < LAST_MINUTE; minute += random.between(2, 9)) {
    const isNone = random.next() < 0.2;
    const quota = quotaOf(`quota-${minute}`, drawHard(random));
    timeline.at(WORLD_START_MS + minute * MINUTE, () => {
      mark('quota');
      remove();
      if (!isNone) store.apply(quota);
    });
  }
  if (!stays) timeline.at(WORLD_START_MS + LAST_MINUTE * MINUTE, remove);
}
