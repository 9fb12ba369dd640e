import type { Condition } from '../../core/model/cluster.ts';
import type { ObjectRef, Ports } from '../../ports.ts';
import type { Failure } from './attempt.ts';

/** Repeats what the conditions that it is made of say. */
const SUMMARY = 'Ready';

/** Conditions that are False now and were not, or for another reason. */
export function newlyFalse(
  before: readonly Condition[],
  after: readonly Condition[],
): readonly Condition[] {
  return after.filter(({ type, status, reason, message }) => {
    if (status !== 'False' || type === SUMMARY) return false;
    const old = before.find((each) => each.type === type);
    return old?.status !== status || old.reason !== reason || old.message !== message;
  });
}

/** An event for each condition that turned False, and the same for the log. */
export async function publishNewlyFalse(
  ports: Ports,
  regarding: ObjectRef,
  before: readonly Condition[],
  after: readonly Condition[],
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const { type, reason, message } of newlyFalse(before, after)) {
    await ports.cluster.event({ regarding, type: 'Warning', reason, message });
    const object = `${regarding.kind}/${regarding.name}`;
    failures.push({ object, message: `${type} is False, ${reason}: ${message}` });
  }
  return failures;
}
