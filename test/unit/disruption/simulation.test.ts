import { describe, expect, it } from 'vitest';
import {
  type Places,
  placesOfLeaving,
  simulate,
  startingNodes,
  withAllWaiting,
  withPlaces,
  withReserved,
} from '../../../shared/core/disruption/simulation.ts';
import { sentence } from '../../../shared/core/explain/reason.ts';
import { FAKE_POD } from '../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../../shared/core/model/snapshot.ts';
import { DISRUPTED } from '../../../shared/core/model/taint.ts';
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

const inZone = (name: string, zone: string) =>
  podOf(name, { cpu: 500, nodeSelector: { 'topology.kubernetes.io/zone': zone } });

describe('the pods of a node that goes', () => {
  const outcomeOf = (snapshot: ClusterSnapshot, node = a) =>
    simulate(snapshot, node, DEFAULT_SCHEDULING_SETTINGS);
  const large = (name: string, createdAtMs: number) =>
    podOf(name, { cpu: 99_000 }, { nodeName: 'a', createdAtMs });
  const waits = (name: string, cpu: number) => podOf(name, { cpu });

  it('have places on other nodes where there is room', () => {
    const { kind, replacements, elsewhere } = plannedFor(cluster, a);
    expect(kind).toBe('possible');
    expect(replacements).toEqual([]);
    expect([...elsewhere.keys()].toSorted()).toEqual(['default/a1', 'default/a2']);
    expect([...elsewhere.values()].toSorted()).toEqual(['b', 'x']);
  });

  it('keep it where one of them would wait: the first by name is named', () => {
    const pods = [large('l3', 1), large('l1', 2), large('l2', 3), waits('a-first', 99_000)];
    const outcome = outcomeOf({ ...cluster, pods: [...cluster.pods, ...pods] });
    expect(outcome).toMatchObject({
      kind: 'blocked',
      why: { code: 'pod-would-wait', parameters: { pod: 'default/l1' } },
    });
  });

  it('do not keep it for pods that wait anyway', () => {
    const pods = [...cluster.pods, waits('too-large', 99_000)];
    expect(outcomeOf({ ...cluster, pods }).kind).toBe('possible');
  });

  it('keep it while the node that they would go to starts', () => {
    const claims = cluster.nodeClaims.filter(({ name }) => name !== 'x');
    const starting = { ...x, labels: { ...x.labels, 'karpenter.sh/initialized': 'false' } };
    const snapshot: ClusterSnapshot = {
      ...cluster,
      nodes: [a, starting],
      nodeClaims: [...claims, { ...ownClaim('x'), conditions: yes('Launched', 'Registered') }],
      pods: [on('a', 'a1'), waits('early', 200)],
    };
    expect(outcomeOf(snapshot)).toMatchObject({
      kind: 'blocked',
      why: { code: 'host-still-starts', parameters: { node: 'x' } },
    });
    const alone = { ...snapshot, pods: [waits('early', 200)] };
    expect(outcomeOf(alone)).toMatchObject({ kind: 'possible', replacements: [] });
  });

  it('are the only ones whose places are given', () => {
    const pods = [on('a', 'a1'), waits('waits', 1000)];
    const { elsewhere } = plannedFor({ ...cluster, pods }, a);
    expect([...elsewhere.keys()]).toEqual(['default/a1']);
  });

  it('have replacements that take pods which wait as well, but not those for these alone', () => {
    const moved = { ...on('a', 'a1'), spec: inZone('a1', 'zone-b').spec };
    const pods = [moved, inZone('near', 'zone-b'), inZone('far', 'zone-c')];
    const { replacements } = plannedFor({ ...cluster, pods }, a);
    expect(replacements.map((each) => [...each.pods].sort())).toEqual([
      ['default/a1', 'default/near'],
    ]);
  });
});

describe('the room of a CapacityBuffer', () => {
  const buffer = podOf('buffer', {}, { annotations: { [FAKE_POD]: 'true' } });
  const agent = { ...on('a', 'agent'), controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } };
  const alone: ClusterSnapshot = snapshotOf({ nodes: [a], nodeClaims: [ownClaim('a')] });
  const replacedPods = (pods: ClusterSnapshot['pods']) =>
    plannedFor({ ...alone, pods }, a).replacements.flatMap((each) => each.pods);

  it('has to be elsewhere before an empty node goes', () => {
    expect(replacedPods([buffer])).toEqual(['default/buffer']);
    expect(replacedPods([buffer, agent])).toEqual(['default/buffer']);
  });

  it('is all that is asked for: pods that wait have nodes of their own', () => {
    expect(replacedPods([podOf('waits')])).toEqual([]);
  });

  it('does not have to where the node has pods', () => {
    const moved = { ...on('a', 'a1'), spec: inZone('a1', 'zone-b').spec };
    const far = { ...buffer, spec: inZone('buffer', 'zone-c').spec };
    expect(replacedPods([moved, far])).toEqual(['default/a1']);
  });
});

