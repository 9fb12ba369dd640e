import { describe, expect, it } from 'vitest';
import {
  CAPACITY_TYPE,
  DO_NOT_DISRUPT,
  HOSTNAME,
  INSTANCE_TYPE,
  NODE_POOL,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import type {
  LabelSelector,
  PodSpec,
  TopologySpreadConstraint,
} from '../../../shared/core/model/pod.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import {
  daemonSetOf,
  FAMILY,
  GI,
  nodeOf,
  planOf,
  podOf,
  podsByZone,
  podsOf,
  poolOf,
  typeOf,
  ZONES,
} from '../../builders/scheduling.ts';

const web = ofApp('web');
const db = ofApp('db');

function spread(topologyKey: string, rest: Partial<TopologySpreadConstraint> = {}) {
  return spreadOver(topologyKey, web, rest);
}

function term(topologyKey: string, labelSelector: LabelSelector | undefined = web) {
  return termOver(topologyKey, labelSelector);
}

const inZone = (...values: string[]) => ({
  matchExpressions: [{ key: ZONE, operator: 'In' as const, values }],
  matchFields: [],
});

const gpuTaint = { key: 'gpu', value: '', effect: 'NoSchedule' as const };

describe('labels and taints', () => {
  it('honours a node selector', () => {
    const plan = planOf({ pods: [podOf('a', { nodeSelector: { [ZONE]: 'zone-b' } })] });
    expect(podsByZone(plan)).toEqual({ 'zone-b': 1 });
  });

  it('takes any of the alternatives of node affinity', () => {
    const requiredNodeAffinity = [inZone('zone-x'), inZone('zone-c')];
    const plan = planOf({ pods: [podOf('a', { requiredNodeAffinity })] });
    expect(podsByZone(plan)).toEqual({ 'zone-c': 1 });
  });

  it.each([
    ['NotIn', ['m.large', 'm.xlarge', 'm.4xlarge'], 'm.2xlarge'],
    ['In', ['m.4xlarge'], 'm.4xlarge'],
  ] as const)('honours %s on the instance type', (operator, values, expected) => {
    const matchExpressions = [{ key: INSTANCE_TYPE, operator, values }];
    const requiredNodeAffinity = [{ matchExpressions, matchFields: [] }];
    const plan = planOf({ pods: [podOf('a', { requiredNodeAffinity })] });
    expect(plan.newNodeClaims.map((each) => each.chosen.type)).toEqual([expected]);
  });

  it('leaves a pod over whose term is empty, as kube-scheduler would', () => {
    const requiredNodeAffinity = [{ matchExpressions: [], matchFields: [] }];
    const plan = planOf({ pods: [podOf('a', { requiredNodeAffinity })] });
    expect([...plan.unplaced.keys()]).toEqual(['default/a']);
  });

  it('keeps pods off taints that they do not tolerate', () => {
    const nodePools = [poolOf('gpu', { taints: [gpuTaint], weight: 50 }), poolOf('general')];
    const key = { key: 'gpu', operator: 'Exists', value: '', effect: undefined } as const;
    const pods = [podOf('plain'), podOf('tolerant', { tolerations: [key] })];
    const plan = planOf({ nodePools, pods });
    const [claim] = plan.newNodeClaims.filter((each) => each.pods.includes('default/plain'));
    expect(claim?.nodePool).toBe('general');
    expect(planOf({ nodePools, pods: pods.slice(1) }).newNodeClaims[0]?.nodePool).toBe('gpu');
  });

  it('finds nothing under a key that every object inherits', () => {
    const plan = planOf({ pods: [podOf('a', { nodeSelector: { constructor: 'x' } })] });
    expect(plan.unplaced.get('default/a')?.message).toContain('constructor In [x]');
    const matchExpressions = [
      { key: 'constructor', operator: 'DoesNotExist' as const, values: [] },
    ];
    const requiredNodeAffinity = [{ matchExpressions, matchFields: [] }];
    const nodes = [nodeOf('n', 16, 64)];
    const absent = planOf({ pods: [podOf('a', { requiredNodeAffinity })], nodes });
    expect(absent.existing.map((each) => each.pods)).toEqual([['default/a']]);
  });

  it('needs a pool that defines a custom label', () => {
    const pods = [podOf('a', { nodeSelector: { team: 'x' } })];
    expect(planOf({ pods }).unplaced.size).toBe(1);
    const nodePools = [poolOf('general', { labels: { team: 'x' } })];
    expect(planOf({ pods, nodePools }).unplaced.size).toBe(0);
  });
});

