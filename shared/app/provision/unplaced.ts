import type { Plan, UnplacedReason } from '../../core/model/plan.ts';
import type { Ports } from '../../ports.ts';

const PODS_NAMED_MAX = 20;

/** What leaves a pod without any instance type, by the NodePool that came nearest. */
function reasonOf({ pools }: UnplacedReason): string {
  const last = pools
    .map(({ stages }) => stages.at(-1))
    .reduce(
      (best, stage) => ((stage?.before ?? 0) > (best?.before ?? 0) ? stage : best),
      undefined,
    );
  return last?.what ?? 'no NodePool';
}

/** One decision for each reason, not for each pod: thousands may wait for the same. */
export async function recordUnplaced(
  { clock, recorder }: Ports,
  virtual: ReadonlySet<string>,
  plan: Plan,
): Promise<void> {
  const waiting = [...plan.unplaced]
    .filter(([pod]) => !virtual.has(pod))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [reason, pods] of Map.groupBy(waiting, ([, each]) => reasonOf(each))) {
    const [first] = pods;
    if (first === undefined) continue;
    const [pod, { message }] = first;
    const others = pods.length === 1 ? '' : ` (and ${pods.length - 1} other pods)`;
    await recorder.decision({
      id: `provision-unschedulable-${reason.replaceAll(/[^\w.-]+/g, '-')}`,
      atMs: clock.nowMs(),
      useCase: 'provision',
      object: `Pod/${pod}`,
      action: 'unschedulable',
      message: `${message}${others}`,
      detail: {
        reason,
        count: pods.length,
        pods: pods.slice(0, PODS_NAMED_MAX).map(([key]) => key),
      },
    });
  }
}
