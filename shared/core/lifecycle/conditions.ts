import type { Condition } from '../model/cluster.ts';

export function conditionOf(
  object: { readonly conditions: readonly Condition[] },
  type: string,
): Condition | undefined {
  return object.conditions.find((each) => each.type === type);
}

export function isTrue(
  object: { readonly conditions: readonly Condition[] },
  type: string,
): boolean {
  return conditionOf(object, type)?.status === 'True';
}

/** What a condition says, without when it began to. */
export type ConditionClaim = Omit<Condition, 'lastTransitionAtMs'>;

/** The list with these set: the time changes only with the status; sorted by type. */
export function withConditions(
  before: readonly Condition[],
  set: readonly ConditionClaim[],
  nowMs: number,
): readonly Condition[] {
  const byType = new Map(before.map((each) => [each.type, each]));
  for (const claim of set) {
    const old = byType.get(claim.type);
    const unchanged = old !== undefined && old.status === claim.status;
    byType.set(claim.type, {
      ...claim,
      lastTransitionAtMs: unchanged ? old.lastTransitionAtMs : nowMs,
    });
  }
  return [...byType.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** The conditions as they are now, with those that are other in `after` than they were before. */
export function withChanged(
  now: readonly Condition[],
  before: readonly Condition[],
  after: readonly Condition[],
): readonly Condition[] {
  const old = new Map(before.map((each) => [each.type, each]));
  const changed = after.filter((each) => {
    const known = old.get(each.type);
    return known === undefined || !sameConditions([known], [each]);
  });
  const types = new Set(changed.map(({ type }) => type));
  const kept = now.filter(({ type }) => !types.has(type));
  return [...kept, ...changed].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** Whether two lists say the same of one spec, times aside: if so, nothing has to be written. */
export function sameConditions(a: readonly Condition[], b: readonly Condition[]): boolean {
  const text = (list: readonly Condition[]): string =>
    JSON.stringify(
      list
        .map(({ type, status, reason, message, isOutdated = false }) => {
          return [type, status, reason, message, isOutdated];
        })
        .sort(),
    );
  return text(a) === text(b);
}

/** `Ready` as the conjunction of others, as all our kinds define it. */
export function readiness(
  conditions: readonly Condition[],
  required: readonly string[],
): ConditionClaim {
  const find = (type: string): Condition | undefined =>
    conditions.find((each) => each.type === type);
  const failed = required.find((type) => find(type)?.status === 'False');
  const unknown = required.find((type) => find(type)?.status !== 'True');
  const cause = failed ?? unknown;
  if (cause === undefined) return { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
  const status = failed === undefined ? 'Unknown' : 'False';
  const message = find(cause)?.message ?? '';
  return {
    type: 'Ready',
    status,
    reason: find(cause)?.reason ?? `${cause}Unknown`,
    message: message === '' ? `${cause}=${status}` : `${cause}=${status}: ${message}`,
  };
}
