import { describe, expect, it } from 'vitest';
import { beginDisruption, deleteNodeClaim } from '../../../../shared/app/disrupt/commands.ts';
import { observePass } from '../../../../shared/app/disrupt/disrupt.ts';
import { METHODS } from '../../../../shared/app/disrupt/methods.ts';
import type { DisruptPass } from '../../../../shared/app/disrupt/pass.ts';
import {
  VOLUNTARY_REASONS,
  type VoluntaryReason,
} from '../../../../shared/core/disruption/voluntary.ts';
import { reason } from '../../../../shared/core/explain/reason.ts';
import { InvariantViolation } from '../../../../shared/core/invariant.ts';
import { nodeOfClaim } from '../../../../shared/core/model/joins.ts';
import { DO_NOT_DISRUPT, RETURN_TO_FIRST_CHOICE } from '../../../../shared/core/model/labels.ts';
import { isDisrupted } from '../../../../shared/core/model/taint.ts';
import type { ClusterEvent, ClusterState } from '../../../../shared/ports.ts';
import { runningWorld, settings, spread, withPorts } from '../world.ts';

type Change = (state: ClusterState, nowMs: number) => ClusterState;

const paused: Change = (state, nowMs) => ({
  ...state,
  pausedUntilMs: { ...state.pausedUntilMs, disrupt: nowMs + 60_000 },
});
const protectedNodes: Change = (state) => {
  const annotations = { [DO_NOT_DISRUPT]: 'true' };
  const nodes = state.objects.nodes.map((node) => ({ ...node, annotations }));
  return { ...state, objects: { ...state.objects, nodes } };
};
const protectedPods: Change = (state) => {
  const annotations = { [DO_NOT_DISRUPT]: 'true' };
  const pods = state.objects.pods.map((pod) => ({ ...pod, annotations }));
  return { ...state, objects: { ...state.objects, pods } };
};
const budgetOf =
  (nodes: string): Change =>
  (state) => {
    const budget = { nodes, reasons: undefined, schedule: undefined, durationMs: undefined };
    const nodePools = state.objects.nodePools.map((pool) => ({
      ...pool,
      annotations: { [RETURN_TO_FIRST_CHOICE]: 'nodes=100%' },
      disruption: { ...pool.disruption, budgets: [budget] },
    }));
    return { ...state, objects: { ...state.objects, nodePools } };
  };
const allowing = budgetOf('100%');

/** A pass over a cluster of one node, and that node. */
async function observed(change: Change) {
  const { ports } = await runningWorld([spread('web', 1)]);
  const read = async () => change(await ports.cluster.read(), ports.clock.nowMs());
  const events: string[] = [];
  const event = async (each: ClusterEvent) => void events.push(each.reason);
  const pass = await observePass(withPorts(ports, { cluster: { read, event } }), settings, {});
  const { nodeClaims, nodes } = pass.state.objects;
  const [claim] = nodeClaims;
  const node = claim && nodeOfClaim(nodes, claim);
  if (claim === undefined || node === undefined) throw new Error('the world has one node');
  const isTainted = async () => (await ports.cluster.read()).objects.nodes.some(isDisrupted);
  return { pass, claim, node, isTainted, events };
}

function begin(
  { pass, claim, node }: Awaited<ReturnType<typeof observed>>,
  why: VoluntaryReason,
  approved?: DisruptPass['approved'],
) {
  return beginDisruption({ ...pass, approved }, claim, node, why);
}

describe('whatever a method has chosen a node by', () => {
  it.each(VOLUNTARY_REASONS)('%s begins where nothing blocks it', async (why) => {
    const found = await observed(allowing);
    expect(await begin(found, why)).toBe('done');
    expect(await found.isTainted()).toBe(true);
  });

  it.each([
    ['a pause', paused],
    ['do-not-disrupt of the node', protectedNodes],
    ['do-not-disrupt of a pod', protectedPods],
    ['a disruption budget of 0', budgetOf('0')],
  ])('%s blocks every reason, and an event says so', async (_, change) => {
    for (const why of VOLUNTARY_REASONS) {
      const found = await observed(change);
      expect(await begin(found, why)).toBe('conflict');
      expect(await found.isTainted()).toBe(false);
      // On the claim and on its node.
      expect(found.events).toEqual(['DisruptionBlocked', 'DisruptionBlocked']);
    }
  });

  it('a budget counts what the pass has begun before', async () => {
    const { ports } = await runningWorld([spread('web', 3)]);
    const read = async () => budgetOf('2')(await ports.cluster.read(), ports.clock.nowMs());
    for (const why of VOLUNTARY_REASONS) {
      const patchNode = async () => 'done' as const;
      const patchNodeClaimStatus = patchNode;
      const event = async () => undefined;
      const cluster = { read, event, patchNode, patchNodeClaimStatus };
      const pass = await observePass(withPorts(ports, { cluster }), settings, {});
      const results: string[] = [];
      for (const claim of pass.state.objects.nodeClaims) {
        const node = nodeOfClaim(pass.state.objects.nodes, claim);
        if (node === undefined) throw new Error('each claim has its node');
        results.push(await beginDisruption(pass, claim, node, why));
      }
      expect(results).toEqual(['done', 'done', 'conflict']);
    }
  });

  it('a pause does not block what was approved, and nothing else is begun beside it', async () => {
    const found = await observed(paused);
    const approved = new Map([[found.claim.uid, 'Empty' as const]]);
    expect(await begin(found, 'Empty', approved)).toBe('done');
    await expect(begin(found, 'Drifted', approved)).rejects.toThrow(InvariantViolation);
  });

  it('a claim is not deleted before its disruption has begun', async () => {
    const { pass, claim, node } = await observed(allowing);
    const why = { reason: 'Empty', reasons: [reason('node-empty', {})] } as const;
    await expect(deleteNodeClaim(pass, claim, node, why)).rejects.toThrow(InvariantViolation);
    expect(pass.outcome.deleted).toEqual([]);
    await beginDisruption(pass, claim, node, 'Empty');
    await deleteNodeClaim(pass, claim, node, why);
    expect(pass.outcome.deleted).toEqual([claim.name]);
  });
});

it('every reason has its method, in order', () => {
  expect(METHODS.map((each) => each.reason)).toEqual(VOLUNTARY_REASONS);
});
