import { describe, expect, it } from 'vitest';
import type { BufferReference } from '../../shared/api/capacity-buffer.ts';
import type { Issue } from '../../shared/api/issue.ts';
import { kindDecoders } from '../../shared/api/kinds.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import { batchWindow } from '../../shared/kube/batch-window.ts';
import { resolveBuffers } from '../../shared/kube/buffer-targets.ts';
import { clusterReader } from '../../shared/kube/cluster-reader.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import type { OnInvalid } from '../../shared/kube/informer.ts';
import type { Timing } from '../../shared/kube/time.ts';
import type { HttpRequest, HttpResponse } from '../../shared/kube/transport.ts';
import { bufferOf } from '../builders/capacity-buffers.ts';
import { answer, FakeTiming, frozenTiming, memoryClient, streaming } from './kube-memory.ts';

/** An API server that has one object of each name, but for those whose answer is a refusal. */
function serverWith(refusals: Readonly<Record<string, number>>, object: object) {
  const asked: string[] = [];
  const client = memoryClient(({ path }: HttpRequest): HttpResponse => {
    const name = path.split('?')[0]?.split('/').at(-1) ?? '';
    asked.push(name);
    const status = refusals[name];
    return status === undefined ? answer(200, object) : answer(status, { message: 'no' });
  }, new FakeTiming());
  return { client, asked };
}

describe('what tenants name', () => {
  const template = (name: string): BufferReference => ({ kind: 'PodTemplate', name });
  const slot = { template: { spec: { containers: [{ name: 'a', image: 'a' }] } } };

  it.each([400, 403, 422])(
    'a buffer whose target answers %i has none; the others do',
    async (status) => {
      const { client } = serverWith({ bad: status, gone: 404 }, slot);
      const told: (readonly [string, readonly Issue[]])[] = [];
      const bad = { kind: 'ScalableRef', workload: 'Deployment', name: 'bad' } as const;
      const onInvalid: OnInvalid = (...each) => void told.push(each);
      const buffers = await resolveBuffers({ client, onInvalid, limitRanges: new Map() }, [
        bufferOf('a', template('slot')),
        bufferOf('b', bad),
        bufferOf('c', template('gone')),
      ]);
      const message = expect.stringContaining('deployments.apps/team/bad: no');
      expect(buffers.map(({ target }) => target)).toEqual([
        expect.objectContaining({ kind: 'resolved', podTemplate: 'slot' }),
        { kind: 'absent', what: 'ScalableRef', name: 'bad', refusal: message },
        { kind: 'absent', what: 'PodTemplate', name: 'gone' },
      ]);
      expect(told).toEqual([['CapacityBuffer/team/b', [{ path: 'spec.scalableRef', message }]]]);
    },
  );

  it.each([401, 429, 503])('a server that answers %i fails the read', async (status) => {
    const { client } = serverWith({ slot: status }, slot);
    const buffers = [bufferOf('a', template('slot'))];
    const resolving = { client, onInvalid: () => undefined, limitRanges: new Map() };
    await expect(resolveBuffers(resolving, buffers)).rejects.toThrow('no');
  });

  it.each(['', '.', '..', 'a%b', 'a/b', '../../nodes/n', '\ud800', 'x'.repeat(254)])(
    'nothing is asked for by the name %j',
    async (name) => {
      const { client, asked } = serverWith({}, slot);
      const get = client.get(RESOURCES.podTemplates, { namespace: 'team', name });
      await expect(get).rejects.toSatisfy((error) => isKubeFault(error, 'invalid'));
      const elsewhere = client.get(RESOURCES.podTemplates, { namespace: name, name: 'slot' });
      await expect(elsewhere).rejects.toSatisfy((error) => isKubeFault(error, 'invalid'));
      expect(asked).toEqual([]);
    },
  );

  const set = { metadata: { uid: 'u' }, spec: { replicas: 3 }, status: { replicas: 1 } };

  it('a set that is refused is left out of those that want pods; the others answer', async () => {
    const { client } = serverWith({ forbidden: 403 }, set);
    const reader = clusterReader({
      client,
      decoders: kindDecoders('server'),
      onInvalid: () => undefined,
    });
    const named = (name: string, uid: string) => ({ namespace: 'team', name, uid });
    const sets = [named('a%b', 'x'), named('forbidden', 'y'), named('web', 'u')];
    expect(await reader.wantedPods(sets)).toEqual(new Map([['u', 3]]));
  });

  describe('the batch window', () => {
    const added = (kind: string, name: string): string => {
      const ownerReferences = [{ apiVersion: 'apps/v1', kind, name, uid: 'u', controller: true }];
      const metadata = { namespace: 'team', name: 'pod', resourceVersion: '1', ownerReferences };
      return `${JSON.stringify({ type: 'ADDED', object: { kind: 'Pod', metadata } })}\n`;
    };
    /** How long it stays open, with pods of such owners. */
    const openMs = async (...owners: readonly (readonly [string, string])[]): Promise<number> => {
      const fake = new FakeTiming();
      // The watch waits for longer than the window is open.
      const isWatch = (ms: number): boolean => ms > 10_000;
      const timing: Timing = {
        nowMs: () => fake.nowMs(),
        random: () => 0.5,
        sleep: (ms, signal) => (isWatch(ms) ? frozenTiming : fake).sleep(ms, signal),
      };
      const startMs = timing.nowMs();
      const client = memoryClient(({ path }) => {
        const isWatch = path.includes('watch=');
        if (isWatch)
          return streaming(
            200,
            owners.map((each) => added(...each)),
          );
        return path.endsWith('/forbidden') ? answer(403, {}) : answer(200, set);
      }, timing);
      await batchWindow(client, { idleMs: 1_000, maxMs: 10_000 });
      return timing.nowMs() - startMs;
    };

    it.each([
      ['ReplicaSet', 'a%b'],
      ['ReplicaSet', 'forbidden'],
      ['StatefulSet', '..'],
      ['constructor', 'web'],
      ['toString', 'web'],
      ['__proto__', 'web'],
    ])('is not held open by an owner %s/%s, nor broken', async (kind, name) => {
      expect(await openMs([kind, name])).toBeLessThan(3_000);
      expect(await openMs([kind, name], ['ReplicaSet', 'web'])).toBe(10_000);
    });
  });
});
