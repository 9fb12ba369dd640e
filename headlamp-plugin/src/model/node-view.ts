import { type LifeState, lifeOf } from '../../../shared/core/lifecycle/node-life.ts';
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

/** What the panel of a node or NodeClaim shows. */
export interface NodeView {
  readonly state: LifeState;
  readonly look: Look;
  /** What it waits for, or why; empty: nothing. */
  readonly detail: string;
  readonly facts: readonly Fact[];
  readonly blockers: readonly Blocker[];
  readonly events: readonly JoinerEvent[];
  /** Commands whose answers have more. */
  readonly commands: readonly string[];
}

const LOOKS: Readonly<Record<LifeState, Look>> = {
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
};

/** How the state of a node looks. */
export function lookOf(state: LifeState): Look {
  return LOOKS[state];
}

function factsOf(claim: NodeClaim, node: Node | undefined): readonly Fact[] {
  const pool = claim.labels[NODE_POOL];
  const planned = plannedInstead(claim);
  const decision = claim.annotations[DECISION];
  return [
    { name: 'NodeClaim', value: claim.name, target: target('NodeClaim', claim.name) },
    node === undefined
      ? { name: 'Node', value: 'none yet' }
      : { name: 'Node', value: node.name, target: target('Node', node.name) },
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
  const { state, detail } = lifeOf({ node, claim, pods }, cluster.budgets, nowMs);
  const candidate = node === undefined ? undefined : { claim, node, pods };
  return {
    state,
    look: lookOf(state),
    detail,
    facts: factsOf(claim, node),
    blockers: candidate === undefined ? [] : blockersAround(candidate, cluster, events, nowMs),
    events: eachOnce(eventsAround({ claim, node }, events)),
    commands: [
      `joiner explain nodeclaim/${claim.name}`,
      `joiner decisions --cluster CLUSTER --node ${claim.name} --since 7d`,
    ],
  };
}
