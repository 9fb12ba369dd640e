import { describe, expect, it } from 'vitest';
import type { Resources } from '../../shared/core/model/resources.ts';
import type { ConditionChange } from '../../shared/ports.ts';
import type { ClusterWorld } from './cluster-world.ts';

/** What every cluster behind the ports does with NodePools; the main suite includes it. */
export function nodePoolSuite(title: string, world: () => ClusterWorld): void {
  const cluster = () => world().cluster;

  describe(`${title}: NodePools`, () => {
    const applied = async (name: string, spec: object = {}): Promise<void> => {
      const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
      await world().apply({
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        metadata: { name, annotations: { note: 'a' } },
        spec: { ...spec, template: { spec: { nodeClassRef, requirements: [] } } },
      });
    };

    it('do not go on to state resources of which they have none any more', async () => {
      await applied('scaled');
      const ref = { kind: 'NodePool', name: 'scaled' } as const;
      const conditions: ConditionChange = (now) => now;
      const usage = async (resources: Resources) => {
        const nodes = resources['nodes'] ?? 0;
        await cluster().patchNodePoolStatus(ref, { resources, nodes, conditions });
        return (await cluster().read()).nodePoolUsage.get('scaled');
      };
      const full = { cpu: 8000, 'nvidia.com/gpu': 1, nodes: 2 };
      expect(await usage(full)).toEqual(full);
      expect(await usage({ cpu: 4000, nodes: 1 })).toEqual({ cpu: 4000, nodes: 1 });
      expect(await usage({ nodes: 0 })).toEqual({ nodes: 0 });
    });

    it('say which conditions are about an earlier spec', async () => {
      const name = 'changed';
      const ref = { kind: 'NodePool', name } as const;
      const said = [
        { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionAtMs: 0 },
      ] as const;
      const conditions = async () => {
        const { nodePools } = (await cluster().read()).objects;
        return nodePools.find((pool) => pool.name === name)?.conditions;
      };
      const say = () =>
        cluster().patchNodePoolStatus(ref, { resources: {}, nodes: 0, conditions: () => said });
      await applied(name);
      await say();
      expect(await conditions()).toEqual(said);
      await applied(name, { weight: 7 });
      expect(await conditions()).toEqual(said.map((each) => ({ ...each, isOutdated: true })));
      await say();
      expect(await conditions()).toEqual(said);
    });

    it('are noted on by one of two who have read the same notes', async () => {
      const name = 'noted';
      await applied(name);
      const read = await cluster().readNodePoolNotes(name);
      expect(read?.annotations).toMatchObject({ note: 'a' });
      const ref = { kind: 'NodePool', name, uid: read?.uid ?? '' } as const;
      const seen = { ...ref, resourceVersion: read?.resourceVersion ?? '' };
      const write = (note: string) =>
        cluster().patchNodePool(seen, { annotations: { 'joiner.dev/note': note } });
      expect([await write('b'), await write('c')]).toEqual(['done', 'conflict']);
      const again = await cluster().readNodePoolNotes(name);
      expect(again?.annotations).toMatchObject({ note: 'a', 'joiner.dev/note': 'b' });
      expect(again?.resourceVersion).not.toBe(read?.resourceVersion);
      expect(await cluster().readNodePoolNotes('not-there')).toBeUndefined();
    });
  });
}
