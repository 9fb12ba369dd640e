import {
  actionFor,
  type InterruptionAction,
  unconfirmedAllowance,
} from '../core/interruption/action.ts';
import {
  type Interruption,
  parseInterruption,
  type Refusal,
} from '../core/interruption/interruption.ts';
import { instanceIdOf } from '../core/lifecycle/actions.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  INTERRUPTED,
  NODE_POOL,
  RESERVED,
  SPOT,
  ZONE,
} from '../core/model/labels.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import { type ClaimsState, type Instance, PortError, type Ports } from '../ports.ts';
import { recordNothing } from './launch-records.ts';
import { isOurs } from './offers.ts';
import { claimRef } from './references.ts';
import { type AppSettings, isShadowed } from './settings.ts';
import { Shadow } from './shadow.ts';

export interface QueueMessage {
  readonly id: string;
  readonly body: string;
}

export interface InterruptReport {
  /** Messages that have to come again; all others are done with. */
  readonly failedIds: readonly string[];
  /** Claims deleted by this batch. */
  readonly deleted: readonly string[];
  /** How many messages led to nothing, by reason. */
  readonly refused: ReadonlyMap<RefusalReason, number>;
}

/** `foreign_cluster`: about instances that no NodeClaim here stands for. */
export type RefusalReason = Refusal | 'foreign_cluster';

interface Hit {
  readonly messageId: string;
  readonly interruption: Interruption;
  readonly action: InterruptionAction;
  readonly claim: NodeClaim;
  readonly instanceId: string;
}

function membership(
  ports: Ports,
  settings: AppSettings,
  state: ClaimsState,
  messages: readonly QueueMessage[],
  refuse: (reason: RefusalReason) => void,
): readonly Hit[] {
  const byInstance = new Map(
    state.nodeClaims
      .filter(({ nodeClassRef }) => isOurs(nodeClassRef))
      .map((claim) => [instanceIdOf(claim.providerId), claim]),
  );
  const hits: Hit[] = [];
  for (const { id, body } of messages) {
    const parsed = parseInterruption(body, settings.envelope, ports.clock.nowMs());
    if (!parsed.ok) {
      refuse(parsed.refusal);
      continue;
    }
    const { interruption } = parsed;
    const labels = { message_type: interruption.kind };
    ports.recorder.count('interruption_received_messages_total', labels);
    const action = actionFor(interruption);
    if (action === undefined) continue;
    const ours = interruption.instanceIds.flatMap((instanceId) => {
      const claim = byInstance.get(instanceId);
      return claim === undefined
        ? []
        : [{ messageId: id, interruption, action, claim, instanceId }];
    });
    if (ours.length === 0) refuse('foreign_cluster');
    hits.push(...ours);
  }
  return hits;
}

/** What EC2 says of the instances: `contradicts` = it runs and nothing is known of an end. */
function contradicts(hit: Hit, described: ReadonlyMap<string, Instance> | undefined): boolean {
  if (described === undefined) return false;
  const { kind } = hit.interruption;
  const instance = described.get(hit.instanceId);
  if (kind === 'spot_interrupted') return instance?.capacityType === 'on-demand';
  return (
    (kind === 'instance_stopped' || kind === 'instance_terminated') && instance?.state === 'running'
  );
}

/** A claim that is leaving because of EC2 needs no second opinion. */
function needsConfirmation({ action, claim }: Hit): boolean {
  const isKnown = claim.deletedAtMs !== undefined && claim.annotations[INTERRUPTED] !== undefined;
  return action.confirmable && !isKnown;
}

async function describeHits(
  ports: Ports,
  hits: readonly Hit[],
): Promise<ReadonlyMap<string, Instance> | undefined> {
  const ids = [...new Set(hits.filter(needsConfirmation).map((hit) => hit.instanceId))];
  if (ids.length === 0) return new Map();
  try {
    const instances = await ports.compute.describe(ids.sort());
    return new Map(instances.map((each) => [each.id, each]));
  } catch (error) {
    // A warning has two minutes: it is acted on at once where EC2 cannot be asked.
    if (error instanceof PortError) return undefined;
    throw error;
  }
}

async function markOffering(ports: Ports, hit: Hit): Promise<void> {
  const { [INSTANCE_TYPE]: instanceType, [ZONE]: zone } = hit.claim.labels;
  const capacityType = hit.claim.labels[CAPACITY_TYPE] === RESERVED ? RESERVED : SPOT;
  if (instanceType === undefined || zone === undefined) return;
  await ports.memory.markUnavailable({ instanceType, zone, capacityType }, hit.interruption.kind);
}