describe('nodes that start', () => {
  it('are those and the claims that are not initialised', () => {
    const starting = { ...b, labels: { ...b.labels, 'karpenter.sh/initialized': 'false' } };
    const snapshot = snapshotOf({
      nodes: [a, starting],
      nodeClaims: [
        ownClaim('a'),
        { ...ownClaim('b'), conditions: yes('Launched', 'Registered') },
        claimOf('c', { providerId: 'aws:///zone-a/c', conditions: yes('Launched') }),
      ],
    });
    expect([...startingNodes(snapshot)].toSorted()).toEqual(['b', 'c']);
    expect([...startingNodes(cluster)]).toEqual([]);
  });
});

describe('all pods that wait', () => {
  it('are planned for, and no others', () => {
    const fresh = podOf('fresh', {}, { unschedulable: false });
    const pods = [fresh, podOf('tried'), on('a', 'a1'), { ...fresh, deletedAtMs: 1 }];
    const found = withAllWaiting(snapshotOf({ pods })).pods;
    expect(found.map(({ unschedulable }) => unschedulable)).toEqual([true, true, false, false]);
  });
});

describe('a replacement', () => {
  const small = { cpu: 2200, memory: 8 * 2 ** 30, pods: 10 };
  const made = claimOf('new', {
    allocatable: small,
    capacity: small,
    providerId: 'aws:///zone-a/new',
    conditions: yes('Launched'),
  });

  it('has no room for pods of others before its node has joined', () => {
    const snapshot = withReserved(full, ownClaim('a'), [made]);
    const { replacements } = plannedFor(snapshot, b);
    expect(replacements.flatMap(({ pods }) => pods)).toHaveLength(1);
  });

  it('keeps all pods away that do not tolerate it', () => {
    const { nodeClaims } = withReserved(full, ownClaim('a'), [made]);
    const reserved = { key: 'joiner.dev/reserved', value: '', effect: 'NoSchedule' };
    const tainted = nodeClaims.filter(({ name }) => name === 'a' || name === 'new');
    expect(tainted.map(({ taints }) => taints)).toEqual([[reserved], [reserved]]);
  });

  it('counts once, whether the snapshot has it or not', () => {
    const names = (known: readonly NodeClaim[]) =>
      withReserved({ ...cluster, nodeClaims: known }, ownClaim('a'), [made]).nodeClaims.map(
        ({ name }) => name,
      );
    expect(names([ownClaim('a')])).toEqual(['a', 'new']);
    expect(names([ownClaim('a'), made])).toEqual(['a', 'new']);
  });

  it('is no place elsewhere, whatever its node is called', () => {
    const joinedNode = nodeOf('ip-10-0-0-1', 2.2, 8, { providerId: made.providerId });
    const snapshot: ClusterSnapshot = {
      ...full,
      nodes: [...full.nodes, joinedNode],
      nodeClaims: [...full.nodeClaims, { ...made, conditions: joined }],
    };
    const candidate = { claim: ownClaim('a'), node: a, pods: [on('a', 'a1'), on('a', 'a2')] };
    const of = (replacements: readonly NodeClaim[]) => [
      ...placesOfLeaving(snapshot, [candidate], replacements, DEFAULT_SCHEDULING_SETTINGS).values(),
    ];
    expect(of([])).toContain('ip-10-0-0-1');
    expect(of([made])).not.toContain('ip-10-0-0-1');
  });
});

describe('a node that is being replaced', () => {
  it('keeps its own taints and is not one that leaves', () => {
    const dedicated = { key: 'dedicated', value: '', effect: 'NoSchedule' } as const;
    const old = { ...a, deletedAtMs: 1, taints: [dedicated, DISRUPTED] };
    const snapshot = { ...cluster, nodes: [old, b] };
    const { nodes } = withReserved(snapshot, ownClaim('a'), []);
    const [first, second] = nodes;
    expect(first?.deletedAtMs).toBeUndefined();
    expect(first?.taints.map(({ key }) => key)).toEqual(['dedicated', 'joiner.dev/reserved']);
    expect(second).toEqual(b);
  });
});
