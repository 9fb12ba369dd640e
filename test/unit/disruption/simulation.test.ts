import { describe, expect, it } from 'vitest';
import {
  type Places,
  placesOfLeaving,
  simulate,
  withPlaces,
  withReserved,
} from '../../../shared/core/disruption/simulation.ts';
import { sentence } from '../../../shared/core/explain/reason.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../../shared/core/model/snapshot.ts';
import { claimOf, nodeOf, podOf, snapshotOf, yes } from '../../builders/scheduling.ts';

const joined = yes('Launched', 'Registered', 'Initialized');

function ownClaim(name: string): NodeClaim {
  return claimOf(name, { providerId: `aws:///zone-a/${name}`, conditions: joined });
}

const on = (node: string, name: string) =>
  podOf(name, { cpu: 1000 }, { nodeName: node, phase: 'Running', unschedulable: false });

const [a, b, x] = [nodeOf('a', 2.2, 8), nodeOf('b', 2.2, 8), nodeOf('x', 2.2, 8)];

/** Two pods on `a`, one on `b`, and room for one on `x`. */
const cluster: ClusterSnapshot = snapshotOf({
  nodes: [a, b, x],
  nodeClaims: ['a', 'b', 'x'].map(ownClaim),
  pods: [on('a', 'a1'), on('a', 'a2'), on('b', 'b1'), on('x', 'x1')],
});

/** Neither `b` nor `x` has room but for one pod between them. */
const full: ClusterSnapshot = {
  ...cluster,
  pods: [...cluster.pods, on('b', 'b2')],
};

function plannedFor(snapshot: ClusterSnapshot, node: typeof a) {
  const outcome = simulate(snapshot, node, DEFAULT_SCHEDULING_SETTINGS);
  if (outcome.kind === 'blocked') throw new Error(sentence(outcome.why));
  return outcome;
}

describe('nodes that are replaced at the same time', () => {
  it('do not count on the same room', () => {
    const first = plannedFor(full, a);
    expect(first.replacements).toHaveLength(1);
    expect([...first.elsewhere.values()]).toEqual(['x']);
    const made = [claimOf('new')];
    const second = (places?: Places) =>
      plannedFor(withReserved(full, ownClaim('a'), made, places), b);
    const pods = (found: ReturnType<typeof second>) =>
      found.replacements.reduce((sum, each) => sum + each.pods.length, 0);
    expect(pods(second())).toBe(1);
    expect(pods(second(first.elsewhere))).toBe(2);
  });

  it('nor in the next pass', () => {
    const candidate = { claim: ownClaim('a'), node: a, pods: [on('a', 'a1'), on('a', 'a2')] };
    const made = claimOf('new', {
      allocatable: { cpu: 1200, memory: 8 * 2 ** 30, pods: 10 },
      capacity: { cpu: 1200, memory: 8 * 2 ** 30, pods: 10 },
      providerId: 'aws:///zone-a/new',
      conditions: yes('Launched'),
    });
    const snapshot = { ...full, nodeClaims: [...full.nodeClaims, made] };
    const places = placesOfLeaving(snapshot, [candidate], [made], DEFAULT_SCHEDULING_SETTINGS);
    expect([...places.values()]).toEqual(['x']);
  });
});

describe('a node that is still drained', () => {
  it('keeps what replaces it from the pods of others', () => {
    const old = { ...ownClaim('a'), deletedAtMs: 1 };
    const fresh = ownClaim('new');
    const others = cluster.nodeClaims.filter(({ name }) => name !== 'a');
    const snapshot: ClusterSnapshot = {
      ...full,
      nodes: [...full.nodes, nodeOf('new', 2.2, 8)],
      nodeClaims: [...others, old, fresh],
    };
    const reserved = withReserved(snapshot, old, [fresh]);
    const { replacements, elsewhere } = plannedFor(reserved, b);
    expect([...elsewhere.values()]).toEqual(['x']);
    expect(replacements.flatMap(({ pods }) => pods)).toHaveLength(1);
  });
});

describe('a node that is drained and not replaced', () => {
  it('keeps the room that its pods will go to', () => {
    const old = { ...ownClaim('a'), deletedAtMs: 1 };
    const others = cluster.nodeClaims.filter(({ name }) => name !== 'a');
    const pods = [on('a', 'a1'), on('b', 'b1'), on('x', 'x1'), on('x', 'x2')];
    const snapshot: ClusterSnapshot = { ...cluster, nodeClaims: [...others, old], pods };
    const leaving = { claim: old, node: a, pods: [on('a', 'a1')] };
    const places = placesOfLeaving(snapshot, [leaving], [], DEFAULT_SCHEDULING_SETTINGS);
    expect([...places]).toEqual([['default/a1', 'b']]);
    const { replacements, elsewhere } = plannedFor(withPlaces(snapshot, places), x);
    expect(replacements.flatMap((each) => each.pods)).toHaveLength(2);
    expect([...elsewhere]).toEqual([]);
  });
});

describe('a node that takes pods of another one', () => {
  it('is not gone without a place for them', () => {
    const places = new Map([['default/a1', 'b']]);
    const snapshot = withReserved(cluster, ownClaim('a'), [claimOf('new')], places);
    const { replacements, elsewhere } = plannedFor(snapshot, b);
    const placed = [...replacements.flatMap(({ pods }) => pods), ...elsewhere.keys()];
    expect(placed.toSorted()).toEqual(['default/a1', 'default/b1']);
  });
});
