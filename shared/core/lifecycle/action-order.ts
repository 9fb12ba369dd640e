import type { LifecycleAction } from './actions.ts';

type Kind = LifecycleAction['kind'];

/**
 * What an action needs of those before it. All that is not said here goes on whatever was refused:
 * one call that somebody forbids is not to keep a node from being initialised, or from its end.
 */
const NEEDS: Partial<Record<Kind, readonly Kind[]>> = {
  // Without its finalizer a claim is gone at once, and its node is not drained.
  'delete-claim': ['hold-claim'],
  // Pods that go would come back to a node without the taint.
  'delete-node': ['taint-node'],
  evict: ['taint-node'],
  restart: ['taint-node'],
  terminate: ['taint-node'],
  // What a condition says has been done.
  conditions: ['taint-node', 'initialize', 'terminate'],
  // A Node that stays has to keep its finalizer, and its claim.
  'finalize-node': ['delete-node'],
  'finalize-claim': ['delete-node', 'finalize-node'],
};

/** Whether the action is left to a later pass, as what it needs was `undone` in this one. */
export function hasToWait(action: LifecycleAction, undone: ReadonlySet<Kind>): boolean {
  // Time is up: nothing is waited for any more.
  if (action.kind === 'terminate' && action.isPastDeadline) return false;
  return NEEDS[action.kind]?.some((each) => undone.has(each)) ?? false;
}
