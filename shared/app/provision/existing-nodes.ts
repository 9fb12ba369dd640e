import { isOurs } from '../../core/launch/node-classes.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import type { Node } from '../../core/model/cluster.ts';
import { nodeOfClaim } from '../../core/model/joins.ts';
import { NOMINATED_UNTIL, PLANNED_PODS } from '../../core/model/labels.ts';
import type { Plan } from '../../core/model/plan.ts';
import { type Pod, podKey } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { isPending, plannedPods, plannedPodsText } from '../../core/nomination/planned-pods.ts';
import type { MetadataPatch, Ports } from '../../ports.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { claimRef, nodeRef } from '../writes/references.ts';

/** A nomination is believed this long: twice Karpenter's longest batch window is 20 s. */
const NOMINATION_MS = 20_000;

/** Where pods are meant to go: `nodeclaim/a` or `node/a`. */
export interface Nominated {
  readonly target: string;
  readonly pods: readonly string[];
}

/** What came of it. */
export interface Relied {
  readonly failures: readonly Failure[];
  /** To nodes and claims on which nothing was nominated a moment ago. */
  readonly nominated: readonly Nominated[];
}

/** What a plan was made on. */
export interface Reliance {
  readonly snapshot: ClusterSnapshot;
  /** Pods of CapacityBuffers, which exist in the snapshot only. */
  readonly virtual: ReadonlySet<string>;
}

/**
 * The pods that wait for a node, by key. A pod that still runs on a node that goes away
 * comes back as another one, and those of CapacityBuffers never do.
 */
export function waitingPods({ snapshot, virtual }: Reliance): ReadonlyMap<string, Pod> {
  const waiting = snapshot.pods.filter((pod) => isPending(pod) && !virtual.has(podKey(pod)));
  return new Map(waiting.map((pod) => [podKey(pod), pod]));
}

/** Our claims by the name that plans have for their node: that of the claim until it has joined. */
function claimsByNode({ nodes, nodeClaims }: ClusterSnapshot): ReadonlyMap<string, NodeClaim> {
  return new Map(
    nodeClaims
      .filter(({ nodeClassRef }) => isOurs(nodeClassRef))
      .map((claim) => [nodeOfClaim(nodes, claim)?.name ?? claim.name, claim]),
  );
}

/** A claim whose node is not open yet: it can still be told of more pods. */
function isAwaited(claim: NodeClaim): boolean {
  return claim.deletedAtMs === undefined && !isTrue(claim, 'Registered');
}

/**
 * Nodes that the plan relies on are left alone by disruption for a while. Claims that are on their
 * way take note of pods that no claim on its way was planned for: what an earlier plan has put
 * somewhere stays there. What is refused stops nothing: launches, which come after it, do not need
 * it.
 */
export async function relyOnExisting(ports: Ports, on: Reliance, plan: Plan): Promise<Relied> {
  const { snapshot, virtual } = on;
  const nowMs = ports.clock.nowMs();
  const until = { [NOMINATED_UNTIL]: new Date(nowMs + NOMINATION_MS).toISOString() };
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const claims = claimsByNode(snapshot);
  const waiting = waitingPods(on);
  const taken = new Set(snapshot.nodeClaims.filter(isAwaited).flatMap(plannedPods));
  const used = plan.existing.map(({ node: name, pods }) => {
    const real = pods.filter((pod) => !virtual.has(pod));
    const [node, claim] = [nodes.get(name), claims.get(name)];
    const before = Date.parse((node ?? claim)?.annotations[NOMINATED_UNTIL] ?? '');
    const uids = real.flatMap((pod) => waiting.get(pod)?.uid ?? []);
    const noted = claim === undefined ? {} : withMore(claim, uids, taken);
    const target = `${node === undefined ? 'nodeclaim' : 'node'}/${name}`;
    return { pods: real, node, claim, target, noted, isNew: real.length > 0 && !(before > nowMs) };
  });
  const failures: Failure[] = [];
  await atOnce(WRITES_AT_ONCE, used, async ({ node, claim, noted, isNew }) => {
    // Nodes of others are disrupted by others: there is nothing to write on them.
    if (claim === undefined || (!isNew && noted.annotations === undefined)) return;
    const note = () => write(ports, { node, claim }, isNew ? until : {}, noted);
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, note)));
  });
  return { failures, nominated: used.filter(({ isNew }) => isNew) };
}

/** What the claim has to say of pods that nobody has planned for before. */
function withMore(
  claim: NodeClaim,
  uids: readonly string[],
  taken: ReadonlySet<string>,
): MetadataPatch {
  const more = isAwaited(claim) ? uids.filter((uid) => !taken.has(uid)) : [];
  if (more.length === 0) return {};
  const text = plannedPodsText([...plannedPods(claim), ...more]);
  // A list that is full stays as it is.
  return text === undefined || text === claim.annotations[PLANNED_PODS]
    ? {}
    : { annotations: { [PLANNED_PODS]: text } };
}

/** One write where both are the claim's. */
async function write(
  { cluster }: Ports,
  { node, claim }: { readonly node: Node | undefined; readonly claim: NodeClaim },
  until: Readonly<Record<string, string>>,
  { annotations: noted = {} }: MetadataPatch,
): Promise<void> {
  const ofClaim = node === undefined ? { ...until, ...noted } : noted;
  if (node !== undefined && Object.keys(until).length > 0) {
    await cluster.patchNode(nodeRef(node), { annotations: until });
  }
  if (Object.keys(ofClaim).length > 0) {
    await cluster.patchNodeClaim(claimRef(claim), { annotations: ofClaim });
  }
}
