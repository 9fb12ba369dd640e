/**
 * A cluster that loses half of its pods: `npm run bench -- consolidation [PODS]`. Each round is a
 * minute, in which a tenth of the nodes may go.
 */
import { performance } from 'node:perf_hooks';
import { consolidate, plansFor } from '../shared/core/disruption/consolidation/consolidate.ts';
import { fingerprint } from '../shared/core/disruption/consolidation/fingerprint.ts';
import type { Consolidation } from '../shared/core/disruption/consolidation/search.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../shared/core/model/snapshot.ts';
import { solve } from '../shared/core/scheduling/solve.ts';
import {
  applied,
  type Cluster,
  clusterOf,
  consolidationOf,
} from '../test/builders/consolidation.ts';
import { snapshotOf } from '../test/builders/scheduling.ts';
import { mixedPods, priceList } from './workload.ts';

const TYPES = 800;
const SHARE = 0.1;
const ROUNDS_MAX = 60;

const types = priceList(TYPES);

function planned(count: number): Cluster {
  const pods = mixedPods(count);
  const plan = solve(snapshotOf({ pods, types }), DEFAULT_SCHEDULING_SETTINGS);
  const byKey = new Map(pods.map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
  return clusterOf(
    plan.newNodeClaims.map(({ chosen, pods: keys }, at) => ({
      name: `node-${String(at).padStart(5, '0')}`,
      type: chosen.type,
      zone: chosen.zone,
      capacityType: chosen.capacityType === 'spot' ? 'spot' : 'on-demand',
      pods: keys.flatMap((key) => byKey.get(key) ?? []),
    })),
    { types },
  );
}

/** Every second pod has gone. */
function halved({ usages, snapshot }: Cluster): Cluster {
  const stays = new Set(snapshot.pods.filter((_, at) => at % 2 === 0).map(({ uid }) => uid));
  return clusterOf(
    usages.flatMap(({ node, claim, pods, isSpot }) => {
      const left = pods.filter(({ uid }) => stays.has(uid));
      if (left.length === 0) return [];
      const type = claim.labels['node.kubernetes.io/instance-type'] ?? '';
      const zone = claim.labels['topology.kubernetes.io/zone'] ?? '';
      const capacityType = isSpot ? ('spot' as const) : ('on-demand' as const);
      return [{ name: node.name, type, zone, capacityType, pods: left }];
    }),
    { types },
  );
}

const priceOf = ({ usages }: Cluster): number =>
  usages.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);

export function run([count = '1000']: readonly string[]): void {
  let now = halved(planned(Number(count)));
  const waiting = now.snapshot.pods.map((pod) => ({
    ...pod,
    nodeName: undefined,
    phase: 'Pending' as const,
    unschedulable: true,
  }));
  const fresh = solve(snapshotOf({ pods: waiting, types }), DEFAULT_SCHEDULING_SETTINGS);
  console.log(`${now.usages.length} nodes at $${priceOf(now).toFixed(2)} an hour`);
  let evictions = 0;
  const times: number[] = [];
  let round = 0;
  let known: Consolidation['known'] = new Map();
  for (; round < ROUNDS_MAX; round += 1) {
    const allowance = new Map([['general', Math.ceil(SHARE * now.usages.length)]]);
    const settings = { spotToSpot: true };
    const options = {
      allowance,
      settings,
      plansMax: plansFor(now.usages.length),
      turn: round,
      known,
    };
    const input = consolidationOf(now, options);
    const began = performance.now();
    const { moves, plans, refusals, isExhausted } = consolidate(input);
    known = moves.length === 0 ? refusals : new Map();
    const ms = performance.now() - began;
    times.push(ms);
    const gone = moves.flatMap(({ nodes }) => nodes);
    evictions += gone.reduce((sum, { evictionCost }) => sum + evictionCost, 0);
    now = applied(now, moves, types);
    const made = moves.flatMap(({ replacements }) => replacements).length;
    console.log(
      `${round}: ${gone.length} nodes for ${made} in ${plans} plans, ${ms.toFixed(0)} ms; ` +
        `${now.usages.length} nodes at $${priceOf(now).toFixed(2)}`,
    );
    if (moves.length === 0 && isExhausted) break;
  }
  const began = performance.now();
  const { length } = fingerprint(now.snapshot);
  const knownMs = performance.now() - began;
  console.log(
    `from nothing: ${fresh.newNodeClaims.length} nodes at $${fresh.pricePerHour.toFixed(2)}; ` +
      `${evictions} evictions of ${now.snapshot.pods.length} pods; median ` +
      `${times.toSorted((a, b) => a - b)[times.length >> 1]?.toFixed(0)} ms a round; ` +
      `known again in ${knownMs.toFixed(0)} ms (${(length / 1e6).toFixed(1)} MB)`,
  );
}
