import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  INTERRUPTED,
  RESERVED,
  SPOT,
  ZONE,
} from '../core/model/labels.ts';
import { type Instance, PortError, type Ports } from '../ports.ts';
import type { Failure } from './attempt.ts';
import { spendBudget } from './interrupt-budget.ts';
import {
  fail,
  type Hit,
  type InterruptPass,
  judge,
  poolNameOf,
  type QueueMessage,
  type RefusalReason,
  toldBy,
} from './interrupt-messages.ts';
import { recordNothing } from './launch-records.ts';
import { claimRef } from './references.ts';
import { type AppSettings, isShadowed } from './settings.ts';
import { Shadow } from './shadow.ts';

export type { QueueMessage, RefusalReason } from './interrupt-messages.ts';

export interface InterruptReport {
  /** Messages that have to come again; all others are done with. */
  readonly failedIds: readonly string[];
  /** Claims deleted by this batch. */
  readonly deleted: readonly string[];
  /** How many messages led to nothing, by reason. */
  readonly refused: ReadonlyMap<RefusalReason, number>;
  /** Why messages have to come again, as far as something was refused or broken. */
  readonly failures: readonly Failure[];
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
  const message = toldBy(hit);
  const type = action.deleteClaim ? 'Warning' : 'Normal';
  const regarding = claimRef(claim);
  if (action.markOffering) await markOffering(ports, hit);
  if (action.deleteClaim) {
    await sayInterrupted(ports, hit);
    await ports.cluster.delete(regarding);
  }
  await ports.cluster.event({ regarding, type, reason: action.eventReason, message });
  if (!action.deleteClaim) return;
  const { [CAPACITY_TYPE]: capacity_type = '' } = claim.labels;
  const nodepool = poolNameOf(hit);
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

/** A claim once, and nothing while Karpenter runs. What one message comes to concerns no other. */
async function act(pass: InterruptPass, hits: readonly Hit[]): Promise<void> {
  const { ports, deleted } = pass;
  for (const hit of hits) {
    const { claim, action } = hit;
    if (deleted.has(claim.name) && action.deleteClaim) continue;
    try {
      if (await pass.shadow.isCast()) return;
      if (action.deleteClaim && isLeaving(hit)) {
        await sayInterrupted(ports, hit);
        continue;
      }
      await carryOut(ports, hit);
      if (action.deleteClaim) deleted.add(claim.name);
    } catch (error) {
      fail(pass, hit.messageId, `NodeClaim/${claim.name}`, error);
    }
  }
}

function isLeaving({ claim }: Hit): boolean {
  return claim.deletedAtMs !== undefined;
}

async function recordWhy(pass: InterruptPass, hit: Hit, reason: string, why: string) {
  const object = `NodeClaim/${hit.claim.name}`;
  await recordNothing(pass, reason, object, `${toldBy(hit)}: ${why}`, 'interrupt');
}

/** Those that EC2 does not contradict. */
async function believable(pass: InterruptPass, hits: readonly Hit[]): Promise<readonly Hit[]> {
  const described = await describeHits(pass.ports, hits);
  const doubted = hits.filter((hit) => contradicts(hit, described));
  for (const hit of doubted) await recordWhy(pass, hit, 'contradicted', 'EC2 says otherwise');
  return hits.filter((hit) => !doubted.includes(hit));
}

/** Of what EC2 cannot confirm few nodes go at a time; the messages of the others come again. */
async function actOnFew(pass: InterruptPass, hits: readonly Hit[]): Promise<void> {
  if (hits.length === 0 || (await pass.shadow.isCast())) return;
  const { granted, faults } = await spendBudget(pass, hits);
  await act(
    pass,
    hits.filter(({ claim }) => granted.has(claim.name)),
  );
  for (const hit of hits.filter(({ claim }) => !granted.has(claim.name))) {
    const pool = poolNameOf(hit);
    if (faults.has(pool)) {
      fail(pass, hit.messageId, `NodePool/${pool}`, faults.get(pool));
      continue;
    }
    pass.failed.add(hit.messageId);
    const why = 'too many nodes of its NodePool would go unconfirmed';
    await recordWhy(pass, hit, 'unconfirmed', why);
  }
}

/** Handles one batch of the interruption queue: envelope → membership → confirmation → action. */
export async function interrupt(
  ports: Ports,
  settings: AppSettings,
  messages: readonly QueueMessage[],
): Promise<InterruptReport> {
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.readClaims();
  const pass: InterruptPass = {
    ports,
    settings,
    state,
    shadow: new Shadow(ports, state, startedAtMs),
    deleted: new Set(),
    failed: new Set(),
    failures: [],
    refused: new Map(),
  };
  if (!isShadowed(state.karpenterRenewedAtMs, ports.clock.nowMs())) {
    const hits = await believable(pass, judge(pass, messages));
    const isUnsure = (hit: Hit): boolean =>
      hit.action.deleteClaim && !hit.action.confirmable && !isLeaving(hit);
    await act(
      pass,
      hits.filter((hit) => !isUnsure(hit)),
    );
    await actOnFew(pass, hits.filter(isUnsure));
  }
  const { failed, deleted, refused, failures } = pass;
  return { failedIds: [...failed].sort(), deleted: [...deleted].sort(), refused, failures };
}
