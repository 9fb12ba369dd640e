import { expect, it } from 'vitest';
import { RESOURCES, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { lifecycleNews } from '../../shared/kube/lifecycle-news.ts';
import type { WakeUp } from '../../shared/kube/wake-sources.ts';
import { watchWakeUps } from '../../shared/kube/wake-ups.ts';
import { ensureNamespace } from '../contract/kube-objects.ts';
import { establishCrds, ourCrds } from '../support/control-plane/crds.ts';
import { clientOf, describeWithControlPlane } from '../support/control-plane/suite.ts';

const WAIT_MS_MAX = 15_000;

const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
const resources = { requests: { cpu: '1' } };
const container = { name: 'app', image: 'app', resources };

type Wait = (kind: WakeUp, since?: number) => Promise<void>;

/** Pools and classes that become ready, and buffers whose workload grows. */
async function turns(client: KubeClient, wokenBy: Wait, woken: readonly WakeUp[]): Promise<void> {
  const statusOf = (status: string, rest: object = {}) => {
    const at = { lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'Ready', message: '' };
    return { ...rest, conditions: [{ type: 'Ready', status, ...at }] };
  };
  const patch = async (resource: Resource, name: string, value: object, below?: 'status') => {
    const address = { name, ...(resource.namespaced ? { namespace: 'default' } : {}) };
    const since = woken.length;
    await client.patch(resource, address, { kind: 'merge', value }, below);
    return since;
  };
  const { nodePools, nodeClasses, nodeOverlays, capacityBuffers, deployments } = RESOURCES;
  await patch(nodePools, 'general', { status: statusOf('False') }, 'status');
  const ready = await patch(nodePools, 'general', { status: statusOf('True') }, 'status');
  await wokenBy('nodepool-ready', ready);
  const role = { role: 'node-role', amiSelectorTerms: [{ alias: 'al2023@latest' }] };
  const terms = [{ tags: { a: 'b' } }];
  const spec = { ...role, subnetSelectorTerms: terms, securityGroupSelectorTerms: terms };
  await client.create(nodeClasses, { metadata: { name: 'default' }, spec });
  await wokenBy('nodeclass-changed');
  const subnets = [{ id: 'subnet-1', zone: 'us-east-1a' }];
  const found = { status: statusOf('True', { subnets }) };
  await wokenBy('nodeclass-resolved', await patch(nodeClasses, 'default', found, 'status'));
  const overlay = { requirements: [], priceAdjustment: '-10%' };
  await client.create(nodeOverlays, { metadata: { name: 'cheaper' }, spec: overlay });
  await wokenBy('nodeoverlay-changed');
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const web = { replicas: 0, selector: { matchLabels: labels }, template };
  await client.create(deployments, { metadata: { name: 'web' }, spec: web }, 'default');
  const scalableRef = { apiGroup: 'apps', kind: 'Deployment', name: 'web' };
  const buffer = { scalableRef, percentage: 50 };
  await client.create(capacityBuffers, { metadata: { name: 'room' }, spec: buffer }, 'default');
  await wokenBy('capacitybuffer-changed');
  // Once it has been looked at for the first time.
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const grown = await patch(deployments, 'web', { spec: { replicas: 1 } });
  await wokenBy('capacitybuffer-changed', grown);
}

await describeWithControlPlane('wake-ups on a real control plane', ({ admin, plane }) => {
  it('come within moments of what happens, for what was there before, and not for heartbeats', async () => {
    await ensureNamespace(admin(), 'default');
    await establishCrds(admin(), await ourCrds());
    const pod = (name: string) => ({ metadata: { name }, spec: { containers: [container] } });
    await admin().create(RESOURCES.pods, pod('before'), 'default');
    const woken: WakeUp[] = [];
    const over = new AbortController();
    let isReady = false;
    const client = clientOf(plane(), 'joiner-watch');
    const watching = watchWakeUps({
      client,
      wake: (kind) => woken.push(kind),
      signal: over.signal,
      onReady: () => {
        isReady = true;
      },
    });
    const wokenBy = async (kind: WakeUp, since = 0): Promise<void> => {
      const deadline = Date.now() + WAIT_MS_MAX;
      while (!woken.includes(kind, since)) {
        if (Date.now() > deadline) throw new Error(`no ${kind}; ${woken.join(', ')}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await wokenBy('pods-unschedulable');
    // Once kube-scheduler has come to rest, a nomination of ours is no news, and a new label is.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const target = { namespace: 'default', name: 'before' };
    const heard = woken.length;
    const nomination = { status: { nominatedNodeName: 'planned' } };
    const merge = (value: object, below?: 'status') =>
      admin().patch(RESOURCES.pods, target, { kind: 'merge', value }, below);
    await merge(nomination, 'status');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(woken.slice(heard)).not.toContain('pods-unschedulable');
    await merge({ metadata: { labels: { team: 'a' } } });
    await wokenBy('pods-unschedulable', heard);
    const spec = { template: { spec: { nodeClassRef, requirements: [] } } };
    await admin().create(RESOURCES.nodePools, { metadata: { name: 'general' }, spec });
    await wokenBy('nodepool-changed');
    await turns(admin(), wokenBy, woken);
    const claim = { metadata: { name: 'general-1' }, spec: { nodeClassRef, requirements: [] } };
    await admin().create(RESOURCES.nodeClaims, claim);
    await wokenBy('nodeclaim-created');
    const stamp = { metadata: { finalizers: [] } };
    const whole = { kind: 'merge', value: stamp } as const;
    await admin().patch(RESOURCES.nodeClaims, { name: 'general-1' }, whole);
    await admin().delete(RESOURCES.nodeClaims, { name: 'general-1' }, {});
    await wokenBy('nodeclaim-gone');
    await admin().create(RESOURCES.nodes, { metadata: { name: 'n1' } });
    await wokenBy('node-joined');
    expect(isReady).toBe(true);
    const change = (metadata: object) =>
      admin().patch(RESOURCES.nodes, { name: 'n1' }, { kind: 'merge', value: { metadata } });
    /** How often a heartbeat and, after it, a change that matters wake somebody. */
    const wakesOf = async (beat: string): Promise<number> => {
      const since = woken.length;
      await change({ annotations: { beat } });
      await change({ labels: { team: beat } });
      await wokenBy('node-changed', since);
      return woken.slice(since).filter((kind) => kind === 'node-changed').length;
    };
    // The control plane taints the new node in its own time, which wakes, too: so more than one try.
    const wakes = [await wakesOf('a'), await wakesOf('b'), await wakesOf('c')];
    expect(wakes).toContain(1);
    await admin().delete(RESOURCES.nodes, { name: 'n1' }, {});
    await wokenBy('node-deleted');
    over.abort();
    await watching;
    await client.close();
  });

  it('of nodes end a pause while they join, and not once they are initialised', async () => {
    const client = clientOf(plane(), 'joiner-lifecycle');
    const joining = lifecycleNews(client);
    const pausedMs = async (ms: number): Promise<number> => {
      const startMs = performance.now();
      await joining.pause(ms);
      return performance.now() - startMs;
    };
    const change = (name: string, labels: Readonly<Record<string, string>>) =>
      admin().patch(RESOURCES.nodes, { name }, { kind: 'merge', value: { metadata: { labels } } });
    const pool = { 'karpenter.sh/nodepool': 'general' };
    const old = { ...pool, 'karpenter.sh/initialized': 'true' };
    await admin().create(RESOURCES.nodes, { metadata: { name: 'old', labels: old } });
    await joining.pause(500);
    const quiet = pausedMs(1500);
    await change('old', { beat: 'a' });
    expect(await quiet).toBeGreaterThan(1400);
    const early = pausedMs(WAIT_MS_MAX);
    await admin().create(RESOURCES.nodes, { metadata: { name: 'new', labels: pool } });
    expect(await early).toBeLessThan(WAIT_MS_MAX / 2);
    // What happens between two pauses ends the next one.
    await change('new', { beat: 'a' });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await pausedMs(WAIT_MS_MAX)).toBeLessThan(WAIT_MS_MAX / 2);
    await joining.close();
    await client.close();
  });

  it('end a long pause of a blocked drain: a mark, a claim, a budget, a pod that goes', async () => {
    const client = clientOf(plane(), 'joiner-lifecycle');
    const news = lifecycleNews(client);
    const pool = { 'karpenter.sh/nodepool': 'general' };
    const drained = { ...pool, 'karpenter.sh/initialized': 'true' };
    await admin().create(RESOURCES.nodes, { metadata: { name: 'drained', labels: drained } });
    const pod = (name: string) => ({
      metadata: { name, labels: { app: 'kept' } },
      spec: { nodeName: 'drained', terminationGracePeriodSeconds: 0, containers: [container] },
    });
    await admin().create(RESOURCES.pods, pod('kept-1'), 'default');
    const budget = { selector: { matchLabels: { app: 'kept' } }, maxUnavailable: 0 };
    const address = { namespace: 'default', name: 'kept' };
    const { podDisruptionBudgets: budgets, leases, nodeClaims } = RESOURCES;
    await admin().create(budgets, { metadata: { name: 'kept' }, spec: budget }, 'default');
    const lease = { namespace: 'kube-system', name: 'joiner-lifecycle' };
    await ensureNamespace(admin(), 'kube-system');
    await admin().create(leases, { metadata: { name: lease.name }, spec: {} }, 'kube-system');
    const pausedMs = async (ms: number): Promise<number> => {
      const startMs = performance.now();
      await news.pause(ms, ['drained']);
      return performance.now() - startMs;
    };
    const mark = (value: string) => {
      const annotations = { 'joiner.dev/wake': value };
      return admin().patch(leases, lease, { kind: 'merge', value: { metadata: { annotations } } });
    };
    // What was there before is news once.
    await news.pause(1_000, ['drained']);
    await news.pause(1_000, ['drained']);
    const quiet = pausedMs(2_000);
    await mark('tick/a/1');
    expect(await quiet).toBeGreaterThan(1_900);
    const claim = { metadata: { name: 'other' }, spec: { nodeClassRef, requirements: [] } };
    const allowed = { status: { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0 } };
    const counts = { ...allowed.status, expectedPods: 1 };
    const merge = { kind: 'merge', value: { status: counts } } as const;
    const happenings: readonly (() => Promise<unknown>)[] = [
      () => mark('b/2'),
      () => admin().create(nodeClaims, claim),
      () => admin().patch(budgets, address, merge, 'status'),
      () => admin().delete(RESOURCES.pods, { namespace: 'default', name: 'kept-1' }, {}),
    ];
    for (const happen of happenings) {
      const early = pausedMs(WAIT_MS_MAX);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await happen();
      expect(await early).toBeLessThan(WAIT_MS_MAX / 3);
      // Whatever follows from it.
      await news.pause(1_500, ['drained']);
      await news.pause(1_500, ['drained']);
    }
    await news.close();
    await client.close();
  });
});
