import { describe, expect, it, vi } from 'vitest';
import type { ObjectRef, WaitingPod } from '../../shared/ports.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { aPlainPod, aReadyNode } from './kube-objects.ts';

/** What becomes of pods that wait for a node, and of their nominations. */
export function waitingPodsSuite(title: string, world: () => ClusterWorld): void {
  const cluster = () => world().cluster;

  describe(`${title}: pods without a node`, () => {
    const aPendingPod = async (name: string): Promise<ObjectRef> => {
      // Nobody looks for a node for it: what is written stays.
      await world().apply({
        apiVersion: 'v1',
        kind: 'Pod',
        ...aPlainPod(name, { schedulerName: 'nobody' }),
      });
      const state = await cluster().read();
      const pod = state.objects.pods.find((each) => each.name === name);
      return { kind: 'Pod', namespace: 'default', name, uid: pod?.uid ?? '' };
    };
    const podOf = async (name: string) => {
      const state = await cluster().read();
      return state.objects.pods.find((each) => each.name === name);
    };

    it('are nominated to a node by uid, also to another one later', async () => {
      const pod = await aPendingPod('nominate-1');
      expect(await cluster().nominate(pod, 'node-a')).toBe('done');
      expect(await podOf('nominate-1')).toMatchObject({
        nominatedNodeName: 'node-a',
        phase: 'Pending',
      });
      expect(await cluster().nominate(pod, 'node-b')).toBe('done');
      const other = { ...pod, uid: '0f0e9d3c-0000-4000-8000-00000000ffff' };
      expect(await cluster().nominate(other, 'node-c')).toBe('gone');
      expect(await podOf('nominate-1')).toMatchObject({ nominatedNodeName: 'node-b' });
      expect(await cluster().nominate({ ...pod, name: 'nominate-none' }, 'node-a')).toBe('gone');
    });

    it('are told of when their nomination changes and when they get a node or go', async () => {
      const [first, second] = [await aPendingPod('follow-1'), await aPendingPod('follow-2')];
      await world().apply({ apiVersion: 'v1', kind: 'Node', ...aReadyNode('node-follow') });
      const told: string[] = [];
      const over = new AbortController();
      const ended = Promise.withResolvers<void>();
      const names = new Map([first, second].map(({ uid, name }) => [uid, name]));
      const listener = {
        onChange: ({ uid, nominatedNodeName, nodeName, isOver }: WaitingPod) => {
          const name = names.get(uid);
          if (name === undefined) return;
          if (isOver) told.push(`${name} over ${nodeName}`);
          else told.push(`${name} ${nominatedNodeName}`);
        },
        onEnd: () => ended.resolve(),
      };
      const stream = await cluster().followWaitingPods(listener, over.signal);
      await cluster().nominate(second, 'node-a');
      await cluster().nominate(first, 'node-b');
      await vi.waitFor(() => expect(told).toEqual(['follow-2 node-a', 'follow-1 node-b']));
      const uids = await stream.order();
      const isTheirs = (uid: string) => names.has(uid);
      expect(uids.filter(isTheirs)).toEqual([second.uid, first.uid]);
      await cluster().deletePod(first, 0);
      await vi.waitFor(() => expect(told.at(-1)).toBe('follow-1 over undefined'));
      expect(await stream.order()).not.toContain(first.uid);
      await world().bind('follow-2', 'node-follow');
      await vi.waitFor(() => expect(told.at(-1)).toBe('follow-2 over node-follow'));
      expect(await stream.order()).not.toContain(second.uid);
      const third = await aPendingPod('follow-3');
      names.set(third.uid, third.name);
      over.abort();
      await ended.promise;
      await cluster().nominate(third, 'node-c');
      expect(told.at(-1)).toBe('follow-2 over node-follow');
    });

    it('are left where they are once they are bound', async () => {
      await world().apply({ apiVersion: 'v1', kind: 'Node', ...aReadyNode('node-nominate-2') });
      const manifest = aPlainPod('nominate-2', { nodeName: 'node-nominate-2' });
      await world().apply({ apiVersion: 'v1', kind: 'Pod', ...manifest });
      const { uid = '' } = (await podOf('nominate-2')) ?? {};
      const pod = { kind: 'Pod', namespace: 'default', name: 'nominate-2', uid } as const;
      // Before Kubernetes 1.35 it is written, and nobody looks at it.
      expect(['gone', 'done']).toContain(await cluster().nominate(pod, 'node-a'));
      expect(await podOf('nominate-2')).toMatchObject({ nodeName: 'node-nominate-2' });
    });
  });
}
