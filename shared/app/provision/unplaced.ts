import { briefly } from '../../core/explain/briefly.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { sha256 } from '../../core/launch/sha256.ts';
import type { Plan } from '../../core/model/plan.ts';
import type { Ports } from '../../ports.ts';
import type { ProvisioningInput } from '../planning/provisioning-input.ts';
import { recordDecision, saying } from '../writes/decisions.ts';
import { poolRef } from '../writes/references.ts';
import type { StaysBecause } from '../writes/unchanged.ts';

const PODS_NAMED_MAX = 20;
/** Names of labels and values are in a cause, and keys of S3, with the id in them, have 1 KiB. */
const CAUSE_LENGTH_MAX = 200;
const HASH_LENGTH = 12;

/** What stands for the cause in the id of its decision. */
function idOf(cause: string): string {
  const text = cause.replaceAll(/[^\w.-]+/g, '-');
  if (text.length <= CAUSE_LENGTH_MAX) return text;
  return `${text.slice(0, CAUSE_LENGTH_MAX)}-${sha256(cause).slice(0, HASH_LENGTH)}`;
}

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
      id: `provision-unschedulable-${idOf(cause)}`,
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

/** Tells on the NodePools themselves which caps have refused nodes, each once. */
export async function publishRefusals(
  { ports, pools }: Pick<ProvisioningInput, 'ports' | 'pools'>,
  { unplaced }: Plan,
): Promise<void> {
  const refused = new Map<string, Reason>();
  for (const { code, parameters } of [...unplaced.values()].flatMap(({ reasons }) => reasons)) {
    if (code !== 'pod-unplaced') continue;
    for (const { nodePool, stages } of parameters.nodePools) {
      const full = stages.find((each) => each.code === 'limit-group-reached' && each.after === 0);
      if (full === undefined) continue;
      const { group, left, others } = full.parameters;
      const texts = (each: unknown): readonly string[] => [each].flat().map(String);
      const why = { group: String(group), left: texts(left), others: texts(others) };
      refused.set(nodePool, reason('limit-group-refuses', { nodePool, ...why }));
    }
  }
  for (const pool of pools) {
    const why = refused.get(pool.name);
    if (why === undefined) continue;
    const event = { type: 'Warning', reason: 'LimitGroupReached', ...saying(why) } as const;
    await ports.cluster.event({ regarding: poolRef(pool), ...event });
  }
}

/** Tells on the NodePools of shared limit groups where other clusters state other caps. */
export async function publishDifferences({
  ports,
  pools,
  shared,
  snapshot,
}: Pick<ProvisioningInput, 'ports' | 'pools' | 'shared' | 'snapshot'>): Promise<void> {
  for (const { group, why } of shared.differences()) {
    const names = snapshot.groupCaps?.find((each) => each.group === group)?.pools ?? [];
    for (const pool of pools.filter(({ name }) => names.includes(name))) {
      const event = { type: 'Warning', reason: 'LimitGroupDiffers', ...saying(why) } as const;
      await ports.cluster.event({ regarding: poolRef(pool), ...event });
    }
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
