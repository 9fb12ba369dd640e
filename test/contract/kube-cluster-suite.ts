import { describe, expect, it, vi } from 'vitest';
import type { Condition } from '../../shared/core/model/cluster.ts';
import { property, text } from '../../shared/kube/list.ts';
import type {
  ConditionChange,
  NewNodeClaim,
  ObjectKind,
  ObjectRef,
  ReplicaSetRef,
} from '../../shared/ports.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { deploymentSuite } from './deployment-suite.ts';
import { aPlainPod, aReadyNode, aReplicaSet, REFUSED_SPEC } from './kube-objects.ts';
import { nodePoolSuite } from './node-pool-suite.ts';

const FINALIZER = 'karpenter.sh/termination';
const AT_MS = Date.UTC(2026, 0, 1);

export function aNewClaim(name: string, more: Partial<NewNodeClaim> = {}): NewNodeClaim {
  return {
    name,
    labels: { 'karpenter.sh/nodepool': 'default', team: 'a' },
    annotations: { 'joiner.dev/plan': '{}' },
    finalizers: [FINALIZER],
    nodePool: { name: 'default', uid: '0f0e9d3c-0000-4000-8000-000000000001' },
    requirements: [
      { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] },
      {
        key: 'node.kubernetes.io/instance-type',
        operator: 'In',
        values: ['c7g.large', 'c8g.large'],
        minValues: 2,
      },
    ],
    requests: { cpu: 1500, memory: 3 * 1024 ** 3, pods: 4 },
    taints: [{ key: 'dedicated', value: 'a', effect: 'NoSchedule' }],
    startupTaints: [{ key: 'example.com/boot', value: '', effect: 'NoExecute' }],
    nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
    expireAfter: 720 * 3_600_000,
    terminationGracePeriodMs: 90_000,
    ...more,
  };
}

const condition = (type: string, status: 'True' | 'False', reason: string) =>
  ({ type, status, reason, message: 'because', lastTransitionAtMs: AT_MS }) as const;

