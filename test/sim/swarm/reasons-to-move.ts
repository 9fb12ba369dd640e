import type { Script } from '../../../shared/sim/script.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import type { LongWindow } from './rare-kinds.ts';
import { disruptionBudget, type Setting } from './setting.ts';

const MINUTE = 60_000;
/** When nodes become worth moving in a world whose moves are held. */
const DEARER_AT_MS = 12 * MINUTE;
/** The same in a world whose nodes are too young to be moved then. */
const DEARER_YOUNG_MS = 5 * MINUTE;
/** So long before a window they do in a world that has one: one tick, and no move would end. */
const BEFORE_WINDOW_MS = 70_000;
/** Longer than a move that is held is kept up. */
const HELD_EVERY_MS = 14 * MINUTE;
/** Around a tick of `disrupt`. */
const OPEN_MS = 40_000;
/** Faults have stopped for hours then. */
const HELD_UNTIL_MS = 200 * MINUTE;

export interface ReasonsSettings {
  readonly world: World;
  readonly script: Script;
  readonly setting: Setting;
}

/** Makes nodes worth moving in worlds that are about moves, and holds them or has them return. */
export function giveReasonsToMove(settings: ReasonsSettings): void {
  const { kinds, spotFromMinute } = settings.setting;
  const { window, heldAgain, leastAgeMinutes, dearerFromMinute } = kinds;
  if (spotFromMinute !== undefined) offerSpotFrom(settings, spotFromMinute);
  if (window !== undefined) makeDearer(settings, beforeWindow(window));
  if (leastAgeMinutes !== undefined) makeDearer(settings, DEARER_YOUNG_MS);
  if (dearerFromMinute !== undefined) makeDearer(settings, dearerFromMinute * MINUTE);
  if (heldAgain === undefined) return;
  makeDearer(settings, DEARER_AT_MS);
  const { timeline } = settings.world;
  for (let atMs = DEARER_AT_MS; atMs < HELD_UNTIL_MS; atMs += HELD_EVERY_MS) {
    const tickMs = WORLD_START_MS + atMs;
    timeline.at(tickMs - OPEN_MS / 2, () => setBudget(settings, heldAgain, '100%'));
    timeline.at(tickMs + OPEN_MS / 2, () => setBudget(settings, heldAgain, '0%'));
  }
  timeline.at(WORLD_START_MS + HELD_UNTIL_MS, () => setBudget(settings, heldAgain, '100%'));
}

/** Nodes that are fallbacks then have a first choice to return to. */
function offerSpotFrom({ world }: ReasonsSettings, minute: number): void {
  const shortage = { capacityType: 'spot' } as const;
  world.compute.addShortage(shortage);
  world.timeline.at(WORLD_START_MS + minute * MINUTE, () => world.compute.removeShortage(shortage));
}

function beforeWindow({ fromMinute }: LongWindow): number {
  return fromMinute * MINUTE - BEFORE_WINDOW_MS;
}

/** What runs then costs twice what it did, and everything else what it does. */
function makeDearer({ world, script }: ReasonsSettings, atMs: number): void {
  world.timeline.at(WORLD_START_MS + atMs, () => {
    const prices = new Map(
      [...world.compute.machines.values()].map(({ type, offering }) => {
        return [type.name, 2 * offering.listPrice];
      }),
    );
    // Such worlds have no spot nodes.
    const steps = [...prices].map(([instanceType, price]) => ({
      at: 0,
      price: { instanceType, capacityType: 'on-demand', price } as const,
    }));
    script.plan({ steps });
  });
}

function setBudget({ world }: ReasonsSettings, app: string, maxUnavailable: string): void {
  world.store.apply(disruptionBudget(app, { maxUnavailable }));
}
