import { PAUSE_SCOPES } from '../../../shared/api/pauses.ts';
import type { PauseScope } from '../../../shared/ports.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { pausesMap } from '../small-world.ts';
import { one } from './one.ts';
import type { Span } from './own-rules.ts';

const MINUTE = 60_000;

/** A pause of the whole cluster, in minutes from the beginning of the world. */
export interface ClusterPause {
  readonly scope: PauseScope;
  readonly fromMinute: number;
  readonly minutes: number;
}

export function drawPauses(random: Prng): readonly ClusterPause[] {
  return Array.from({ length: random.between(1, 3) }, () => ({
    scope: one(random, PAUSE_SCOPES),
    fromMinute: random.between(3, 28),
    minutes: random.between(2, 14),
  }));
}

export function spanOf({ fromMinute, minutes }: ClusterPause): Span {
  const fromMs = WORLD_START_MS + fromMinute * MINUTE;
  return { fromMs, untilMs: fromMs + minutes * MINUTE };
}

/** When the last of them has ended. */
export function pausesEndMs(pauses: readonly ClusterPause[]): number {
  return Math.max(WORLD_START_MS, ...pauses.map((each) => spanOf(each).untilMs));
}

/** An operator writes each when it begins; its end is in what is written. */
export function planPauses(
  { timeline, store }: World,
  pauses: readonly ClusterPause[],
  onPause: (scope: PauseScope) => void,
): void {
  for (const pause of pauses) {
    timeline.at(spanOf(pause).fromMs, () => {
      const nowMs = timeline.nowMs();
      const begun = pauses.filter((each) => spanOf(each).fromMs <= nowMs);
      const ends = PAUSE_SCOPES.flatMap((scope) => {
        const own = begun.filter((each) => each.scope === scope);
        return own.length === 0 ? [] : [[scope, pausesEndMs(own)] as const];
      });
      store.apply(pausesMap(new Map(ends)));
      onPause(pause.scope);
    });
  }
}
