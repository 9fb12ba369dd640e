import { describe, expect, it } from 'vitest';
import { withChanges } from '../../../cli/plan/changes.ts';
import { toldBy } from '../../../cli/told-backoffs.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { sentence } from '../../../shared/core/explain/reason.ts';
import { backoffReason } from '../../../shared/core/launch/launch-backoff.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from '../../../shared/core/model/labels.ts';
import { podKey } from '../../../shared/core/model/pod.ts';
import { type Preview, preview } from '../../../shared/preview/preview.ts';
import type { Json } from '../../../shared/sim/json.ts';
import type { World } from '../../../shared/sim/world.ts';
import { claimOf } from '../../builders/scheduling.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../sim/small-world.ts';
import { MINUTE, runningWorld, spread, waitingWorld } from '../app/world.ts';

const prices = await loadCatalog('us-east-1');

/** Of a world as it is. */
async function previewOf(world: World, manifests: readonly Json[] = []): Promise<Preview> {
  const { cluster, catalog, clock } = world.ports;
  const { state } = withChanges(await cluster.read(), manifests);
  return await preview({ live: cluster, state, catalog, prices, nowMs: clock.nowMs() });
}

const SPOT = { key: CAPACITY_TYPE, operator: 'In', values: ['spot'] };
const PREFERS_SPOT = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    { weight: 1, preference: { matchExpressions: [SPOT] } },
  ],
};

const allAtOnce = { disruption: { budgets: [{ nodes: '100%' }] } };

