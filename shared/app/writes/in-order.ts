import { hasToWait } from '../../core/lifecycle/action-order.ts';
import type { LifecycleAction } from '../../core/lifecycle/actions.ts';

/**
 * Takes one action after the other. One that `take` says was not done keeps those back that need
 * it, and no others.
 */
export async function takeInOrder<Action extends LifecycleAction>(
  actions: readonly Action[],
  take: (action: Action) => Promise<boolean>,
): Promise<void> {
  const undone = new Set<LifecycleAction['kind']>();
  for (const action of actions) {
    const isDone = !hasToWait(action, undone) && (await take(action));
    if (!isDone) undone.add(action.kind);
  }
}