describe('spread', () => {
  it('balances zones', () => {
    const plan = planOf({ pods: podsOf(6, 'a', { topologySpread: [spread(ZONE)] }) });
    expect(podsByZone(plan)).toEqual({ 'zone-a': 2, 'zone-b': 2, 'zone-c': 2 });
  });

  it('counts running pods', () => {
    const pods = [
      ...podsOf(4, 'old', {}, { nodeName: 'n' }),
      ...podsOf(2, 'new', { topologySpread: [spread(ZONE)] }),
    ];
    const plan = planOf({ pods, nodes: [nodeOf('n', 16, 64)] });
    expect(podsByZone(plan)).toEqual({ 'zone-b': 1, 'zone-c': 1 });
  });

  it('does not count pods that are terminating, as kube-scheduler does not', () => {
    const pods = [
      ...podsOf(2, 'old', {}, { nodeName: 'n', deletedAtMs: 1 }),
      ...podsOf(3, 'new', { topologySpread: [spread(ZONE)] }),
    ];
    const plan = planOf({ pods, nodes: [nodeOf('n', 2, 64)] });
    expect(podsByZone(plan)).toEqual({ 'zone-a': 1, 'zone-b': 1, 'zone-c': 1 });
    const apart = podsOf(1, 'next', { topologySpread: [spread(HOSTNAME)] });
    const onNode = planOf({ pods: [...pods.slice(0, 2), ...apart], nodes: [nodeOf('n', 4, 64)] });
    expect(onNode.existing.map((each) => each.pods)).toEqual([['default/next-0']]);
  });

  it('puts one pod on each node', () => {
    const plan = planOf({ pods: podsOf(4, 'a', { topologySpread: [spread(HOSTNAME)] }) });
    expect(plan.newNodeClaims.map((each) => each.pods.length)).toEqual([1, 1, 1, 1]);
  });

  it('works over capacity types', () => {
    const plan = planOf({ pods: podsOf(4, 'a', { topologySpread: [spread(CAPACITY_TYPE)] }) });
    const kinds = plan.newNodeClaims.flatMap(({ chosen, pods }) =>
      pods.map(() => chosen.capacityType),
    );
    expect(kinds.toSorted()).toEqual(['on-demand', 'on-demand', 'spot', 'spot']);
  });

  it('takes the minimum as 0 while there are fewer domains than minDomains', () => {
    const topologySpread = [spread(ZONE, { minDomains: 4 })];
    const plan = planOf({ pods: podsOf(6, 'a', { topologySpread }) });
    expect(plan.unplaced.size).toBe(3);
  });

  it('holds where pods are counted that have no spread of their own', () => {
    const spreads = podsOf(3, 'spread', { topologySpread: [spread(ZONE)] });
    const plain = podsOf(3, 'plain');
    const types = [typeOf('t', 2, 8, 0.1, { zones: ['zone-a', 'zone-b'] })];
    const byZone = podsByZone(planOf({ pods: [...spreads, ...plain], types }));
    expect(Object.keys(byZone)).toEqual(['zone-a', 'zone-b']);
  });

  it('knows no empty domain where no pod may go, whatever the policies let in', () => {
    const open = [spread(ZONE, { nodeAffinityPolicy: 'Ignore' })];
    const inA = { topologySpread: open, nodeSelector: { [ZONE]: 'zone-a' } };
    const pods = podsOf(6, 'a', inA);
    expect(podsByZone(planOf({ pods }))).toEqual({ 'zone-a': 6 });
    const elsewhere = podOf('other', { nodeSelector: { [ZONE]: 'zone-b' } }, { labels: {} });
    expect(podsByZone(planOf({ pods: [...pods, elsewhere] }))).toEqual({
      'zone-a': 1,
      'zone-b': 1,
    });
    const node = nodeOf('n', 1, 4, { zone: 'zone-b' });
    expect(podsByZone(planOf({ pods, nodes: [node] }))).toEqual({ 'zone-a': 1 });
    const requirements = [{ key: ZONE, operator: 'In' as const, values: ['zone-a', 'zone-b'] }];
    const nodePools = [poolOf('gpu', { taints: [gpuTaint] }), poolOf('general', { requirements })];
    const even = podsOf(6, 'a', { topologySpread: [spread(ZONE)] });
    expect(podsByZone(planOf({ pods: even, nodePools }))).toEqual({ 'zone-a': 3, 'zone-b': 3 });
  });

  it('holds for teams that have NodePools of their own', () => {
    const taints = [{ key: 'team', value: 'b', effect: 'NoSchedule' as const }];
    const nodePools = [poolOf('a'), poolOf('b', { taints })];
    const tolerations = [
      { key: 'team', operator: 'Exists', value: '', effect: undefined } as const,
    ];
    const toB = [
      {
        matchExpressions: [{ key: NODE_POOL, operator: 'In' as const, values: ['b'] }],
        matchFields: [],
      },
    ];
    const inB = { tolerations, requiredNodeAffinity: toB, nodeSelector: { [ZONE]: 'zone-b' } };
    const topologySpread = [spread(ZONE, { nodeAffinityPolicy: 'Ignore' })];
    const pods = [
      ...podsOf(3, 'a', { topologySpread, nodeSelector: { [ZONE]: 'zone-a' } }),
      podOf('b', inB, { labels: {} }),
    ];
    expect(podsByZone(planOf({ pods, nodePools }))).toEqual({ 'zone-a': 1, 'zone-b': 1 });
  });

  it('counts only pods with the same values of matchLabelKeys', () => {
    const topologySpread = [spread(ZONE, { matchLabelKeys: ['hash'] })];
    const running = podsOf(3, 'old', {}, { nodeName: 'n', labels: { app: 'web', hash: '1' } });
    const fresh = podsOf(3, 'new', { topologySpread }, { labels: { app: 'web', hash: '2' } });
    const plan = planOf({ pods: [...running, ...fresh], nodes: [nodeOf('n', 3, 64)] });
    expect(podsByZone(plan)).toEqual({ 'zone-a': 1, 'zone-b': 1, 'zone-c': 1 });
  });
});