describe('a preview', () => {
  it('of a cluster in which everything is as it should be has nothing to say', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const found = await previewOf(world);
    expect(found).toMatchObject({
      launches: [],
      removals: [],
      drifted: [],
      held: [],
      failures: [],
    });
    const { now, after } = found.pricePerHour;
    expect(now).toBeCloseTo(world.pricePerHour(), 9);
    expect(after).toBe(now);
  });

  it('changes nothing, and says the same each time', async () => {
    const { world } = await waitingWorld([deployment('web', 3, '1')]);
    const before = world.store.version;
    const first = await previewOf(world);
    expect(await previewOf(world)).toEqual(first);
    expect(first.launches.length).toBeGreaterThan(0);
    expect(world.store.version).toBe(before);
  });

  it('names what is then launched', async () => {
    const manifests = [nodeClass, nodePool(['on-demand', 'spot']), deployment('web', 7, '900m')];
    const { world } = await smallWorld(manifests);
    // The class is looked at, and nothing launched yet.
    const paused = await waitingWorld(
      [deployment('web', 7, '900m')],
      nodePool(['on-demand', 'spot']),
    );
    const found = await previewOf(paused.world);
    await world.run(world.timeline.nowMs() + 2 * MINUTE);
    const launched = (await world.ports.cluster.read()).objects.nodeClaims.map(
      ({ labels }) => `${labels[INSTANCE_TYPE]} ${labels[CAPACITY_TYPE]} ${labels[ZONE]}`,
    );
    const planned = found.launches.map(
      ({ chosen }) => `${chosen?.type} ${chosen?.capacityType} ${chosen?.zone}`,
    );
    expect(planned.sort()).toEqual(launched.sort());
    expect(found.launches.flatMap(({ pods }) => pods)).toHaveLength(7);
    expect(found.pricePerHour.after).toBeCloseTo(world.pricePerHour(), 9);
  });

  it('names pods that stay pending, and why', async () => {
    const { world } = await waitingWorld([deployment('huge', 1, '900')]);
    const { plan, launches } = await previewOf(world);
    expect(launches).toEqual([]);
    expect([...plan.unplaced.values()].map(({ message }) => message).join()).toContain('cpu');
  });

  it('launches nothing for a pod whose Event says that nothing is, for as long as it says', async () => {
    const { world } = await waitingWorld([deployment('web', 1, '1')]);
    const { cluster, catalog, clock } = world.ports;
    const state = await cluster.read();
    const nowMs = clock.nowMs();
    const [pod] = state.objects.pods;
    const key = pod === undefined ? '' : podKey(pod);
    const message = sentence(backoffReason({ untilMs: nowMs + MINUTE, launches: [] }));
    const event = {
      involvedObject: { kind: 'Pod', namespace: pod?.namespace, name: pod?.name },
      reason: 'FailedScheduling',
      message: `Failed to schedule pod, ${message}`.slice(0, 1024),
      source: { component: 'joiner-provision' },
      lastTimestamp: new Date(nowMs - 1000).toISOString(),
    };
    const told = toldBy(event, nowMs);
    expect(told?.[0]).toBe(key);
    const backoffs = new Map(told === undefined ? [] : [[told[0], told[1]]]);
    const input = { live: cluster, state, catalog, prices, backoffs };
    const { launches, plan } = await preview({ ...input, nowMs });
    expect(launches).toEqual([]);
    expect(plan.unplaced.get(key)?.message).toBe(message);
    const parts: unknown[] = [];
    const onPart = (...part: unknown[]) => void parts.push(part);
    const later = await preview({ ...input, nowMs: nowMs + MINUTE }, { onPart });
    expect(later.launches).toHaveLength(1);
    expect(parts).toEqual([
      ['pods', state.objects.pods.length],
      ['nodes', state.objects.nodes.length],
    ]);
    const others = [
      { ...event, source: { component: 'default-scheduler' } },
      { ...event, source: { component: 'joiner-evil' } },
      { ...event, lastTimestamp: new Date(nowMs - 6 * MINUTE).toISOString() },
      { ...event, message: 'Failed to schedule pod, no instance type has 900 cpu' },
    ];
    expect(others.flatMap((each) => toldBy(each, nowMs) ?? [])).toEqual([]);
  });

  it('has the nodes of static pools, and what they leave to launch for pods', async () => {
    const fixed = { ...nodePool(['on-demand'], { replicas: 2 }), metadata: { name: 'fixed' } };
    const { world } = await waitingWorld([deployment('web', 2, '1')]);
    const { launches, plan, pricePerHour } = await previewOf(world, [fixed]);
    expect(launches.map(({ nodePool: pool, why }) => [pool, why])).toEqual(
      Array(2).fill(['fixed', 'spec.replicas of its NodePool']),
    );
    expect(plan.existing.flatMap(({ pods }) => pods)).toHaveLength(2);
    expect(pricePerHour.after).toBeGreaterThan(0);
    expect(pricePerHour.unpriced).toBe(0);
  });

  it('leaves claims of others to them', async () => {
    const { world } = await waitingWorld([]);
    const state = await world.ports.cluster.read();
    const group = 'eks.amazonaws.com';
    const theirs = claimOf('auto', { nodeClassRef: { group, kind: 'NodeClass', name: 'default' } });
    const objects = { ...state.objects, nodeClaims: [theirs, claimOf('ours')] };
    const { catalog, cluster, clock } = world.ports;
    const input = { live: cluster, catalog, prices, nowMs: clock.nowMs() };
    const { launches } = await preview({ ...input, state: { ...state, objects } });
    expect(launches.map(({ nodeClaim, why }) => [nodeClaim, why])).toEqual([
      ['ours', 'it waits for an instance'],
    ]);
  });

  it('prices nodes whose pool has gone, and takes off what goes already', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const state = await world.ports.cluster.read();
    const [first, ...others] = state.objects.nodeClaims;
    if (first === undefined) throw new Error('no NodeClaim');
    const nodeClaims = [{ ...first, deletedAtMs: 1 }, ...others];
    const objects = { ...state.objects, nodePools: [], nodeClaims };
    const { catalog, cluster, clock } = world.ports;
    const input = { live: cluster, catalog, prices, nowMs: clock.nowMs() };
    const found = await preview({ ...input, state: { ...state, objects } });
    expect(found.pricePerHour.now).toBeCloseTo(world.pricePerHour(), 9);
    expect(found.pricePerHour.after).toBeCloseTo(world.pricePerHour() / 2, 9);
    expect(found.leaving).toEqual([
      { nodeClaim: first.name, why: 'it is being drained and terminated' },
    ]);
  });

  it('has empty nodes that go, and what that saves', async () => {
    const pool = nodePool(['on-demand'], allAtOnce);
    const { world, script } = await smallWorld([nodeClass, pool, spread('web', 3)]);
    await world.run(world.timeline.nowMs() + 3 * MINUTE);
    script.apply([spread('web', 1)]);
    await world.run(world.timeline.nowMs() + 40_000);
    const found = await previewOf(world);
    expect(found.removals).toHaveLength(2);
    expect(found.removals[0]).toMatchObject({
      action: 'remove',
      pods: 0,
      why: 'The node is empty',
      capacityType: 'on-demand',
    });
    const { now, after } = found.pricePerHour;
    expect(after).toBeCloseTo(now / 3, 9);
    await world.run(world.timeline.nowMs() + 2 * MINUTE);
    expect(world.pricePerHour()).toBeCloseTo(after, 9);
  });
});

