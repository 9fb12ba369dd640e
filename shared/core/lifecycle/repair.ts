import { type Reason, reason } from '../explain/reason.ts';
import type { Condition, Node } from '../model/cluster.ts';
import { nodeOfClaim } from '../model/joins.ts';
import { NODE_POOL } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { conditionOf } from './conditions.ts';

const MINUTE_MS = 60_000;

interface Policy {
  readonly type: string;
  readonly status: Condition['status'];
  /** How long the node may be so before it is replaced. */
  readonly tolerationMs: number;
}

/**
 * What makes a node unhealthy, and for how long it is borne; beside Ready, what the EKS node
 * monitoring agent says. https://docs.aws.amazon.com/eks/latest/userguide/node-health.html
 */
const POLICIES: readonly Policy[] = [
  { type: 'Ready', status: 'False', tolerationMs: 30 * MINUTE_MS },
  { type: 'Ready', status: 'Unknown', tolerationMs: 30 * MINUTE_MS },
  { type: 'AcceleratedHardwareReady', status: 'False', tolerationMs: 10 * MINUTE_MS },
  { type: 'StorageReady', status: 'False', tolerationMs: 30 * MINUTE_MS },
  { type: 'NetworkingReady', status: 'False', tolerationMs: 30 * MINUTE_MS },
  { type: 'KernelReady', status: 'False', tolerationMs: 30 * MINUTE_MS },
  { type: 'ContainerRuntimeReady', status: 'False', tolerationMs: 30 * MINUTE_MS },
];

/** Where more than this share of a NodePool is unhealthy, the nodes are not what is broken. */
const UNHEALTHY_SHARE_MAX = 0.2;

/** EC2's checks fail for a moment at a reboot; this long is not a moment. */
const IMPAIRED_MS = 2 * MINUTE_MS;

/** What EC2's checks say of an instance. */
export interface SeenStatus {
  readonly instanceId: string;
  readonly kind: 'instance_status' | 'system_status' | 'event_status';
  readonly sinceMs: number;
  readonly description: string;
}

/** Why a claim whose instance runs has to be replaced. */
export interface RepairCause {
  readonly reason: 'unhealthy' | SeenStatus['kind'];
  readonly why: Reason;
  /** Nothing on the node is worth waiting for: it goes without a drain. */
  readonly isImmediate: boolean;
  /** The node condition, for metrics; undefined: EC2 says so. */
  readonly condition: string | undefined;
}

/** Of all claims, what is to be done about their nodes' health. */
export interface HealthReport {
  /** By the claim's uid. */
  readonly unhealthy: ReadonlyMap<string, RepairCause>;
  /** Claims that would be replaced were not too many of their kind unhealthy. */
  readonly blocked: readonly NodeClaim[];
}

/** What of the node is not well, as each policy has it. */
function unhealthyConditions(node: Node): readonly (readonly [Policy, Condition])[] {
  return POLICIES.flatMap((policy) => {
    const condition = conditionOf(node, policy.type);
    return condition?.status === policy.status ? [[policy, condition] as const] : [];
  });
}

function dueAtMs([{ tolerationMs }, { lastTransitionAtMs }]: readonly [Policy, Condition]): number {
  return lastTransitionAtMs + tolerationMs;
}

/** Pools of which so many nodes are unhealthy that none is replaced; '' stands for no pool. */
function brokenPools(nodes: readonly Node[]): ReadonlySet<string> {
  const pools = Map.groupBy(nodes, (node) => node.labels[NODE_POOL] ?? '');
  const tooMany = (members: readonly Node[]): boolean =>
    members.filter((node) => unhealthyConditions(node).length > 0).length >
    Math.ceil(members.length * UNHEALTHY_SHARE_MAX);
  const broken = [...pools].filter(([, members]) => tooMany(members)).map(([pool]) => pool);
  const isEverywhere = tooMany(nodes);
  return new Set([...broken.filter((pool) => pool !== ''), ...(isEverywhere ? [''] : [])]);
}

/** Nodes that have been unhealthy for too long, where it is not the whole NodePool. */
export function unhealthyNodes(
  claims: readonly NodeClaim[],
  nodes: readonly Node[],
  nowMs: number,
): HealthReport {
  const owned = claims.flatMap((claim) => {
    const node = nodeOfClaim(nodes, claim);
    return node === undefined ? [] : [{ claim, node }];
  });
  const broken = brokenPools(owned.map(({ node }) => node));
  const unhealthy = new Map<string, RepairCause>();
  const blocked: NodeClaim[] = [];
  for (const { claim, node } of owned) {
    const due = unhealthyConditions(node).filter((each) => nowMs >= dueAtMs(each));
    const [policy] = due.toSorted((a, b) => dueAtMs(a) - dueAtMs(b))[0] ?? [];
    if (policy === undefined || claim.deletedAtMs !== undefined) continue;
    if (broken.has(claim.labels[NODE_POOL] ?? '')) {
      blocked.push(claim);
      continue;
    }
    const minutes = policy.tolerationMs / MINUTE_MS;
    const { type: condition, status } = policy;
    const why = reason('node-unhealthy', { condition, status, minutes });
    unhealthy.set(claim.uid, { reason: 'unhealthy', why, isImmediate: true, condition });
  }
  return { unhealthy, blocked };
}

/** What EC2's status checks and scheduled events mean for the claims, by the claim's uid. */
export function impairedInstances(
  claims: readonly NodeClaim[],
  statuses: readonly SeenStatus[],
  nowMs: number,
): ReadonlyMap<string, RepairCause> {
  const unhealthy = new Map<string, RepairCause>();
  // The checks come last: what they find leaves no time for a drain.
  const inOrder = [...statuses].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  const byInstance = new Map(
    claims.flatMap((claim) =>
      claim.providerId === undefined || claim.deletedAtMs !== undefined
        ? []
        : [[claim.providerId.split('/').at(-1), claim] as const],
    ),
  );
  for (const { instanceId, kind, sinceMs, description } of inOrder) {
    const claim = byInstance.get(instanceId);
    const isImmediate = kind !== 'event_status';
    if (claim === undefined || (isImmediate && nowMs < sinceMs + IMPAIRED_MS)) continue;
    const said = { check: kind, instance: instanceId, said: description };
    const why = reason('instance-impaired', said);
    unhealthy.set(claim.uid, { reason: kind, why, isImmediate, condition: undefined });
  }
  return unhealthy;
}
