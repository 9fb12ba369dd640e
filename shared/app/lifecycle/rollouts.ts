import { type Reason, reason } from '../../core/explain/reason.ts';
import { drainFault, isProtected } from '../../core/lifecycle/drain.ts';
import { isLive, type Pod, podKey } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { type ClusterState, PortError } from '../../ports.ts';
import { saying } from '../writes/decisions.ts';
import { podRef } from '../writes/references.ts';
import type { LifecycleMemory } from './memory.ts';
import type { ClaimPass } from './registration.ts';

/** What a restart goes by: what earlier passes have asked for. */
type RolloutPass = ClaimPass & {
  readonly memory: LifecycleMemory;
  readonly state: Pick<ClusterState, 'objects'>;
};

/**
 * Of the pod's ReplicaSet one on another node that may not be disrupted: a restart would end it, and
 * nothing asks for that node. Pods that a restart has started are of another ReplicaSet, and one
 * that has no node yet loses nothing.
 */
function protectedElsewhere({ state, nowMs }: RolloutPass, pod: Pod): Pod | undefined {
  const { controller, nodeName } = pod;
  return state.objects.pods.find(
    (each) =>
      each.controller?.uid === controller?.uid &&
      each.nodeName !== undefined &&
      each.nodeName !== nodeName &&
      isLive(each) &&
      isProtected(each, nowMs),
  );
}

/** Restarts the pod's Deployment; why not, where nothing will come in the pod's place. */
async function refusalOf(
  pass: RolloutPass,
  claim: NodeClaim,
  pod: Pod,
): Promise<Reason | undefined> {
  const { ports, nowMs, memory } = pass;
  const { cluster } = ports;
  const { namespace, controller } = pod;
  const name = `${namespace}/${pod.name}`;
  const fault = drainFault(pod);
  if (fault !== undefined) return reason('rollout-refused', { pod: name, said: fault });
  const kept = protectedElsewhere(pass, pod);
  if (kept !== undefined) {
    const said = `Pod ${podKey(kept)} of the Deployment may not be disrupted`;
    return reason('rollout-refused', { pod: name, said });
  }
  if (memory.rollouts.has(claim, pod, nowMs)) return undefined;
  const { deletedAtMs = nowMs } = claim;
  const set = { namespace, name: controller?.name ?? '', uid: controller?.uid ?? '' };
  try {
    const result = await cluster.restartRollout(set, { sinceMs: deletedAtMs, nowMs });
    if (result === 'none') {
      return reason('rollout-refused', { pod: name, said: 'no Deployment owns it' });
    }
    if (typeof result === 'object') {
      return reason('rollout-refused', { pod: name, said: result.fault });
    }
    const said = saying(reason('rollout-restarted', { pod: name }));
    const event = { type: 'Normal', reason: 'RolloutRestarted', ...said } as const;
    memory.rollouts.note(claim, pod, nowMs);
    if (result === 'restarted') await cluster.event({ regarding: podRef(pod), ...event });
    return undefined;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    // Somebody else has written it, or the server is busy: the next pass asks again.
    if (error.kind !== 'unauthorised') return undefined;
    return reason('rollout-refused', { pod: name, said: error.message });
  }
}

/** Restarts the Deployments of the pods; returns those of the pods that have to be evicted. */
export async function withoutRollout(
  pass: RolloutPass,
  claim: NodeClaim,
  pods: readonly Pod[],
): Promise<readonly Pod[]> {
  const left: Pod[] = [];
  for (const pod of pods) {
    const why = await refusalOf(pass, claim, pod);
    if (why === undefined) continue;
    left.push(pod);
    const event = { type: 'Warning', reason: 'RolloutRefused', ...saying(why) } as const;
    await pass.ports.cluster.event({ regarding: podRef(pod), ...event });
  }
  return left;
}