describe('a preview with changed manifests', () => {
  it('has the pods that a workload gets more', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const { launches, plan } = await previewOf(world, [spread('web', 5)]);
    expect(launches).toHaveLength(3);
    expect(launches.flatMap(({ pods }) => pods).sort()).toEqual([
      'default/web-new1',
      'default/web-new2',
      'default/web-new3',
    ]);
    expect(plan.unplaced.size).toBe(0);
  });

  it('has the pods of a workload that is new', async () => {
    const world = await runningWorld([spread('web', 1)]);
    expect((await previewOf(world, [spread('api', 2)])).launches).not.toEqual([]);
  });

  it('says which nodes drift, and replaces one first', async () => {
    const world = await runningWorld([spread('web', 3)]);
    const pool = nodePool(['on-demand'], allAtOnce);
    const spec = pool['spec'] as { readonly template: Json };
    const template = { ...spec.template, metadata: { labels: { team: 'red' } } };
    const found = await previewOf(world, [{ ...pool, spec: { ...spec, template } }]);
    expect(found.drifted.map(({ reason }) => reason)).toEqual(Array(3).fill('NodePoolDrifted'));
    expect(found.removals).toHaveLength(1);
    const [removal] = found.removals;
    expect(removal).toMatchObject({ action: 'replace', pods: 1 });
    expect(found.launches.map(({ replaces }) => replaces)).toEqual([removal?.nodeClaim]);
    expect(found.held.map(({ message }) => message).join()).toContain('is the canary of');
  });

  it('shows what an overlay does to the choice', async () => {
    const { world } = await waitingWorld([deployment('web', 1, '1')]);
    const cheap = (await previewOf(world)).launches[0]?.chosen?.type ?? '';
    const overlay = {
      apiVersion: 'karpenter.sh/v1alpha1',
      kind: 'NodeOverlay',
      metadata: { name: 'dear' },
      spec: {
        requirements: [{ key: INSTANCE_TYPE, operator: 'In', values: [cheap] }],
        priceAdjustment: '+900%',
      },
    };
    const after = await previewOf(world, [overlay]);
    expect(after.launches[0]?.chosen?.type).not.toBe(cheap);
    expect(after.overlays.map(({ name, ready }) => [name, ready])).toEqual([['dear', true]]);
  });

  it('plans a pool that is new with a class that is there', async () => {
    const { world } = await waitingWorld([deployment('web', 1, '1')], nodePool(['spot']));
    const heavy = { ...nodePool(['on-demand'], { weight: 50 }), metadata: { name: 'heavy' } };
    const { launches } = await previewOf(world, [heavy]);
    expect(launches.map(({ nodePool: pool }) => pool)).toEqual(['heavy']);
  });

  it('says what it does not look at', async () => {
    const world = await runningWorld([]);
    const other = { ...nodeClass, metadata: { name: 'other' } };
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b' },
    };
    const state = await world.ports.cluster.read();
    expect(withChanges(state, [nodeClass, other, budget]).notes).toEqual([
      expect.stringContaining('not looked up anew'),
      expect.stringContaining('EC2NodeClass other is new'),
      'PodDisruptionBudget b is not taken into account',
    ]);
  });

  it('counts the pods of a workload by what made them, not by labels that others share', async () => {
    const world = await runningWorld([spread('web', 3)]);
    const canary = deployment('web-canary', 2, '1');
    const { spec } = canary as { readonly spec: { readonly template: Json } };
    const template = { ...spec.template, metadata: { labels: { app: 'web' } } };
    const { plan } = await previewOf(world, [{ ...canary, spec: { ...spec, template } }]);
    const placed = [...plan.newNodeClaims, ...plan.existing].flatMap(({ pods }) => pods);
    expect(placed.sort()).toEqual(['default/web-canary-new1', 'default/web-canary-new2']);
  });

  it.each<[string, Json]>([
    ['node labels', { nodeSelector: { 'kubernetes.io/arch': 'amd64' } }],
    ['a taint', { tolerations: [{ key: 'team', operator: 'Exists' }] }],
    ['labels of nodes, if it may', { affinity: { nodeAffinity: PREFERS_SPOT } }],
    ['no other pods', { affinity: {} }],
  ])('makes the pods of a workload anew where its template now names %s', async (_, rules) => {
    const world = await runningWorld([spread('web', 3)]);
    const web = spread('web', 3) as { readonly spec: { readonly template: { spec: Json } } };
    const template = { ...web.spec.template, spec: { ...web.spec.template.spec, ...rules } };
    const state = await world.ports.cluster.read();
    const changed = withChanges(state, [{ ...web, spec: { ...web.spec, template } }]);
    expect(changed.notes).toEqual([expect.stringContaining('have other scheduling rules')]);
    expect(changed.state.objects.pods.map(({ nodeName }) => nodeName)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('takes a workload that names no namespace as one of the context', async () => {
    const world = await runningWorld([spread('web', 3)]);
    const state = await world.ports.cluster.read();
    const { objects } = state;
    const pods = objects.pods.map((pod) => ({ ...pod, namespace: 'shop' }));
    const live = { ...state, objects: { ...objects, pods } };
    const { metadata, ...rest } = spread('web', 4) as { readonly metadata: Json };
    const { namespace: _, ...unplaced } = metadata;
    const web = { ...rest, metadata: unplaced };
    const keysOf = (namespace?: string) =>
      withChanges(live, [web], namespace).state.objects.pods.map(podKey).slice(3);
    expect(keysOf('shop')).toEqual(['shop/web-new1']);
    expect(keysOf()).toHaveLength(4);
  });

  it('leaves pods as they are, to which the API server has added what is in no template', async () => {
    const world = await runningWorld([spread('web', 3)]);
    const state = await world.ports.cluster.read();
    const added = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
    const pods = state.objects.pods.map((pod) => {
      const tolerations = [{ ...added, value: '', tolerationSeconds: 300 } as never];
      const podAntiAffinity = pod.spec.podAntiAffinity.map((each) => ({
        ...each,
        labelSelector: { matchLabels: { app: 'web', hash: '1' }, matchExpressions: [] },
      }));
      return { ...pod, spec: { ...pod.spec, tolerations, podAntiAffinity } };
    });
    const live = { ...state, objects: { ...state.objects, pods } };
    const changed = withChanges(live, [spread('web', 3)]);
    expect(changed.notes).toEqual([]);
    expect(changed.state.objects.pods).toEqual(pods);
  });

  it('gives further pods of a workload what admission has given those that are there', async () => {
    const world = await runningWorld([spread('web', 3)]);
    const state = await world.ports.cluster.read();
    const web = JSON.parse(JSON.stringify(spread('web', 4))) as {
      readonly spec: { readonly template: { readonly spec: Json } };
    };
    const { spec } = web.spec.template;
    // A LimitRange has the requests, a PriorityClass the priority.
    const containers = [{ name: 'main', image: 'app' }];
    Object.assign(spec, { containers, priorityClassName: 'high' });
    const { objects } = state;
    const hash = { 'pod-template-hash': '1' };
    const pods = objects.pods.map((pod) => ({
      ...pod,
      labels: { ...pod.labels, ...hash },
      spec: { ...pod.spec, priority: 7 },
    }));
    const live = { ...state, objects: { ...objects, pods } };
    const changed = withChanges(live, [web]);
    expect(changed.notes).toEqual([]);
    const [, , , added] = changed.state.objects.pods;
    expect(added).toMatchObject({ name: 'web-new1', labels: hash, spec: { priority: 7 } });
    expect(added?.spec.requests).toEqual(pods[0]?.spec.requests);
    // Where all are made anew only the template says what they request.
    Object.assign(spec, { nodeSelector: { 'kubernetes.io/arch': 'amd64' } });
    const { notes } = withChanges(live, [web]);
    expect(notes).toContainEqual(expect.stringContaining('PriorityClass high is not looked up'));
  });

  it.each<[string, Json, number, string]>([
    ['requests something else', spread('web', 3), 3, 'all are made anew'],
    ['has fewer replicas', spread('web', 1), 0, '2 of its pods go'],
  ])('says of a workload that it %s', async (what, manifest, waiting, note) => {
    const world = await runningWorld([spread('web', 3)]);
    const text = JSON.stringify(manifest);
    const changed = what.startsWith('requests') ? text.replace('"cpu":"1"', '"cpu":"1500m"') : text;
    const state = await world.ports.cluster.read();
    const { state: after, notes } = withChanges(state, [JSON.parse(changed) as Json]);
    expect(notes).toEqual([expect.stringContaining(note)]);
    expect(after.objects.pods.filter(({ nodeName }) => nodeName === undefined)).toHaveLength(
      waiting,
    );
  });

  it.each([
    ['argoproj.io/v1alpha1', 'Rollout', 2],
    ['v1', 'ReplicationController', 5],
    ['example.com/v1', 'Workers', 5],
  ])('takes a workload of %s %s by its pod template', async (apiVersion, kind, waiting) => {
    const world = await runningWorld([spread('web', 3)]);
    const state = await world.ports.cluster.read();
    // Pods of a Rollout are those of its ReplicaSets, as those of the Deployment before it.
    const manifest = { ...spread('web', 5), apiVersion, kind };
    const { state: after, notes } = withChanges(state, [manifest]);
    expect(notes).toEqual([]);
    const pods = after.objects.pods.filter(({ nodeName }) => nodeName === undefined);
    expect(pods).toHaveLength(waiting);
  });

  it('takes a pod that is there as made anew', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const state = await world.ports.cluster.read();
    const [pod] = state.objects.pods;
    const containers = [{ name: 'main', resources: { requests: { cpu: '1' } } }];
    const metadata = { name: pod?.name, namespace: pod?.namespace };
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } };
    const { state: after, notes } = withChanges(state, [manifest]);
    expect(notes).toEqual([expect.stringContaining('made anew')]);
    expect(after.objects.pods.map(({ nodeName }) => nodeName)).toEqual([undefined]);
  });
});
