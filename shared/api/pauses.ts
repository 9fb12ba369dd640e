import type { PauseScope } from '../ports/cluster.ts';

/**
 * The ConfigMap with an operator's pauses: one key for each. Its value is the end of the pause
 * (RFC 3339), or `on` for a pause without an end.
 */
export const PAUSES_CONFIG_MAP = { namespace: 'kube-system', name: 'joiner' };

export const PAUSE_SCOPES: readonly PauseScope[] = ['launch', 'disrupt', 'terminate'];
const KEY_PREFIX = 'pause.';

/** A pause as key and value of the ConfigMap. Undefined: without an end. */
export function encodePause(
  scope: PauseScope,
  untilMs: number | undefined,
): readonly [string, string] {
  return [KEY_PREFIX + scope, untilMs === undefined ? 'on' : new Date(untilMs).toISOString()];
}

/** What begins otherwise is no time, though JavaScript makes one of `1` and of `incident 42`. */
const DATE = /^\d{4}-\d{2}-\d{2}/;

/**
 * The ends of pauses, in milliseconds since the epoch. A value that is no time pauses without an
 * end: its author wanted a pause.
 */
export function decodePauses(configMap: unknown): Partial<Record<PauseScope, number>> {
  const { data } = (configMap ?? {}) as { readonly data?: unknown };
  const values = new Map(Object.entries(data ?? {}));
  const paused: Partial<Record<PauseScope, number>> = {};
  for (const scope of PAUSE_SCOPES) {
    const value: unknown = values.get(KEY_PREFIX + scope);
    if (typeof value !== 'string' || value === '') continue;
    const untilMs = DATE.test(value) ? Date.parse(value) : Number.NaN;
    paused[scope] = Number.isNaN(untilMs) ? Number.POSITIVE_INFINITY : untilMs;
  }
  return paused;
}
