import { reconsider } from '../../core/disruption/consolidation/consolidate.ts';
import type { Move } from '../../core/disruption/consolidation/move.ts';
import { paybackMs } from '../../core/disruption/consolidation/payback.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { evictionOrderText } from '../../core/lifecycle/eviction-order.ts';
import { EVICTION_ORDER } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import { claimRef } from '../writes/references.ts';
import { beginDisruption, deleteNodeClaim, untaint } from './commands.ts';
import { meteredConsolidationOf } from './consolidation-input.ts';
import type { DisruptPass } from './pass.ts';
import { createReplacements, recordWaiting, replacementClaims } from './replacements.ts';
import { noteMovedPods } from './undone-moves.ts';
import { withoutDisruptedTaint } from './without-disrupted-taint.ts';

function reasonOf({ settings }: DisruptPass, { nodes, elsewhere, balance }: Move): Reason {
  const { currency } = settings.scheduling;
  return reason('pods-cheaper-elsewhere', {
    saving: { amount: balance.saving, currency },
    nodes: nodes.length,
    hosts: [...new Set(elsewhere.values())].sort(),
    cost: { amount: balance.cost, currency },
    minutes: Math.ceil(paybackMs(balance) / 60_000),
  });
}

function countDecision({ ports }: DisruptPass, { nodes, replacements }: Move): void {
  ports.recorder.count('voluntary_disruption_decisions_total', {
    decision: replacements.length === 0 ? 'delete' : 'replace',
    reason: 'Underutilized'.toLowerCase(),
    consolidation_type: nodes.length === 1 ? 'single' : 'multi',
  });
}

/** New nodes first: the old ones go when these are ready. */
async function replace(pass: DisruptPass, move: Move, snapshot: ClusterSnapshot): Promise<void> {
  const planned = move.replacements.flatMap((each) => replacementClaims(pass, snapshot, each));
  if (planned.length < move.replacements.length) return;
  const made = await createReplacements(pass, {
    claims: move.nodes.map(({ claim }) => claim),
    replacements: planned,
    needs: move.needs,
    evictionOrder: move.evictionOrder,
    reason: 'Underutilized',
    why: reasonOf(pass, move),
  });
  if (made.length < planned.length) return;
  countDecision(pass, move);
  for (const [at, { claim, node }] of move.nodes.entries()) {
    await beginDisruption(pass, claim, node, 'Underutilized');
    const own = made.filter((_, each) => move.needs[at]?.has(each));
    await recordWaiting(pass, claim, node, own);
  }
  noteMove(pass, move, made);
}

function noteMove(pass: DisruptPass, move: Move, replacements: readonly NodeClaim[]): void {
  const claims = move.nodes.map(({ claim }) => claim);
  const reasons = [reasonOf(pass, move)];
  pass.outcome.disruptions.push({ reason: 'Underutilized', claims, replacements, reasons });
}

/** The move of the tainted nodes by what is there now; undefined: they may not go without others. */
async function removalNow(pass: DisruptPass, move: Move): Promise<Move | undefined> {
  const uids = new Set(move.nodes.map(({ claim }) => claim.uid));
  const state = withoutDisruptedTaint(await pass.ports.cluster.read(), uids);
  const chosen = new Set([...pass.changes.chosen].filter((uid) => !uids.has(uid)));
  const again: DisruptPass = { ...pass, state, changes: { ...pass.changes, chosen } };
  const input = await meteredConsolidationOf(again);
  const nodes = input?.candidates.filter(({ claim }) => uids.has(claim.uid)) ?? [];
  if (input === undefined || nodes.length < move.nodes.length) return undefined;
  const found = reconsider({ ...input, known: new Map() }, nodes);
  return found.kind === 'move' && found.replacements.length === 0 ? found : undefined;
}

/** Before the claim is deleted: from then on its pods are evicted. */
async function orderEvictions(
  { ports }: DisruptPass,
  claim: NodeClaim,
  { evictionOrder }: Move,
): Promise<void> {
  if (evictionOrder === undefined) return;
  const annotations = { [EVICTION_ORDER]: evictionOrderText(evictionOrder) };
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
}

/** Nodes whose pods fit elsewhere are closed, looked at once more, and then deleted. */
async function remove(pass: DisruptPass, move: Move): Promise<void> {
  let held = 0;
  for (const { claim, node } of move.nodes) {
    if ((await beginDisruption(pass, claim, node, 'Underutilized')) === 'done') held += 1;
  }
  const now = held === move.nodes.length ? await removalNow(pass, move) : undefined;
  if (now !== undefined) countDecision(pass, move);
  const reasons = [reasonOf(pass, move)];
  await atOnce(WRITES_AT_ONCE, move.nodes, async ({ claim, node }) => {
    const step = async (): Promise<void> => {
      if (now !== undefined) {
        await orderEvictions(pass, claim, now);
        await deleteNodeClaim(pass, claim, node, { reason: 'Underutilized', reasons });
        return;
      }
      const { node: current } = await pass.ports.cluster.readNode(node.name);
      await untaint(pass, claim, current, true);
    };
    pass.outcome.failures.push(...(await attempt(`NodeClaim/${claim.name}`, step)));
  });
  const deleted = move.nodes.filter(({ claim }) => pass.outcome.deleted.includes(claim.name));
  await noteMovedPods(
    pass,
    deleted.map(({ claim }) => claim),
  );
  if (deleted.length === move.nodes.length) noteMove(pass, move, []);
}

/** Carries the moves out one after the other; one that fails stops no other. */
export async function carryOutMoves(
  pass: DisruptPass,
  snapshot: ClusterSnapshot,
  moves: readonly Move[],
): Promise<void> {
  for (const move of moves) {
    const isRemoval = move.replacements.length === 0;
    const step = () => (isRemoval ? remove(pass, move) : replace(pass, move, snapshot));
    const name = move.nodes.map((each) => each.claim.name).join(', ');
    pass.outcome.failures.push(...(await attempt(`NodeClaim/${name}`, step)));
  }
}
