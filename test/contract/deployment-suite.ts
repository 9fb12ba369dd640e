import { describe, expect, it } from 'vitest';
import { property, text } from '../../shared/kube/list.ts';
import type { ReplicaSetRef } from '../../shared/ports.ts';
import { objectAt } from '../../shared/sim/json.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { aReplicaSet } from './kube-objects.ts';

/** What every cluster behind the ports does with Deployments; the main suite includes it. */
export function deploymentSuite(title: string, world: () => ClusterWorld): void {
  const cluster = () => world().cluster;

  describe(`${title}: Deployments`, () => {
    const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';
    const uidOfObject = async (kind: string, name: string): Promise<string> =>
      text(property(property(await world().raw(kind, 'default', name), 'metadata'), 'uid'));
    const restartedAt = async (name: string): Promise<unknown> => {
      const spec = property(await world().raw('Deployment', 'default', name), 'spec');
      const metadata = property(property(spec, 'template'), 'metadata');
      return property(property(metadata, 'annotations'), RESTARTED_AT);
    };

    /** A Deployment without pods and a ReplicaSet of it. */
    async function owned(name: string, spec: object = {}): Promise<ReplicaSetRef> {
      // Its labels are those that the Deployment selects, so that its controller leaves it alone.
      const set = aReplicaSet(name, 0);
      const own = { ...objectAt(set, 'spec'), ...spec };
      await world().apply({ ...set, kind: 'Deployment', spec: own });
      return await setOf(name, 'set');
    }

    /** A ReplicaSet of the Deployment, whose template has the annotations. */
    async function setOf(name: string, hash: string, annotations = {}): Promise<ReplicaSetRef> {
      const set = aReplicaSet(name, 0);
      const uid = await uidOfObject('Deployment', name);
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true };
      const labels = { app: name, 'pod-template-hash': hash };
      const named = { name: `${name}-${hash}`, namespace: 'default', labels };
      const own = objectAt(set, 'spec');
      const template = objectAt(own, 'template');
      const metadata = { ...objectAt(template, 'metadata'), annotations };
      const spec = { ...own, template: { ...template, metadata } };
      await world().apply({ ...set, spec, metadata: { ...named, ownerReferences: [owner] } });
      const setUid = await uidOfObject('ReplicaSet', named.name);
      return { namespace: 'default', name: named.name, uid: setUid };
    }

    it('are restarted once in a drain, by the ReplicaSet of a pod', async () => {
      const set = await owned('restart-1');
      const at = Date.UTC(2026, 0, 1);
      const ask = (sinceMs: number, nowMs: number) =>
        cluster().restartRollout(set, { sinceMs, nowMs });
      expect(await ask(at, at + 1000)).toBe('restarted');
      expect(await restartedAt('restart-1')).toBe('2026-01-01T00:00:01.000Z');
      expect(await ask(at, at + 9000)).toBe('restarting');
      expect(await restartedAt('restart-1')).toBe('2026-01-01T00:00:01.000Z');
    });

    it('are restarted again for pods of their newest ReplicaSet alone', async () => {
      const set = await owned('restart-4');
      const at = Date.UTC(2026, 0, 1);
      const times = { sinceMs: at + 2000, nowMs: at + 9000 };
      expect(await cluster().restartRollout(set, { sinceMs: at, nowMs: at + 1000 })).toBe(
        'restarted',
      );
      // The pods of the first are on their way out: those that come for them are to stay.
      expect(await cluster().restartRollout(set, times)).toBe('restarting');
      const restarted = { [RESTARTED_AT]: '2026-01-01T00:00:01.000Z' };
      const newest = await setOf('restart-4', 'newest', restarted);
      expect(await cluster().restartRollout(newest, times)).toBe('restarted');
      expect(await restartedAt('restart-4')).toBe('2026-01-01T00:00:09.000Z');
      expect(await cluster().restartRollout(newest, { ...times, sinceMs: at + 9500 })).toBe(
        'restarting',
      );
    });

    it('are restarted once in a drain by a clock that is behind the server’s', async () => {
      const set = await owned('restart-3');
      const sinceMs = Date.UTC(2026, 0, 1);
      const said: unknown[] = [];
      for (const behindMs of [3000, 2000, 0, -1000]) {
        said.push(await cluster().restartRollout(set, { sinceMs, nowMs: sinceMs - behindMs }));
      }
      expect(said).toEqual(['restarted', 'restarting', 'restarting', 'restarting']);
      expect(await restartedAt('restart-3')).toBe('2026-01-01T00:00:00.000Z');
    });

    it.each<[string, object, string]>([
      ['paused', { paused: true }, 'spec.paused is true; valid: false'],
      [
        'recreate',
        { strategy: { type: 'Recreate' } },
        'spec.strategy.type is "Recreate"; valid: RollingUpdate',
      ],
      [
        'missing',
        { replicas: 1, strategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } },
        'spec.strategy: maxUnavailable 1 and maxSurge 0 let 1 of 1 pods be missing; ' +
          'valid: maxUnavailable 0',
      ],
    ])('are not restarted where no pod starts before one ends: %s', async (name, spec, fault) => {
      const set = await owned(`restart-${name}`, spec);
      expect(await cluster().restartRollout(set, { sinceMs: 0, nowMs: 1000 })).toEqual({
        fault: `Deployment default/restart-${name}: ${fault}`,
      });
      expect(await restartedAt(`restart-${name}`)).toBeUndefined();
    });

    it('are not restarted for a ReplicaSet that is gone, another or nobody’s', async () => {
      const set = await owned('restart-2');
      const times = { sinceMs: 0, nowMs: 1000 };
      const other = { ...set, uid: '0f0e9d3c-0000-4000-8000-00000000ffff' };
      expect(await cluster().restartRollout(other, times)).toBe('none');
      expect(await cluster().restartRollout({ ...set, name: 'absent' }, times)).toBe('none');
      await world().apply(aReplicaSet('nobodys', 0));
      const uid = await uidOfObject('ReplicaSet', 'nobodys');
      const alone = { namespace: 'default', name: 'nobodys', uid };
      expect(await cluster().restartRollout(alone, times)).toBe('none');
      expect(await restartedAt('restart-2')).toBeUndefined();
    });
  });
}
