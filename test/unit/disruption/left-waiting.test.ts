import { describe, expect, it } from 'vitest';
import { planForLeftWaiting } from '../../../shared/core/disruption/left-waiting.ts';
import { ZONE } from '../../../shared/core/model/labels.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../../shared/core/model/snapshot.ts';
import { DISRUPTED } from '../../../shared/core/model/taint.ts';
import { replan } from '../../../shared/core/scheduling/replan.ts';
import { ofApp, spreadOver } from '../../builders/affinity.ts';
import { claimOf, nodeOf, podOf, snapshotOf, yes } from '../../builders/scheduling.ts';

const MINUTE = 60_000;

const web = (name: string, nodeName?: string) =>
  podOf(
    name,
    { cpu: 1000, topologySpread: [spreadOver(ZONE, ofApp('web'))] },
    {
      labels: { app: 'web' },
      ...(nodeName === undefined ? {} : { nodeName, phase: 'Running', unschedulable: false }),
    },
  );

const going = { ...nodeOf('going', 2, 8, { zone: 'zone-a' }), taints: [DISRUPTED] };
const nodes = [
  going,
  nodeOf('open', 2, 8, { zone: 'zone-a' }),
  nodeOf('full-b', 1, 8, { zone: 'zone-b' }),
  nodeOf('full-c', 1, 8, { zone: 'zone-c' }),
];
/** Its pods are the old ones, in whose place others come. */
const drained = claimOf('going', {
  providerId: going.providerId,
  conditions: yes('Launched', 'Registered', 'Initialized'),
  deletedAtMs: 1,
});
const waits = web('waits');
const others = [web('b', 'full-b'), web('c', 'full-c')];
const old = [web('old-1', 'going'), web('old-2', 'going')];

function planned(
  nowMs: number,
  nodeClaims: ClusterSnapshot['nodeClaims'] = [drained],
  world = nodes,
) {
  const snapshot = snapshotOf({ nodes: world, nodeClaims, pods: [waits, ...others] });
  const make = (each: ClusterSnapshot) => replan(each, DEFAULT_SCHEDULING_SETTINGS);
  const first = { snapshot, plan: make(snapshot) };
  expect(first.plan.existing).toEqual([{ node: 'open', pods: ['default/waits'] }]);
  return planForLeftWaiting(first, [waits, ...others, ...old], make, nowMs);
}

describe('a pod that waits though its plan puts it on a node that is there', () => {
  it('is planned beside pods on a node that goes away, once it has waited for three minutes', () => {
    const { plan, snapshot } = planned(3 * MINUTE);
    expect(plan.newNodeClaims.flatMap(({ pods }) => pods)).toEqual(['default/waits']);
    expect(plan.newNodeClaims[0]?.chosen.zone).not.toBe('zone-a');
    expect(replan(snapshot, DEFAULT_SCHEDULING_SETTINGS)).toEqual(plan);
  });

  it('keeps its place before, and where no node goes away', () => {
    expect(planned(3 * MINUTE - 1).plan.newNodeClaims).toEqual([]);
    const staying = nodes.slice(1);
    expect(planned(3 * MINUTE, [], staying).plan.newNodeClaims).toEqual([]);
  });

  it('keeps it where nothing would be launched for it', () => {
    const wide = nodes.map((node) =>
      node.name === 'full-b' ? nodeOf('full-b', 4, 8, { zone: 'zone-b' }) : node,
    );
    expect(planned(3 * MINUTE, [drained], wide).snapshot.nodes).toBe(wide);
  });
});
