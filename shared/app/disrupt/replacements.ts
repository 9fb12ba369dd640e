import { replacesText } from '../../core/disruption/commands.ts';
import { DECISION, NODE_POOL, REPLACES } from '../../core/model/labels.ts';
import type { PlannedNodeClaim } from '../../core/model/plan.ts';
import type { DisruptionReason, NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import type { NewNodeClaim } from '../../ports.ts';
import { plannedClaim } from '../planning/new-claims.ts';
import { claimRef } from '../writes/references.ts';
import { annotateReplaced, type ReplacedBecause } from './commands.ts';
import { recordEvent } from './events.ts';
import { type DisruptPass, detailOf } from './pass.ts';

/** As `provision` writes them; none where the pool has gone. */
export function replacementClaims(
  { ports }: DisruptPass,
  { nodePools, instanceTypes }: Pick<ClusterSnapshot, 'nodePools' | 'instanceTypes'>,
  planned: PlannedNodeClaim,
): readonly NewNodeClaim[] {
  const pool = nodePools.find(({ name }) => name === planned.nodePool);
  if (pool === undefined) return [];
  const name = `${pool.name}-${ports.ids.suffix()}`;
  // Its pods run still, and come back as others.
  return [plannedClaim(planned, pool, instanceTypes.get(pool.name) ?? [], name, [])];
}

/** Claims that go, each once what its pods need is ready. */
export interface Replaced extends ReplacedBecause {
  readonly claims: readonly NodeClaim[];
  readonly replacements: readonly NewNodeClaim[];
  /** For each claim the indexes of the replacements that it waits for; by default all. */
  readonly needs?: readonly ReadonlySet<number>[];
  /** Why, for people. */
  readonly message: string;
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

/**
 * The claims name their replacements, and then these are written. Fewer than asked for come back
 * where somebody else has written meanwhile: the next pass gives them up.
 */
export async function createReplacements(
  pass: DisruptPass,
  replaced: Replaced,
): Promise<readonly NodeClaim[]> {
  const { replacements, reason, message } = replaced;
  const { ports, nowMs } = pass;
  const made: NodeClaim[] = [];
  const waiting = waitingOf(replaced);
  if (replacements.length === 0 || waiting.length === 0) return made;
  for (const { claim, names } of waiting) {
    if ((await annotateReplaced(pass, claim, names, replaced)) !== 'done') return made;
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
    made.push(await createReplacement(pass, { ...each, annotations }, reason));
  }
  for (const { claim, names } of waiting) {
    await ports.recorder.decision({
      id: idOf(claim),
      atMs: nowMs,
      useCase: 'disrupt',
      object: `NodeClaim/${claim.name}`,
      action: 'replace',
      message: `${message}; by ${names.join(', ')}`,
      detail: { ...detailOf(claim, reason.toLowerCase()), replacements: names },
    });
  }
  return made;
}

async function createReplacement(
  { ports, created }: DisruptPass,
  planned: NewNodeClaim,
  reason: DisruptionReason,
): Promise<NodeClaim> {
  const { claim } = await ports.cluster.createNodeClaim(planned);
  created.push(claim.name);
  const nodepool = planned.labels[NODE_POOL] ?? '';
  ports.recorder.count('nodeclaims_created_total', { reason: reason.toLowerCase(), nodepool });
  await ports.cluster.event({
    regarding: claimRef(claim),
    type: 'Normal',
    reason: 'DisruptionLaunching',
    message: `Launching NodeClaim: ${reason}`,
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
  const message = `Waiting for ${made.map(({ name }) => name).join(', ')} to be ready`;
  const event = { type: 'Normal', reason: 'DisruptionWaitingReadiness', message } as const;
  await recordEvent(pass, claim, node, event);
}
