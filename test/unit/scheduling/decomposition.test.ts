import { describe, expect, it } from 'vitest';
import { HOSTNAME, ZONE } from '../../../shared/core/model/labels.ts';
import { podKey } from '../../../shared/core/model/pod.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../../shared/core/model/snapshot.ts';
import { independentProblems } from '../../../shared/core/scheduling/decomposition.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import { SearchContext } from '../../../shared/core/scheduling/search/search-state.ts';
import { ofApp, termOver } from '../../builders/affinity.ts';
import { nodeOf, planOf, podsOf, poolOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

const TYPES = [4, 8, 16].map((cpu) => typeOf(`c.${cpu}`, cpu, cpu * 2, cpu * 0.05));

const taint = (team: string) => ({ key: 'team', value: team, effect: 'NoSchedule' }) as const;
const tolerates = (...teams: readonly string[]) =>
  teams.map((value) => ({ key: 'team', operator: 'Equal', value, effect: 'NoSchedule' }) as const);
const poolFor = (team: string, rest: Parameters<typeof poolOf>[1] = {}) =>
  poolOf(team, { taints: [taint(team)], ...rest });
/** Two pods of a shape that only these have. */
const podsFor = (name: string, teams: readonly string[], spec: Parameters<typeof podsOf>[2] = {}) =>
  podsOf(2, name, { tolerations: tolerates(...teams), ...spec }, { labels: { app: name } });

const POOLS = [poolFor('a'), poolFor('b')];
const PODS = [...podsFor('pa', ['a']), ...podsFor('pb', ['b'])];

type Caps = Pick<ClusterSnapshot, 'groupCaps'>;

/** Names of the pods' Deployments, by part. */
function partsOf({ groupCaps = [], ...given }: Parameters<typeof snapshotOf>[0] & Caps) {
  const snapshot = { ...snapshotOf({ types: TYPES, ...given }), groupCaps };
  const problem = compileProblem(snapshot, DEFAULT_SCHEDULING_SETTINGS);
  const context = new SearchContext(problem, { kinds: new Set() });
  return independentProblems(context).map(({ problem: { classes, demand } }) => {
    const names = classes.flatMap(({ pods }) => pods.map(podKey));
    expect(names.toSorted()).toEqual(demand.pods.map(podKey).toSorted());
    return [...new Set(classes.map(({ pods: [pod] }) => pod?.labels['app']))].sort().join();
  });
}

describe('the parts of a problem', () => {
  it('are the pods of teams with NodePools of their own, those of few kinds first', () => {
    expect(partsOf({ nodePools: POOLS, pods: PODS })).toEqual(['pa', 'pb']);
    const more = podsFor('more', ['a'], { cpu: 300 });
    expect(partsOf({ nodePools: POOLS, pods: [...more, ...PODS] })).toEqual(['pb', 'more,pa']);
  });

  it('are one where pods may go to both NodePools', () => {
    const both = podsFor('both', ['a', 'b'], { cpu: 300 });
    expect(partsOf({ nodePools: POOLS, pods: [...PODS, ...both] })).toEqual(['both,pa,pb']);
  });

  it('are one where a term about pods means those of the other', () => {
    const apart = podsFor('pb', ['b'], { podAntiAffinity: [termOver(ZONE, ofApp('pa'))] });
    expect(partsOf({ nodePools: POOLS, pods: [...podsFor('pa', ['a']), ...apart] })).toEqual([
      'pa,pb',
    ]);
    const wished = { weight: 1, term: termOver(HOSTNAME, ofApp('pa')) };
    const near = podsFor('pb', ['b'], { preferredPodAffinity: [wished] });
    expect(partsOf({ nodePools: POOLS, pods: [...podsFor('pa', ['a']), ...near] })).toEqual([
      'pa,pb',
    ]);
  });

  it('are two where both have terms of their own', () => {
    const apart = (name: string) => ({ podAntiAffinity: [termOver(ZONE, ofApp(name))] });
    const pods = [...podsFor('pa', ['a'], apart('pa')), ...podsFor('pb', ['b'], apart('pb'))];
    expect(partsOf({ nodePools: POOLS, pods })).toEqual(['pa', 'pb']);
  });

  it('are one where a node has room for both, and two where it is full', () => {
    const shared = { nodePools: POOLS, pods: PODS };
    expect(partsOf({ ...shared, nodes: [nodeOf('n', 16, 64)] })).toEqual(['pa,pb']);
    expect(partsOf({ ...shared, nodes: [nodeOf('n', 0.5, 64)] })).toEqual(['pa', 'pb']);
  });

  it('are one where the NodePools share the nodes of a reservation', () => {
    const type = typeOf('c.4', 4, 8, 0.2);
    const reservation = { id: 'cr-1', capacity: 1, type: 'default' as const };
    const paid = { capacityType: 'reserved' as const, price: 0.001, reservation };
    const reserved = type.offerings.map((each) => ({ ...each, ...paid }));
    const types = [{ ...type, offerings: [...type.offerings, ...reserved] }];
    expect(partsOf({ types, nodePools: POOLS, pods: PODS })).toEqual(['pa,pb']);
  });

  it('are one where the NodePools are of one limit group', () => {
    const caps = { cpu: 100_000 };
    const groupsOf = (pools: readonly string[]) => [{ group: 'all', pools, caps }];
    const shared = { nodePools: POOLS, pods: PODS };
    expect(partsOf({ ...shared, groupCaps: groupsOf(['a', 'b']) })).toEqual(['pa,pb']);
    expect(partsOf({ ...shared, groupCaps: groupsOf(['a']) })).toEqual(['pa', 'pb']);
  });

  it('have what no NodePool takes in the first of them', () => {
    const lost = podsFor('lost', [], { cpu: 200 });
    expect(partsOf({ nodePools: POOLS, pods: [...lost, ...PODS] })).toEqual(['pb', 'lost,pa']);
    expect(partsOf({ nodePools: POOLS, pods: lost })).toEqual(['lost']);
  });
});

describe('the plan of a problem in parts', () => {
  const zone = (value: string) => ({ key: ZONE, operator: 'In', values: [value] }) as const;
  /** Team a would like zone-b, which costs a little more; team b zone-c, which costs far more. */
  const types = TYPES.map((type) => ({
    ...type,
    offerings: type.offerings.map((each) => {
      const dearer = { 'zone-b': 1.02, 'zone-c': 3 }[each.zone] ?? 1;
      return { ...each, price: each.price * dearer, listPrice: each.listPrice * dearer };
    }),
  }));
  const likes = (value: string) => ({
    preferredNodeAffinity: [
      { weight: 1, term: { matchExpressions: [zone(value)], matchFields: [] } },
    ],
  });
  const podsOfTeam = (team: string, value: string) =>
    [700, 1100, 2300].flatMap((cpu) => podsFor(`${team}${cpu}`, [team], { cpu, ...likes(value) }));
  const a = podsOfTeam('a', 'zone-b');
  const b = podsOfTeam('b', 'zone-c');
  const nodes = [nodeOf('na', 4, 8, { pool: 'a', taints: [taint('a')] })];
  const planned = (pods: typeof a) => planOf({ types, nodePools: POOLS, pods, nodes });

  it('has the nodes of the plans of each, and meets what each can pay for', () => {
    const whole = planned([...b, ...a]);
    const alone = [planned(a), planned(b)];
    const textsOf = (each: typeof whole) =>
      each.newNodeClaims.map((claim) => JSON.stringify(claim));
    expect(textsOf(whole).sort()).toEqual(alone.flatMap(textsOf).sort());
    const zones = whole.newNodeClaims.map(({ nodePool, chosen }) => `${nodePool} ${chosen.zone}`);
    expect([...new Set(zones)].sort()).toEqual(['a zone-b', 'b zone-a']);
    expect(whole.existing).toEqual(alone.flatMap(({ existing }) => existing));
    expect(whole.existing).toHaveLength(1);
    expect(whole.unplaced.size).toBe(0);
    const met = [whole, ...alone].map(({ preferences }) => preferences.satisfiedWeight);
    // Those of team a, but for the pod on the node that there is, and none of team b.
    expect(met).toEqual([5, 5, 0]);
  });
});
