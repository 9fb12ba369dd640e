import { briefly } from '../../core/explain/briefly.ts';
import { reason } from '../../core/explain/reason.ts';
import type { Plan } from '../../core/model/plan.ts';
import type { Ports } from '../../ports.ts';
import { recordDecision } from '../writes/decisions.ts';
import type { StaysBecause } from '../writes/unchanged.ts';

const PODS_NAMED_MAX = 20;

/** One decision for each reason, not for each pod: thousands may wait for the same. */
export async function recordUnplaced(
  ports: Ports,
  virtual: ReadonlySet<string>,
  plan: Plan,
): Promise<void> {
  const waiting = [...plan.unplaced]
    .filter(([pod]) => !virtual.has(pod))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [cause, pods] of Map.groupBy(waiting, ([, each]) => briefly(each.reasons))) {
    const [first] = pods;
    if (first === undefined) continue;
    const [pod, { reasons }] = first;
    const others = pods.length - 1;
    const decision = {
      id: `provision-unschedulable-${cause.replaceAll(/[^\w.-]+/g, '-')}`,
      useCase: 'provision',
      object: `Pod/${pod}`,
      action: 'unschedulable',
      reasons: [...reasons, ...(others === 0 ? [] : [reason('pods-alike', { others })])],
      detail: {
        reason: cause,
        count: pods.length,
        pods: pods.slice(0, PODS_NAMED_MAX).map(([key]) => key),
      },
    } as const;
    await recordDecision({ ports }, decision);
  }
}

/** Why a plan launches nothing. */
export function staysBecause(
  { unplaced, existing }: Plan,
  virtual: ReadonlySet<string>,
): readonly StaysBecause[] {
  const isReal = (pod: string): boolean => !virtual.has(pod);
  const left = [...unplaced]
    .filter(([pod]) => isReal(pod))
    .flatMap(([pod, { reasons }]) => reasons.map((why) => ({ object: `Pod/${pod}`, why })));
  const hosts = existing.filter(({ pods }) => pods.some(isReal));
  const pods = hosts.flatMap((host) => host.pods.filter(isReal)).length;
  const room = reason('pods-fit-existing-nodes', { pods, nodes: hosts.length });
  const all = [...left, ...(pods === 0 ? [] : [{ object: 'Pods', why: room }])];
  return all.length > 0 ? all : [{ object: 'Pods', why: reason('nothing-pending', {}) }];
}
