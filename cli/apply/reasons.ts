import { sentence, sentences } from '../../shared/core/explain/reason.ts';
import { podKey } from '../../shared/core/model/pod.ts';
import type { DryRun } from '../../shared/preview/dry-run.ts';
import { leavingBecause } from '../../shared/preview/removals.ts';
import type { Decision, NodeTerms } from '../plan/decision.ts';
import { listed, nodeChanges } from './differences.ts';

/** What became of a pod that a node was to be launched for, and by its plan of now is not. */
function podReason({ copy, plan }: DryRun, { pod: key, uid }: Decision['pods'][number]): string {
  const pod = copy.state.objects.pods.find((each) => podKey(each) === key);
  if (pod === undefined) return `Pod ${key} no longer exists`;
  if (pod.uid !== uid) return `Pod ${key} was recreated`;
  if (pod.nodeName !== undefined) return `Pod ${key} is already bound to node ${pod.nodeName}`;
  const host = plan.existing.find(({ pods }) => pods.includes(key));
  if (host !== undefined) return `Pod ${key} now fits on existing node ${host.node}`;
  const ignored = plan.ignored.get(key);
  const why = plan.unplaced.get(key)?.message ?? (ignored && sentence(ignored));
  if (why !== undefined) return `Pod ${key} cannot be placed: ${why}`;
  const claim = plan.newNodeClaims.find(({ pods }) => pods.includes(key));
  if (claim === undefined) return `Pod ${key} is no longer pending`;
  const { type, zone } = claim.chosen;
  const others = claim.pods.filter((each) => each !== key);
  const node = `${type} in ${zone}`;
  if (others.length === 0) return `Pod ${key} would now get a ${node} of its own`;
  return `Pod ${key} would now share a ${node} with ${listed(others)}`;
}

/** What holds a node or its NodePool, as an event would say it. */
function heldBecause({ copy, kept }: DryRun, node: NodeTerms): string | undefined {
  const said = copy.cluster.events.filter(({ reason }) => reason === 'DisruptionBlocked');
  const of = (kind: string, name: string): string | undefined =>
    said.find(({ regarding }) => regarding.kind === kind && regarding.name === name)?.message;
  const reasons = kept.get(node.nodeClaim) ?? [];
  const own = reasons.length === 0 ? undefined : sentences(reasons);
  return of('NodeClaim', node.nodeClaim) ?? own ?? of('NodePool', node.nodePool);
}

function nodeReasons(run: DryRun, decision: Decision, node: NodeTerms): readonly string[] {
  const { state, ports } = run.copy;
  const { nodeClaims } = state.objects;
  const who = `NodeClaim ${node.nodeClaim}`;
  const claim = nodeClaims.find(({ name }) => name === node.nodeClaim);
  if (claim === undefined) return [`${who} no longer exists`];
  if (claim.uid !== node.uid) return [`${who} was recreated`];
  const leaving = leavingBecause(claim, state, ports.clock.nowMs());
  if (leaving !== undefined) return [`${who}: ${leaving}`];
  const held = heldBecause(run, node);
  if (held !== undefined) return [`${who}: ${held}`];
  return decision.nodes.length > 1
    ? []
    : [`${who} would no longer be disrupted (${decision.reason})`];
}

/** What of the state that the decision went by is not as it was. */
export function changedGrounds(approved: Decision, now: Decision['reliesOn']): readonly string[] {
  const changed = Object.entries(approved.reliesOn)
    .filter(([what, hash]) => now[what] !== undefined && now[what] !== hash)
    .map(([what]) => what);
  return changed.length === 0 ? [] : [`changed since the plan: ${changed.join(', ')}`];
}

/** Why what was approved is not decided any more. */
export function whyNotAgain(
  run: DryRun,
  approved: Decision,
  nodes: readonly NodeTerms[],
): readonly string[] {
  const { reason, pods, nodePool } = approved;
  if (reason === 'Static') {
    return [`NodePool ${nodePool} has its spec.replicas, or cannot launch any`];
  }
  const ofPods = pods.map((each) => podReason(run, each));
  const byUid = new Map(nodes.map((node) => [node.uid, node]));
  const ofNodes = approved.nodes.flatMap((node) => [
    ...nodeChanges(node, byUid.get(node.uid)),
    ...nodeReasons(run, approved, node),
  ]);
  const found = [...new Set([...ofPods, ...ofNodes])];
  return found.length > 0 ? found : [`its nodes would no longer be disrupted together (${reason})`];
}