describe('affinity', () => {
  it('keeps a group in one zone', () => {
    const plan = planOf({ pods: podsOf(20, 'a', { cpu: 3000, podAffinity: [term(ZONE)] }) });
    expect(Object.keys(podsByZone(plan))).toHaveLength(1);
    expect(plan.unplaced.size).toBe(0);
  });

  it('refuses where no pod that is meant is anywhere', () => {
    const db = { matchLabels: { app: 'db' }, matchExpressions: [] };
    const plan = planOf({ pods: [podOf('a', { podAffinity: [term(ZONE, db)] })] });
    expect(plan.unplaced.size).toBe(1);
  });

  it('counts for several required terms only pods that meet all of them', () => {
    const meaning = (labels: Readonly<Record<string, string>>) => ({
      matchLabels: labels,
      matchExpressions: [],
    });
    const terms = [term(ZONE, meaning({ app: 'db' })), term(HOSTNAME, meaning({ tier: 'hot' }))];
    const near = podOf('near', { podAffinity: terms });
    const labelled = (name: string, labels: Readonly<Record<string, string>>) =>
      podOf(name, {}, { labels });
    const apart = [labelled('db', { app: 'db' }), labelled('hot', { tier: 'hot' })];
    expect([...planOf({ pods: [near, ...apart] }).unplaced.keys()]).toEqual(['default/near']);
    const both = labelled('both', { app: 'db', tier: 'hot' });
    const plan = planOf({ pods: [near, ...apart, both] });
    expect(plan.unplaced.size).toBe(0);
    const node = plan.newNodeClaims.find(({ pods }) => pods.includes('default/near'));
    expect(node?.pods).toContain('default/both');
  });

  it('plans no new node around a pod that kube-scheduler binds to an existing one', () => {
    const near = podOf('near', { cpu: 4000, podAffinity: [term(HOSTNAME, ofApp('db'))] });
    const db = (name: string) => podOf(name, {}, { labels: { app: 'db' } });
    const nodes = [nodeOf('n', 1, 4)];
    const alone = planOf({ pods: [near, db('db')], nodes });
    expect(alone.newNodeClaims).toEqual([]);
    expect(alone.existing).toEqual([{ node: 'n', pods: ['default/db'] }]);
    expect([...alone.unplaced.keys()]).toEqual(['default/near']);
    const two = planOf({ pods: [near, db('db-1'), db('db-2')], nodes });
    expect(two.unplaced.size).toBe(0);
    expect(two.newNodeClaims.map(({ pods }) => pods)).toEqual([['default/db-2', 'default/near']]);
  });

  it('launches nothing more for company that nobody can follow', () => {
    const company = podsOf(400, 'db', {}, { labels: { app: 'db' } });
    // The node would have to be in two zones at once.
    const stuck = podOf('stuck', {
      nodeSelector: { [ZONE]: 'zone-a' },
      podAffinity: [term(HOSTNAME, ofApp('db')), term(ZONE, ofApp('nobody'))],
    });
    const plan = planOf({ pods: [...company, stuck] });
    const alone = planOf({ pods: company });
    expect([...plan.unplaced.keys()]).toEqual(['default/stuck']);
    expect(plan.pricePerHour).toBeCloseTo(alone.pricePerHour, 6);
  });

  it('keeps pods that avoid each other on nodes of their own', () => {
    const plan = planOf({ pods: podsOf(3, 'a', { podAntiAffinity: [term(HOSTNAME)] }) });
    expect(plan.newNodeClaims).toHaveLength(3);
  });

  it('honours the anti-affinity of a pod that runs', () => {
    const guard = podOf('guard', { podAntiAffinity: [term(ZONE)] }, { nodeName: 'n' });
    const plan = planOf({ pods: [guard, podOf('a')], nodes: [nodeOf('n', 16, 64)] });
    expect(plan.existing).toEqual([]);
    expect(podsByZone(plan)['zone-a']).toBeUndefined();
  });

  it.each<[string, Partial<PodSpec>, Partial<PodSpec>, string[]]>([
    ['anti-affinity of one that runs', { podAntiAffinity: [term(ZONE)] }, {}, ['zone-b', 'zone-c']],
    ['affinity of one that runs', { podAffinity: [term(ZONE)] }, {}, [...ZONES]],
    ['anti-affinity to it', {}, { podAntiAffinity: [term(ZONE, db)] }, ['zone-b', 'zone-c']],
    ['affinity to it', {}, { podAffinity: [term(ZONE, db)] }, ['zone-a']],
  ])('leaves all zones open that suit a pod: %s', (_, ofRunning, ofWaiting, zones) => {
    const running = podOf('db', ofRunning, { nodeName: 'n', labels: { app: 'db' } });
    const pods = [running, podOf('a', ofWaiting)];
    const [claim] = planOf({ pods, nodes: [nodeOf('n', 1, 1)] }).newNodeClaims;
    expect(claim?.requirements.find(({ key }) => key === ZONE)?.values).toEqual(zones);
  });

  it('leaves zones open in which minValues can be met together only', () => {
    const guard = podOf('guard', { podAntiAffinity: [term(ZONE)] }, { nodeName: 'n' });
    const types = [
      typeOf('m.1', 2, 8, 0.1, { zones: ['zone-b'] }),
      typeOf('m.2', 2, 8, 0.2, { zones: ['zone-c'] }),
    ];
    const twoTypes = { key: INSTANCE_TYPE, operator: 'Exists', values: [], minValues: 2 } as const;
    const nodePools = [poolOf('general', { requirements: [twoTypes] })];
    const nodes = [nodeOf('n', 16, 64)];
    const plan = planOf({ types, nodePools, nodes, pods: [guard, podOf('a')] });
    expect(plan.unplaced.size).toBe(0);
    expect(plan.newNodeClaims[0]?.instanceTypes).toEqual(['m.1', 'm.2']);
  });

  it('honours it, too, where the pod may not leave its node that goes away', () => {
    const stays = { nodeName: 'n', annotations: { [DO_NOT_DISRUPT]: 'true' } };
    const guard = podOf('guard', { podAntiAffinity: [term(ZONE)] }, stays);
    const nodes = [nodeOf('n', 16, 64, { deletedAtMs: 1 })];
    const plan = planOf({ pods: [guard, podOf('a')], nodes });
    expect(plan.unplaced.size).toBe(0);
    expect(podsByZone(plan)['zone-a']).toBeUndefined();
  });

  it('looks into the namespaces that a selector names', () => {
    const labels = { tier: 'prod' };
    const selector = { matchLabels: labels, matchExpressions: [] };
    const away = { ...term(HOSTNAME), namespaceSelector: selector };
    const running = podOf('other', {}, { nodeName: 'n', namespace: 'prod' });
    const base = {
      nodes: [nodeOf('n', 16, 64)],
      pods: [running, podOf('a', { podAntiAffinity: [away] })],
    };
    expect(planOf({ ...base, namespaces: [{ name: 'prod', labels }] }).existing).toEqual([]);
    expect(planOf({ ...base, namespaces: [{ name: 'prod', labels: {} }] }).existing).toHaveLength(
      1,
    );
  });

  it('never puts equal host ports on one node', () => {
    const hostPorts = [{ ip: '0.0.0.0', port: 80, protocol: 'TCP' }];
    expect(planOf({ pods: podsOf(2, 'a', { hostPorts }) }).newNodeClaims).toHaveLength(2);
  });
});