/**
 * Written before the claim is deleted: the cap on terminations does not hold it up. The label is
 * what the API server can look for.
 */
async function sayInterrupted(ports: Ports, { claim, interruption }: Hit): Promise<void> {
  if (claim.annotations[INTERRUPTED] !== undefined) return;
  const mark = { [INTERRUPTED]: interruption.kind };
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations: mark, labels: mark });
}

async function carryOut(ports: Ports, hit: Hit): Promise<void> {
  const { claim, action, interruption } = hit;
  const message = `${interruption.kind} for instance ${hit.instanceId}`;
  const type = action.deleteClaim ? 'Warning' : 'Normal';
  const regarding = claimRef(claim);
  if (action.markOffering) await markOffering(ports, hit);
  if (action.deleteClaim) {
    await sayInterrupted(ports, hit);
    await ports.cluster.delete(regarding);
  }
  await ports.cluster.event({ regarding, type, reason: action.eventReason, message });
  if (!action.deleteClaim) return;
  const { [NODE_POOL]: nodepool = '', [CAPACITY_TYPE]: capacity_type = '' } = claim.labels;
  const labels = { reason: interruption.kind, nodepool, capacity_type };
  ports.recorder.count('nodeclaims_disrupted_total', labels);
  await ports.recorder.decision({
    id: `interrupt-${claim.name}`,
    atMs: ports.clock.nowMs(),
    useCase: 'interrupt',
    object: `NodeClaim/${claim.name}`,
    action: 'delete',
    message,
    detail: {
      reason: interruption.kind,
      instanceId: hit.instanceId,
      nodePool: nodepool,
      chosen: { capacityType: capacity_type },
    },
  });
}

/** How many nodes of each pool unconfirmed messages may still take. */
function allowances(state: ClaimsState): Map<string, number> {
  const counts = new Map<string, { nodes: number; deleting: number }>();
  for (const claim of state.nodeClaims) {
    const pool = claim.labels[NODE_POOL] ?? '';
    const count = counts.get(pool) ?? { nodes: 0, deleting: 0 };
    count.nodes += 1;
    if (claim.deletedAtMs !== undefined) count.deleting += 1;
    counts.set(pool, count);
  }
  return new Map(
    [...counts].map(([pool, { nodes, deleting }]) => [pool, unconfirmedAllowance(nodes, deleting)]),
  );
}

/** Handles one batch of the interruption queue: envelope → membership → confirmation → action. */
export async function interrupt(
  ports: Ports,
  settings: AppSettings,
  messages: readonly QueueMessage[],
): Promise<InterruptReport> {
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.readClaims();
  if (isShadowed(state.karpenterRenewedAtMs, ports.clock.nowMs())) {
    return { failedIds: [], deleted: [], refused: new Map() };
  }
  const refused = new Map<RefusalReason, number>();
  const hits = membership(ports, settings, state, messages, (reason) => {
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
    // Of an account's instances most may be another cluster's: no sign of anything wrong.
    if (reason === 'foreign_cluster') return;
    ports.recorder.count('interruption_refused_messages_total', { reason });
  });
  const described = await describeHits(ports, hits);
  const shadow = new Shadow(ports, state, startedAtMs);
  const allowed = allowances(state);
  const failed = new Set<string>();
  const deleted = new Set<string>();
  for (const hit of hits) {
    const { claim, action } = hit;
    if (deleted.has(claim.name) && action.deleteClaim) continue;
    const told = `${hit.interruption.kind} for instance ${hit.instanceId}`;
    const object = `NodeClaim/${claim.name}`;
    if (contradicts(hit, described)) {
      const message = `${told}: EC2 says otherwise`;
      await recordNothing({ ports }, 'contradicted', object, message, 'interrupt');
      continue;
    }
    const isLeaving = claim.deletedAtMs !== undefined;
    if (action.deleteClaim && !action.confirmable && !isLeaving) {
      const pool = claim.labels[NODE_POOL] ?? '';
      const left = allowed.get(pool) ?? 0;
      if (left === 0) {
        const message = `${told}: too many nodes of its NodePool would go unconfirmed`;
        await recordNothing({ ports }, 'unconfirmed', object, message, 'interrupt');
        failed.add(hit.messageId);
        continue;
      }
      allowed.set(pool, left - 1);
    }
    try {
      if (await shadow.isCast()) break;
      if (action.deleteClaim && isLeaving) {
        await sayInterrupted(ports, hit);
        continue;
      }
      await carryOut(ports, hit);
      if (action.deleteClaim) deleted.add(claim.name);
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      failed.add(hit.messageId);
    }
  }
  return { failedIds: [...failed].sort(), deleted: [...deleted].sort(), refused };
}
