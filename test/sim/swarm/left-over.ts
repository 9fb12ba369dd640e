import { asWaiting, type Pod } from '../../../shared/core/model/pod.ts';
import { isDisrupted } from '../../../shared/core/model/taint.ts';
import type { readState } from '../../../shared/sim/decode.ts';
import { schedule } from '../../../shared/sim/scheduler/schedule.ts';
import { nodeView, viewOf } from '../../../shared/sim/scheduler/view.ts';
import { isMoved } from './own-rules.ts';

type State = ReturnType<typeof readState>['objects'];

/** As their owners make them anew, so many milliseconds later than all others. */
function anew(pods: readonly Pod[], laterMs: number): readonly Pod[] {
  return pods.map((pod) => ({
    ...asWaiting(pod),
    uid: `${pod.uid}-anew`,
    createdAtMs: Number.MAX_SAFE_INTEGER - 10 + laterMs,
  }));
}

/**
 * Whether kube-scheduler, which chooses by itself, leaves pods over if these nodes go and nothing
 * is launched: it may give their pods the room in which pods of drains that wait have their place.
 */
export function leavesPods(state: State, gone: ReadonlySet<string>): boolean {
  const there = (pod: Pod): boolean => isMoved(pod) && pod.nodeName !== undefined;
  const drained = new Set(state.nodes.filter(isDisrupted).map(({ name }) => name));
  const nodes = state.nodes.filter(({ name }) => !gone.has(name) && !drained.has(name));
  const moved = state.pods.filter((pod) => there(pod) && gone.has(pod.nodeName ?? ''));
  const held = state.pods.filter((pod) => there(pod) && drained.has(pod.nodeName ?? ''));
  const views = nodes.map((node) =>
    nodeView(
      node,
      state.pods.filter(({ nodeName }) => nodeName === node.name),
    ),
  );
  const waiting = [...anew(moved, 0), ...anew(held, 1)];
  return schedule(viewOf(views, waiting, state), waiting).some(({ node }) => node === undefined);
}
