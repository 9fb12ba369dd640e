import { type Reason, reason } from '../../core/explain/reason.ts';
import type { Plan } from '../../core/model/plan.ts';
import { podKey } from '../../core/model/pod.ts';
import type { ClusterEvent } from '../../ports.ts';
import type { ProvisioningInput } from '../planning/provisioning-input.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { saying, sayingAll } from '../writes/decisions.ts';
import { untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import { podRef } from '../writes/references.ts';
import type { Nominated } from './existing-nodes.ts';

type EventText = Omit<ClusterEvent, 'regarding'>;

function nominatedEvent(target: string): EventText {
  return { type: 'Normal', reason: 'Nominated', ...saying(reason('pod-nominated', { target })) };
}

/** The beginning is Karpenter's. */
function failedSchedulingEvent(reasons: readonly Reason[]): EventText {
  const { message, code } = sayingAll(reasons);
  const text = `Failed to schedule pod, ${message}`;
  return { type: 'Warning', reason: 'FailedScheduling', message: text, code };
}

/** What there is to tell of a plan; undefined: none was made. */
export interface PodOutcomes {
  readonly input: Pick<ProvisioningInput, 'ports' | 'state'>;
  readonly plan: Plan | undefined;
  readonly nominated: readonly Nominated[];
}

/**
 * Tells people where each pod is meant to go, or why it can go nowhere. Launches do not wait for
 * it, as there may be hundreds of events; claims that were given up by then are not spoken of.
 */
export async function publishPodEvents(
  { input: { ports, state }, plan, nominated }: PodOutcomes,
  givenUp: readonly string[],
): Promise<void> {
  const gone = new Set(givenUp.map((name) => `nodeclaim/${name}`));
  const kept = nominated.filter(({ target }) => !gone.has(target));
  const meant = kept.flatMap(({ target, pods }) =>
    pods.map((pod) => [pod, nominatedEvent(target)] as const),
  );
  const unplaced = [...(plan?.unplaced ?? [])]
    .map(([pod, each]) => [pod, failedSchedulingEvent(each.reasons)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  // Those of CapacityBuffers are in the snapshot only. By the uid `kubectl describe pod` asks.
  const said = [...meant, ...unplaced];
  const named = new Set(said.map(([pod]) => pod));
  const present = state.objects.pods.filter((pod) => named.has(podKey(pod)));
  const real = new Map(present.map((pod) => [podKey(pod), podRef(pod)]));
  const events = said.flatMap(([pod, event]): readonly ClusterEvent[] => {
    const regarding = real.get(pod);
    return regarding === undefined ? [] : [{ regarding, ...event }];
  });
  await untilKarpenterIsActive(() =>
    atOnce(WRITES_AT_ONCE, events, (event) => ports.cluster.event(event)),
  );
}
