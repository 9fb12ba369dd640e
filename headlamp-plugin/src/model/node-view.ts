import {
  type LifeState,
  type Living,
  lifeOf,
  type NodeLife,
} from '../../../shared/core/lifecycle/node-life.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import { nodeOfClaim, podsOnNode } from '../../../shared/core/model/joins.ts';
import { DECISION, NODE_POOL } from '../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { type Blocker, blockersAround, eventsAround } from './blockers.ts';
import type { Cluster } from './cluster.ts';
import type { JoinerEvent } from './events.ts';
import {
  instanceOf,
  offeringText,
  plannedInstead,
  priceOf,
  priceText,
  runnerUpText,
} from './offering.ts';
import { type Fact, target } from './target.ts';

/** How a state is coloured. */
export type Look = 'success' | 'warning' | 'error';

/** The state of a node; `Unknown`: what shows it was not read. */
export type ShownState = LifeState | 'Unknown';

/** What the panel of a node or NodeClaim shows. */
export interface NodeView {
  readonly state: ShownState;
  readonly look: Look;
  /** What it waits for, or why; empty: nothing. */
  readonly detail: string;
  readonly facts: readonly Fact[];
  readonly blockers: readonly Blocker[];
  readonly events: readonly JoinerEvent[];
  /** Commands whose answers have more. */
  readonly commands: readonly string[];
}

const LOOKS: Readonly<Record<ShownState, Look>> = {
  Launching: 'warning',
  Joining: 'warning',
  Registering: 'warning',
  Initializing: 'warning',
  Ready: 'success',
  Empty: 'success',
  Cordoned: 'warning',
  NotReady: 'error',
  Drifted: 'warning',
  Warned: 'error',
  Replacing: 'warning',
  Draining: 'warning',
  Terminating: 'warning',
  Unknown: 'warning',
};

/** How the state of a node looks. */
export function lookOf(state: ShownState): Look {
  return LOOKS[state];
}

/** A state with what it waits for, or why. */
export interface ShownLife {
  readonly state: ShownState;
  readonly detail: string;
}

/** Without its node, a NodeClaim shows no more than that it is being launched or is interrupted. */
export function withoutNodes(life: NodeLife): ShownLife {
  const isOfClaim = life.state === 'Launching' || life.state === 'Warned';
  return isOfClaim ? life : { state: 'Unknown', detail: 'Nodes were not read' };
}

/** Where the node is; what was not read is said to be unknown. */
function shownLife(living: Living, { budgets, unread }: Cluster, nowMs: number): ShownLife {
  const life = lifeOf(living, budgets, nowMs);
  if (living.node === undefined && unread.has('Node')) return withoutNodes(life);
  if (!unread.has('Pod')) return life;
  if (life.state === 'Empty') return { state: 'Ready', detail: 'whether it has pods is not known' };
  return life;
}

function nodeFact(node: string | undefined, isUnread: boolean): Fact {
  if (node !== undefined) return { name: 'Node', value: node, target: target('Node', node) };
  return { name: 'Node', value: isUnread ? 'not known' : 'none yet' };
}

function factsOf(claim: NodeClaim, node: Node | undefined, { unread }: Cluster): readonly Fact[] {
  const pool = claim.labels[NODE_POOL];
  const planned = plannedInstead(claim);
  const decision = claim.annotations[DECISION];
  return [
    { name: 'NodeClaim', value: claim.name, target: target('NodeClaim', claim.name) },
    nodeFact(node?.name ?? claim.nodeName, unread.has('Node')),
    pool === undefined
      ? { name: 'NodePool', value: 'none' }
      : { name: 'NodePool', value: pool, target: target('NodePool', pool) },
    { name: 'Instance', value: offeringText(instanceOf(claim)) },
    { name: 'Price', value: priceText(priceOf(claim)) },
    ...(planned === undefined ? [] : [{ name: 'Planned as', value: planned }]),
    { name: 'Runner-up', value: runnerUpText(claim) },
    ...(decision === undefined ? [] : [{ name: 'Decision', value: decision }]),
  ];
}

/** The same is said of a node and of its NodeClaim. */
function eachOnce(events: readonly JoinerEvent[]): readonly JoinerEvent[] {
  const byText = new Map<string, JoinerEvent>();
  for (const event of events) {
    const key = `${event.reason} ${event.why.text}`;
    if (!byText.has(key)) byText.set(key, event);
  }
  return [...byText.values()];
}

/** What the panel shows of a NodeClaim and its node. */
export function nodeView(
  claim: NodeClaim,
  cluster: Cluster,
  events: readonly JoinerEvent[],
  nowMs: number,
): NodeView {
  const node = nodeOfClaim(cluster.nodes, claim);
  const pods = podsOnNode(cluster.pods, node?.name);
  const { state, detail } = shownLife({ node, claim, pods }, cluster, nowMs);
  const candidate = node === undefined ? undefined : { claim, node, pods };
  return {
    state,
    look: lookOf(state),
    detail,
    facts: factsOf(claim, node, cluster),
    blockers: candidate === undefined ? [] : blockersAround(candidate, cluster, events, nowMs),
    events: eachOnce(eventsAround({ claim, node }, events)),
    commands: [
      `joiner explain nodeclaim/${claim.name}`,
      `joiner decisions --cluster CLUSTER --node ${claim.name} --since 7d`,
    ],
  };
}