/** What every cluster behind the ports does; object names are unique to each case. */
export function clusterSuite(title: string, world: () => ClusterWorld): void {
  const cluster = () => world().cluster;
  const created = async (name: string, more: Partial<NewNodeClaim> = {}): Promise<ObjectRef> => {
    const { claim } = await cluster().createNodeClaim(aNewClaim(name, more));
    return { kind: 'NodeClaim', name, uid: claim.uid };
  };
  const claimOf = async (name: string) => {
    const state = await cluster().read();
    return state.objects.nodeClaims.find((each) => each.name === name);
  };
  /** On a machine that is busy, what was just made may be missing from the first look. */
  const versionOf = (kind: ObjectKind, name: string): Promise<string> =>
    vi.waitFor(async () => {
      const version = (await cluster().read()).resourceVersions.get(`${kind}/${name}`);
      if (version === undefined) throw new Error(`${kind} ${name} was not read`);
      return version;
    });

  it(`${title}: a CapacityBuffer is read with what its status says, as far as it says it`, async () => {
    const address = { namespace: 'default', name: 'buffer-1' };
    const spec = { podTemplateRef: { name: 'none' }, replicas: 0 };
    const [apiVersion, kind] = ['autoscaling.x-k8s.io/v1beta1', 'CapacityBuffer'] as const;
    await world().apply({ apiVersion, kind, metadata: address, spec });
    const said = { replicas: 2, provisioningStrategy: 'buffer.x-k8s.io/active-capacity' };
    for (const [podTemplate, podTemplateGeneration] of [['slot', 3] as const, []]) {
      const status = { ...said, podTemplate, podTemplateGeneration };
      const patch = { ...status, conditions: [condition('Provisioning', 'True', 'a')] };
      await cluster().patchCapacityBufferStatus({ kind, ...address }, patch);
      const { capacityBuffers } = await cluster().read();
      expect(capacityBuffers.map((each) => each.status)).toContainEqual(status);
    }
  });

  describe(`${title}: node claims`, () => {
    it('are created once; the second create returns what is there', async () => {
      const wanted = aNewClaim('create-1');
      const first = await cluster().createNodeClaim(wanted);
      expect(first.result).toBe('done');
      const { nodeClaims } = await cluster().readClaims();
      expect(nodeClaims.map(({ name }) => name)).toContain('create-1');
      await created('create-1-marked', { labels: { mark: 'a', team: 'a' } });
      const marked = await cluster().readClaims('mark');
      expect(marked.nodeClaims.map(({ name }) => name)).toEqual(['create-1-marked']);
      const { labels, requirements, requests, taints, startupTaints } = wanted;
      const { annotations, finalizers, expireAfter, terminationGracePeriodMs } = wanted;
      const said = { labels, requirements, requests, taints, startupTaints, annotations };
      const expected = { ...said, finalizers, expireAfter, terminationGracePeriodMs };
      expect(first.claim).toMatchObject(expected);
      const again = await cluster().createNodeClaim({ ...wanted, labels: { other: 'label' } });
      expect(again.result).toBe('exists');
      expect(again.claim.uid).toBe(first.claim.uid);
      expect(again.claim.labels).toEqual(labels);
      expect(await claimOf('create-1')).toMatchObject(expected);
    });

    it('are found to expire never, and without a grace period', async () => {
      const never = { expireAfter: 'Never', terminationGracePeriodMs: undefined } as const;
      await created('create-2', never);
      expect(await claimOf('create-2')).toMatchObject(never);
    });

    it('have labels and annotations merged, null removes', async () => {
      const ref = await created('merge-1');
      const patch = { labels: { team: null, new: 'b' }, annotations: { note: 'n' } };
      expect(await cluster().patchNodeClaim(ref, patch)).toBe('done');
      const claim = await claimOf('merge-1');
      expect(claim?.labels).toEqual({ 'karpenter.sh/nodepool': 'default', new: 'b' });
      expect(claim?.annotations).toMatchObject({ note: 'n', 'joiner.dev/plan': '{}' });
    });

    it('are refused: changed since, another of that name, absent', async () => {
      const ref = await created('refuse-1');
      const resourceVersion = await versionOf('NodeClaim', 'refuse-1');
      const patch = { labels: { x: '1' } };
      const seen = { ...ref, resourceVersion };
      expect(await cluster().patchNodeClaim(seen, patch)).toBe('done');
      expect(await cluster().patchNodeClaim(seen, { labels: { x: '2' } })).toBe('conflict');
      const other = { ...ref, uid: '0f0e9d3c-0000-4000-8000-00000000ffff' };
      expect(await cluster().patchNodeClaim(other, patch)).toBe('gone');
      expect(await cluster().patchNodeClaimStatus(other, { nodeName: 'n' })).toBe('gone');
      expect(await cluster().delete(other)).toBe('gone');
      const absent = { kind: 'NodeClaim', name: 'refuse-none' } as const;
      expect(await cluster().patchNodeClaim(absent, patch)).toBe('gone');
      expect(await cluster().patchNodeClaimStatus(absent, { conditions: () => [] })).toBe('gone');
      expect(await cluster().delete(absent)).toBe('gone');
    });

    it('get a status: fields left out stay, conditions are changed as they are now', async () => {
      const ref = await created('status-1');
      const launched = condition('Launched', 'True', 'Launched');
      const providerId = 'aws:///us-east-1a/i-1';
      const first = { providerId, imageId: 'ami-1', capacity: { cpu: 2000 } };
      const patchStatus = cluster().patchNodeClaimStatus.bind(cluster());
      expect(await patchStatus(ref, { ...first, conditions: () => [launched] })).toBe('done');
      const lastPodEventAtMs = Date.UTC(2026, 0, 1);
      expect(await patchStatus(ref, { nodeName: 'node-1', lastPodEventAtMs })).toBe('done');
      const more = { nodeName: 'node-1', lastPodEventAtMs, conditions: [launched] };
      const expected = { ...first, ...more };
      expect(await claimOf('status-1')).toMatchObject(expected);
      const registered = condition('Registered', 'False', 'NodeNotFound');
      const seen: unknown[] = [];
      const conditions: ConditionChange = (now) => {
        seen.push(now);
        return [registered];
      };
      expect(await patchStatus(ref, { conditions })).toBe('done');
      expect(seen).toEqual([[launched]]);
      expect((await claimOf('status-1'))?.conditions).toEqual([registered]);
    });

    it('keep the conditions of all who write at once, however old what they have read is', async () => {
      const ref = await created('status-2');
      const launched = condition('Launched', 'True', 'Launched');
      const stale = condition('Stale', 'True', 'Stale');
      const saying = (...set: readonly Condition[]) =>
        cluster().patchNodeClaimStatus(ref, {
          conditions: (now) => [
            ...now.filter(({ type }) => set.every((each) => each.type !== type)),
            ...set,
          ],
        });
      expect(await saying(launched, stale)).toBe('done');
      const types = ['Registered', 'Drifted', 'Drained'];
      const drop = {
        conditions: (now: readonly Condition[]) => now.filter((each) => each.type !== 'Stale'),
      };
      const results = await Promise.all([
        ...types.map((type) => saying(condition(type, 'True', type))),
        cluster().patchNodeClaimStatus(ref, drop),
      ]);
      expect(results).toEqual(['done', 'done', 'done', 'done']);
      const after = (await claimOf('status-2'))?.conditions.map(({ type }) => type);
      expect(after?.toSorted()).toEqual(['Drained', 'Drifted', 'Launched', 'Registered']);
    });

    it('let only one of two writers win who saw the same version', async () => {
      const ref = await created('race-1');
      const resourceVersion = await versionOf('NodeClaim', 'race-1');
      const write = (nodeName: string) =>
        cluster().patchNodeClaimStatus({ ...ref, resourceVersion }, { nodeName });
      const results = await Promise.all([write('a'), write('b')]);
      expect(results.toSorted()).toEqual(['conflict', 'done']);
    });

    it('stay while a finalizer holds them, and go when the last one does', async () => {
      const ref = await created('delete-1');
      expect(await cluster().patchNodeClaim(ref, { addFinalizer: 'example.com/b' })).toBe('done');
      expect(await cluster().patchNodeClaim(ref, { addFinalizer: 'example.com/b' })).toBe('done');
      expect((await claimOf('delete-1'))?.finalizers).toEqual([FINALIZER, 'example.com/b']);
      expect(await cluster().delete(ref)).toBe('done');
      expect(await cluster().delete(ref)).toBe('done');
      expect((await claimOf('delete-1'))?.deletedAtMs).toBeDefined();
      const late = { addFinalizer: 'example.com/late' };
      expect(await cluster().patchNodeClaim(ref, late)).toBe('conflict');
      for (const removeFinalizer of ['example.com/none', 'example.com/b', FINALIZER]) {
        expect(await cluster().patchNodeClaim(ref, { removeFinalizer })).toBe('done');
      }
      expect(await claimOf('delete-1')).toBeUndefined();
      expect(await cluster().delete(ref)).toBe('gone');
    });
  });

  nodePoolSuite(title, world);

  describe(`${title}: nodes`, () => {
    it('get taints, labels, a finalizer and an owner in one write', async () => {
      await world().apply({ apiVersion: 'v1', kind: 'Node', ...aReadyNode('node-write') });
      const owner = await created('node-owner');
      const ref = { kind: 'Node', name: 'node-write' } as const;
      const taints = [{ key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' }] as const;
      const uid = owner.uid ?? '';
      const patch = {
        taints,
        labels: { 'karpenter.sh/registered': 'true' },
        addFinalizer: FINALIZER,
        owner: { kind: 'NodeClaim', name: 'node-owner', uid },
      };
      expect(await cluster().patchNode(ref, patch)).toBe('done');
      expect(await cluster().patchNode(ref, patch)).toBe('done');
      const state = await cluster().read();
      const node = state.objects.nodes.find((each) => each.name === 'node-write');
      expect(node?.taints).toEqual(taints);
      expect(node?.labels).toMatchObject({ 'karpenter.sh/registered': 'true' });
      const raw = await world().raw('Node', undefined, 'node-write');
      const reference = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'node-owner' };
      expect(raw).toMatchObject({
        metadata: { finalizers: [FINALIZER], ownerReferences: [{ ...reference, uid }] },
      });
      expect(await cluster().delete(ref)).toBe('done');
      expect(await cluster().patchNode(ref, { removeFinalizer: FINALIZER })).toBe('done');
      expect(await cluster().patchNode(ref, { labels: { x: 'y' } })).toBe('gone');
    });
  });

  describe(`${title}: a node that others change`, () => {
    it('gets taints unless its taints are what has changed', async () => {
      const before = [{ key: 'a', value: '', effect: 'NoSchedule' }] as const;
      const other = [{ key: 'b', value: 'x', effect: 'NoExecute' }] as const;
      const name = 'node-taints';
      const manifest = aReadyNode(name);
      await world().apply({
        apiVersion: 'v1',
        kind: 'Node',
        ...manifest,
        spec: { taints: before },
      });
      const ref = { kind: 'Node', name } as const;
      const stale = { ...ref, resourceVersion: await versionOf('Node', name) };
      await cluster().patchNode(ref, { labels: { beat: 'a' } });
      expect(await cluster().patchNode(stale, { taints: other })).toBe('conflict');
      const wrong = { taints: [], taintsBefore: other };
      expect(await cluster().patchNode(ref, wrong)).toBe('conflict');
      const { node: found } = await cluster().readNode(name);
      const taintsBefore = found?.taints ?? [];
      expect(taintsBefore).toEqual(expect.arrayContaining([...before]));
      expect(await cluster().patchNode(ref, { taints: other, taintsBefore })).toBe('done');
      const { node } = await cluster().readNode(name);
      expect(node?.taints).toEqual(other);
    });
  });

  describe(`${title}: pods`, () => {
    const aRunningPod = async (name: string, app: string): Promise<ObjectRef> => {
      await world().apply({ apiVersion: 'v1', kind: 'Node', ...aReadyNode(`node-${name}`) });
      const labels = { app };
      await world().apply({
        apiVersion: 'v1',
        kind: 'Pod',
        ...aPlainPod(name, { nodeName: `node-${name}`, terminationGracePeriodSeconds: 30 }),
        metadata: { name, namespace: 'default', labels },
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      });
      const state = await cluster().read();
      const pod = state.objects.pods.find((each) => each.name === name);
      expect(pod).toMatchObject({ phase: 'Running', ready: true, nodeName: `node-${name}` });
      return { kind: 'Pod', namespace: 'default', name, uid: pod?.uid ?? '' };
    };

    it('are read with their node, without the others', async () => {
      const { name } = await aRunningPod('alone-1', 'alone-1');
      await aRunningPod('alone-2', 'alone-2');
      const { node, pods } = await cluster().readNode(`node-${name}`);
      expect(node).toMatchObject({ name: `node-${name}` });
      expect(pods.map((pod) => pod.name)).toEqual([name]);
      expect(await cluster().readNode('node-none')).toEqual({ node: undefined, pods: [] });
    });

    it('are evicted by uid; another pod of that name is not', async () => {
      const pod = await aRunningPod('evict-1', 'evict-1');
      const other = { ...pod, uid: '0f0e9d3c-0000-4000-8000-00000000ffff' };
      expect(await cluster().evict(other)).toBe('gone');
      expect(await cluster().evict(pod)).toBe('done');
      expect(await cluster().evict({ ...pod, name: 'evict-none' })).toBe('gone');
    });

    it('are kept by a budget from eviction, but not from their deadline', async () => {
      const app = 'guarded';
      const pod = await aRunningPod('evict-2', app);
      await world().apply({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: app, namespace: 'default' },
        spec: { minAvailable: 1, selector: { matchLabels: { app } } },
      });
      await expect
        .poll(async () => {
          const state = await cluster().read();
          return state.objects.podDisruptionBudgets.find((each) => each.name === app);
        })
        .toMatchObject({ minAvailable: 1, disruptionsAllowed: 0 });
      await expect.poll(() => cluster().evict(pod)).toBe('blocked');
      const other = { ...pod, uid: '0f0e9d3c-0000-4000-8000-00000000ffff' };
      expect(await cluster().deletePod(other, 1)).toBe('gone');
      expect(await cluster().deletePod(pod, 1)).toBe('done');
    });
  });

  describe(`${title}: ReplicaSets`, () => {
    const refOf = async (manifest: object): Promise<ReplicaSetRef> => {
      await world().apply(manifest);
      const name = text(property(property(manifest, 'metadata'), 'name'));
      const object = await world().raw('ReplicaSet', 'default', name);
      return {
        namespace: 'default',
        name,
        uid: text(property(property(object, 'metadata'), 'uid')),
      };
    };

    it('say how many pods they want, unless they are gone', async () => {
      const three = await refOf(aReplicaSet('wanted-3', 3));
      const none = await refOf(aReplicaSet('wanted-0', 0));
      const another = { ...three, uid: '0f0e9d3c-0000-4000-8000-00000000ffff' };
      const absent = { ...another, name: 'absent' };
      const wanted = await cluster().wantedPods([three, none, another, absent]);
      expect([...wanted].join()).toBe([three.uid, 3, none.uid, 0].join());
    });

    it('want none where their pods are refused', async () => {
      const status = { replicas: 0, conditions: [{ type: 'ReplicaFailure', status: 'True' }] };
      const refused = await refOf({ ...aReplicaSet('refused', 2, REFUSED_SPEC), status });
      await expect.poll(() => cluster().wantedPods([refused])).toEqual(new Map());
    });
  });

  deploymentSuite(title, world);

  describe(`${title}: events`, () => {
    it('that say the same of the same object are counted', async () => {
      const regarding = await created('event-1');
      const event = { regarding, type: 'Warning', reason: 'FailedDraining' } as const;
      await cluster().event({ ...event, message: 'first' });
      await cluster().event({ ...event, message: 'second' });
      const counted = { reason: 'FailedDraining', count: 1 };
      expect(await world().events(regarding)).toEqual([counted, counted]);
    });
  });
}
