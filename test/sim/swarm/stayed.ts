import type { Node } from '../../../shared/core/model/cluster.ts';
import {
  CAPACITY_TYPE,
  HELD_MOVES,
  NODE_POOL,
  ON_DEMAND,
  RETURN_TO_FIRST_CHOICE,
  SPOT,
} from '../../../shared/core/model/labels.ts';
import { isOver, type Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';
import { amountOf, CPU } from '../../../shared/core/model/resources.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { roomOf } from './caps.ts';
import type { CheckerSettings } from './checker-settings.ts';
import { isBudgetSpent, isMoved } from './own-rules.ts';

/** Of the largest type that there is. */
const CORES_OF_LARGEST = 8;

type State = ReturnType<typeof readState>['objects'];

/** A NodePool of spot nodes whose on-demand ones are fallbacks, and come back one by one at least. */
function returnsToSpot({ annotations, template, replicas }: NodePool): boolean {
  const terms = annotations[RETURN_TO_FIRST_CHOICE];
  if (terms === undefined || terms.includes('nodes=0') || replicas !== undefined) return false;
  const { requirements } = template;
  const allowed = requirements.find(({ key }) => key === CAPACITY_TYPE)?.values ?? [];
  return allowed.includes(SPOT) && requirements.every(({ minValues }) => minValues === undefined);
}

/** Whether one of the pods has no room on any other node, and so needs a new one. */
function needNewNode(own: readonly Pod[], node: Node, { nodes, pods }: State): boolean {
  const free = nodes
    .filter(({ name }) => name !== node.name)
    .map(({ name, allocatable }) => {
      const there = pods.filter((pod) => pod.nodeName === name && !isOver(pod));
      const used = there.reduce((sum, { spec }) => sum + amountOf(spec.requests, CPU), 0);
      return amountOf(allocatable, CPU) - used;
    });
  const most = Math.max(0, ...free);
  return own.some(({ spec }) => amountOf(spec.requests, CPU) > most);
}

/**
 * Fallbacks that have stayed though nothing keeps them: spot can be had at the prices of the
 * beginning, and their pods can move and need a new node.
 */
export function stayedFallbacks(
  { world, setting, users }: Pick<CheckerSettings, 'world' | 'setting' | 'users'>,
  isHeld: (pod: Pod) => boolean,
): readonly NodeClaim[] {
  if (users.havePricesChanged) return [];
  const state = readState(world.store).objects;
  return state.nodeClaims.filter((claim) => {
    const pool = state.nodePools.find(({ name }) => name === claim.labels[NODE_POOL]);
    const node = state.nodes.find(({ providerId }) => providerId === claim.providerId);
    if (pool === undefined || node === undefined || !returnsToSpot(pool)) return false;
    if (claim.labels[CAPACITY_TYPE] !== ON_DEMAND || claim.deletedAtMs !== undefined) return false;
    if (claim.annotations[HELD_MOVES] !== undefined) return false;
    if (isBudgetSpent(claim, 'Fallback', state, world.timeline.nowMs())) return false;
    const { nodes, cpu } = roomOf(claim, state, setting);
    if (nodes <= 0 || cpu < CORES_OF_LARGEST) return false;
    const own = state.pods.filter((pod) => pod.nodeName === node.name && isMoved(pod));
    return !own.some(isHeld) && needNewNode(own, node, state);
  });
}
