import { expect, it } from 'vitest';
import { joiningNodes } from '../../shared/kube/joining-nodes.ts';
import { RESOURCES } from '../../shared/kube/resources.ts';
import { type WakeUp, watchWakeUps } from '../../shared/kube/wake-ups.ts';
import { ensureNamespace } from '../contract/kube-objects.ts';
import { establishCrds, ourCrds } from '../support/control-plane/crds.ts';
import { clientOf, describeWithControlPlane } from '../support/control-plane/suite.ts';

const WAIT_MS_MAX = 15_000;

const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
const resources = { requests: { cpu: '1' } };
const container = { name: 'app', image: 'app', resources };

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
    const claim = { metadata: { name: 'general-1' }, spec: { nodeClassRef, requirements: [] } };
    await admin().create(RESOURCES.nodeClaims, claim);
    await wokenBy('nodeclaim-created');
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
  }, 60_000);

  it('of nodes end a pause while they join, and not once they are initialised', async () => {
    const client = clientOf(plane(), 'joiner-lifecycle');
    const joining = joiningNodes(client);
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
  }, 60_000);
});
