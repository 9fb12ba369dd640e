import type { PauseScope } from '../ports/cluster.ts';
import { property } from './list.ts';

/**
 * The brakes, as people write them into one ConfigMap: a key for each, whose value is the time
 * until which it is on (RFC 3339), or `on` without an end.
 */
export const BRAKES_CONFIG_MAP = { namespace: 'kube-system', name: 'joiner' };

export const BRAKES: readonly PauseScope[] = ['launch', 'disrupt', 'terminate'];
const KEY_PREFIX = 'pause.';

/** A brake as the ConfigMap's data has it: until then, or without an end. */
export function encodeBrake(
  brake: PauseScope,
  untilMs: number | undefined,
): readonly [string, string] {
  return [KEY_PREFIX + brake, untilMs === undefined ? 'on' : new Date(untilMs).toISOString()];
}

/** Whatever cannot be read holds: somebody meant to pull that brake. */
export function decodeBrakes(configMap: unknown): Partial<Record<PauseScope, number>> {
  const data = property(configMap, 'data');
  const paused: Partial<Record<PauseScope, number>> = {};
  for (const brake of BRAKES) {
    const value = property(data, KEY_PREFIX + brake);
    if (typeof value !== 'string' || value === '') continue;
    const untilMs = Date.parse(value);
    paused[brake] = Number.isNaN(untilMs) ? Number.POSITIVE_INFINITY : untilMs;
  }
  return paused;
}
