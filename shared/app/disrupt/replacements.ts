import type { VoluntaryReason } from '../../core/disruption/voluntary.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { replacesText } from '../../core/model/annotations/replacements.ts';
import { DECISION, NODE_POOL, REPLACES } from '../../core/model/labels.ts';
import type { PlannedNodeClaim } from '../../core/model/plan.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import type { NewNodeClaim } from '../../ports.ts';
import { asWritten, plannedClaim } from '../planning/new-claims.ts';
import { recordEvent } from '../writes/claim-events.ts';
import { claimNames } from '../writes/claim-names.ts';
import { recordDecision, recordNothing, saying } from '../writes/decisions.ts';
import { detailOf } from '../writes/deletions.ts';
import { claimRef } from '../writes/references.ts';
import { isLaunchPaused } from './blocked.ts';
import { annotateReplaced, type ReplacedBecause } from './commands.ts';
import type { DisruptPass } from './pass.ts';
import { planningSnapshot } from './snapshot.ts';

/** As `provision` writes them; none where the pool has gone. */
export function replacementClaims(
  { ports, state }: DisruptPass,
  { nodePools, instanceTypes }: Pick<ClusterSnapshot, 'nodePools' | 'instanceTypes'>,
  planned: PlannedNodeClaim,
): readonly NewNodeClaim[] {
  const pool = nodePools.find(({ name }) => name === planned.nodePool);
  if (pool === undefined) return [];
  const name = claimNames(ports, state.objects.nodeClaims)(pool.name);
  // Its pods run still, and come back as others.
  return [plannedClaim(planned, pool, instanceTypes.get(pool.name) ?? [], name, [])];
}

/**
 * Replacements that may have been written or not, since an answer failed to come: for the rest of
 * the pass they count as written, or caps and limits could be exceeded.
 */
export function perhapsWritten(
  { nowMs }: DisruptPass,
  replacements: readonly NewNodeClaim[],
): readonly NodeClaim[] {
  return replacements.map((each) => asWritten(each, each.name, nowMs));
}

/** Claims that go, each once what its pods need is ready. */
export interface Replaced extends ReplacedBecause {
  readonly claims: readonly NodeClaim[];
  readonly replacements: readonly NewNodeClaim[];
  /** For each claim the indexes of the replacements that it waits for; by default all. */
  readonly needs?: readonly ReadonlySet<number>[];
  readonly why: Reason;
}

/** A claim with the names of those that it waits for. */
interface Waiting {
  readonly claim: NodeClaim;
  readonly names: readonly string[];
}

function waitingOf({ claims, replacements, needs }: Replaced): readonly Waiting[] {
  return claims.map((claim, at) => {
    const own = replacements.filter((_, each) => needs?.[at]?.has(each) ?? true);
    return { claim, names: own.map(({ name }) => name) };
  });
}

/** Whether there is room for all of them in shared limit groups; why not is said. */
async function isReserved(pass: DisruptPass, { claims, replacements }: Replaced): Promise<boolean> {
  const { ports, shared } = pass;
  if (shared.isEmpty) return true;
  const snapshot = await planningSnapshot(pass);
  const { names, refusals } = await shared.reserve(ports, snapshot, replacements, 'all');
  if (names.size === replacements.length) return true;
  for (const claim of claims) {
    for (const why of refusals.values()) {
      await recordNothing({ ports }, why, `NodeClaim/${claim.name}`, 'disrupt');
    }
  }
  return false;
}

/**
 * The claims name their replacements, and then these are written. Fewer than asked for come back
 * where somebody else has written meanwhile: the next pass gives them up. None while launches are
 * paused, or where other clusters have taken the room in a shared limit group.
 */
export async function createReplacements(
  pass: DisruptPass,
  replaced: Replaced,
): Promise<readonly NodeClaim[]> {
  const waiting = waitingOf(replaced);
  const { replacements } = replaced;
  if (replacements.length === 0 || waiting.length === 0 || isLaunchPaused(pass)) return [];
  if (!(await isReserved(pass, replaced))) return [];
  try {
    return await createReserved(pass, replaced, waiting);
  } finally {
    await pass.shared.settle(pass.ports);
  }
}

async function createReserved(
  pass: DisruptPass,
  replaced: Replaced,
  waiting: readonly Waiting[],
): Promise<readonly NodeClaim[]> {
  const { replacements, reason: kind, why } = replaced;
  const { ports, nowMs } = pass;
  const made: NodeClaim[] = [];
  for (const { claim, names } of waiting) {
    if ((await annotateReplaced(pass, claim, names, replaced)) === 'done') continue;
    pass.shared.giveBack(replacements.map(({ name }) => name));
    return made;
  }
  const idOf = (claim: NodeClaim): string => `disrupt-${claim.name}-replace-${nowMs}`;
  for (const each of replacements) {
    const served = waiting.filter(({ names }) => names.includes(each.name));
    const [first] = served;
    const annotations = {
      ...each.annotations,
      ...(first === undefined ? {} : { [DECISION]: idOf(first.claim) }),
      [REPLACES]: replacesText(served.map(({ claim }) => claim.uid)),
    };
    made.push(await createReplacement(pass, { ...each, annotations }, kind));
  }
  for (const { claim, names } of waiting) {
    const decision = {
      id: idOf(claim),
      atMs: nowMs,
      useCase: 'disrupt',
      object: `NodeClaim/${claim.name}`,
      action: 'replace',
      reasons: [why, reason('replacements-launched', { nodeClaims: names })],
      detail: { ...detailOf(claim, kind.toLowerCase()), replacements: names },
    } as const;
    await recordDecision({ ports }, decision);
  }
  return made;
}

async function createReplacement(
  { ports, outcome, shared }: DisruptPass,
  planned: NewNodeClaim,
  kind: VoluntaryReason,
): Promise<NodeClaim> {
  const { claim } = await shared.create(ports, planned);
  const decision = planned.annotations[DECISION];
  outcome.created.push(claim.name);
  const nodepool = planned.labels[NODE_POOL] ?? '';
  ports.recorder.count('nodeclaims_created_total', { reason: kind.toLowerCase(), nodepool });
  await ports.cluster.event({
    regarding: claimRef(claim),
    type: 'Normal',
    reason: 'DisruptionLaunching',
    ...saying(reason('replacement-launching', { reason: kind })),
    ...(decision === undefined ? {} : { decision }),
  });
  return claim;
}

/** Says on the claim and its node what they wait for. */
export async function recordWaiting(
  pass: DisruptPass,
  claim: NodeClaim,
  node: Parameters<typeof recordEvent>[2],
  made: readonly NodeClaim[],
): Promise<void> {
  const why = reason('replacements-awaited', { nodeClaims: made.map(({ name }) => name) });
  const event = { type: 'Normal', reason: 'DisruptionWaitingReadiness', ...saying(why) } as const;
  await recordEvent(pass, claim, node, event);
}
