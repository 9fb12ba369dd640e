import { Prng } from '../../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { one } from './one.ts';
import type { Setting } from './setting.ts';

const MINUTE = 60_000;

/** When a pod of a workload is ready. */
interface Readiness {
  /** So long after its start. */
  readonly afterMs: number;
  /** Before, its containers end again and again. */
  readonly fromMinute: number;
}

/** In some worlds pods of workloads take long to be ready, or crash up to the end of faults. */
export function unreadyAtFirst(
  { world, setting, seed }: { world: World; setting: Setting; seed: number },
  mark: (what: string) => void,
): void {
  const random = new Prng(seed, 'readiness');
  if (random.next() >= 0.5) return;
  const byApp = new Map(
    setting.workloads.map(({ name }): [string, Readiness] => [
      name,
      {
        afterMs: one(random, [0, 15_000, 75_000]),
        fromMinute: random.next() < 0.3 ? random.between(8, 30) : 0,
      },
    ]),
  );
  const starts = new Map<string, number>();
  world.readyAfterMs = ({ metadata: { labels, uid } }) => {
    const { afterMs = 0, fromMinute = 0 } = byApp.get(labels['app'] ?? '') ?? {};
    const nowMs = world.timeline.nowMs();
    const startMs = starts.get(uid) ?? nowMs;
    starts.set(uid, startMs);
    const readyMs = Math.max(startMs + afterMs, WORLD_START_MS + fromMinute * MINUTE);
    if (readyMs > nowMs) mark(startMs + afterMs < readyMs ? 'pod crashes' : 'pod is ready late');
    return Math.max(0, readyMs - nowMs);
  };
}