describe('resources', () => {
  it('leaves room for DaemonSets', () => {
    const { spec } = podOf('daemon', { cpu: 1500 });
    const daemonSets = [daemonSetOf('logs', spec)];
    const plan = planOf({ daemonSets, pods: [podOf('a')] });
    expect(plan.newNodeClaims.map((each) => each.chosen.type)).toEqual(['m.xlarge']);
    expect(plan.newNodeClaims[0]?.requests['cpu']).toBe(2500);
  });

  it('launches where a DaemonSet leaves room, and nowhere else', () => {
    const { spec } = podOf('daemon', { cpu: 3000, nodeSelector: { [ZONE]: 'zone-a' } });
    const heavy = daemonSetOf('heavy', spec);
    const types = [typeOf('m.large', 4, 16, 0.3), typeOf('m.xlarge', 8, 32, 1)];
    const plan = planOf({ types, daemonSets: [heavy], pods: [podOf('a', { cpu: 3000 })] });
    const [claim] = plan.newNodeClaims;
    expect(claim?.instanceTypes[0]).toBe('m.large');
    expect(plan.pricePerHour).toBeCloseTo(0.3, 6);
    const zones = claim?.requirements.find(({ key }) => key === ZONE)?.values;
    expect(zones).not.toContain('zone-a');
  });

  it('never puts more pods on a node than it may have', () => {
    const small = typeOf('tiny', 8, 32, 0.1, { capacity: { cpu: 8000, memory: 32 * GI, pods: 3 } });
    const plan = planOf({ types: [small], pods: podsOf(7, 'a', { cpu: 10 }) });
    expect(plan.newNodeClaims.map((each) => each.pods.length).toSorted()).toEqual([1, 3, 3]);
  });

  it('keeps plain pods off dear accelerated nodes', () => {
    const gpu = { capacity: { cpu: 8000, memory: 32 * GI, pods: 110, 'nvidia.com/gpu': 1 } };
    const types = [...FAMILY, typeOf('g.2xlarge', 8, 32, 3, gpu)];
    const requests = { cpu: 1000, memory: GI, pods: 1, 'nvidia.com/gpu': 1 };
    const plan = planOf({ types, pods: [podOf('gpu', { requests }), ...podsOf(30, 'a')] });
    const accelerated = plan.newNodeClaims.filter((each) => each.chosen.type === 'g.2xlarge');
    expect(accelerated).toHaveLength(1);
    expect(accelerated[0]?.pods).toContain('default/gpu');
  });

  it('buys spot where it is allowed, and on-demand where only that is', () => {
    expect(planOf({ pods: [podOf('a')] }).newNodeClaims[0]?.chosen.capacityType).toBe('spot');
    const nodeSelector = { [CAPACITY_TYPE]: 'on-demand' };
    const plan = planOf({ pods: [podOf('a', { nodeSelector })] });
    expect(plan.newNodeClaims[0]?.chosen.capacityType).toBe('on-demand');
  });
});
