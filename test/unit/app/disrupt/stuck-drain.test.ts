import { expect, it } from 'vitest';
import { disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { DISRUPTED } from '../../../../shared/core/model/taint.ts';
import type { ClusterState, Ports } from '../../../../shared/ports.ts';
import { WORLD_START_MS } from '../../../../shared/sim/world.ts';
import { apartOf, deployment, nodeClass, nodePool, smallWorld } from '../../../sim/small-world.ts';
import { MINUTE, reading, settings, spread, withPorts } from '../world.ts';

/** One of the nodes of `web` as consolidation has deleted it ten minutes ago. */
function draining({ objects, ...state }: ClusterState, nowMs: number): ClusterState {
  const deletedAtMs = nowMs - 10 * MINUTE;
  const pod = objects.pods.find(({ name }) => name.startsWith('web'));
  const node = objects.nodes.find(({ name }) => name === pod?.nodeName);
  const said = { type: 'DisruptionReason', status: 'True', reason: 'Underutilized' } as const;
  const condition = { ...said, message: '', lastTransitionAtMs: deletedAtMs };
  const nodeClaims = objects.nodeClaims.map((claim) => {
    if (claim.providerId !== node?.providerId) return claim;
    return { ...claim, deletedAtMs, conditions: [...claim.conditions, condition] };
  });
  const nodes = objects.nodes.map((each) =>
    each === node ? { ...each, deletedAtMs, taints: [...each.taints, DISRUPTED] } : each,
  );
  return { ...state, objects: { ...objects, nodeClaims, nodes } };
}

it.each([false, true])('nodes are consolidated beside a drain that is stuck: %s', async (stuck) => {
  let inner: Ports | undefined;
  const disruption = { consolidateAfter: '30s', budgets: [{ nodes: '100%' }] };
  const big = deployment('big', 2, '6', apartOf('big'));
  const small = deployment('small', 2, '500m', apartOf('small'));
  const down = { kind: 'Deployment', name: 'big', namespace: 'default', replicas: 0 } as const;
  const pool = nodePool(['on-demand'], { disruption });
  const { world } = await smallWorld([nodeClass, pool, spread('web', 2, '7700m'), big, small], {
    // Nothing is moved before it is looked at.
    wrap: (ports) => {
      inner ??= ports;
      const pausedUntilMs = { disrupt: Number.POSITIVE_INFINITY };
      const read = reading(ports, (state) => ({ ...state, pausedUntilMs }));
      return withPorts(ports, { cluster: { read } });
    },
    scenario: { steps: [{ at: 5 * MINUTE, scale: down }] },
  });
  await world.run(WORLD_START_MS + 10 * MINUTE);
  if (inner === undefined) throw new Error('the world has no ports');
  const nowMs = world.timeline.nowMs();
  const read = reading(inner, (state) => (stuck ? draining(state, nowMs) : state));
  const ports = withPorts(inner, { cluster: { read } });
  // The pods of the node that is drained have no place, and nothing is launched for them.
  expect((await provision(ports, settings)).created).toEqual([]);
  expect((await disrupt(ports, settings)).created.length).toBeGreaterThan(0);
});
