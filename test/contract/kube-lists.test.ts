import { expect, it } from 'vitest';
import { RESOURCES, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { NODE, POD } from '../../shared/kube/fields.ts';
import { listEach, property, type Selection } from '../../shared/kube/list.ts';
import { type WatchEvent, watchOnce } from '../../shared/kube/watch.ts';
import { describeWithControlPlane } from '../support/control-plane/suite.ts';
import { aReadyNode, aRichPod, CANARY, ensureNamespace, LOW_PRIORITY } from './kube-objects.ts';

const PODS: Selection = { resource: RESOURCES.pods, namespace: 'default', shape: POD };
const MAPS: Selection = { resource: RESOURCES.configMaps, namespace: 'default' };
const NODES: Selection = { resource: RESOURCES.nodes, shape: NODE };

await describeWithControlPlane(
  'lists and watches of a real API server',
  ({ admin }) => {
    const collect = async (
      selection: Selection,
    ): Promise<{ readonly objects: unknown[]; readonly resourceVersion: string }> => {
      const objects: unknown[] = [];
      const visit = {
        start: () => objects.splice(0),
        object: (each: unknown) => objects.push(each),
      };
      return { objects, resourceVersion: await listEach(admin(), selection, visit) };
    };

    it('reads the same from protobuf as from JSON, and nothing that is not described', async () => {
      await ensureNamespace(admin(), 'default');
      const low = { metadata: { name: 'low' }, value: LOW_PRIORITY, preemptionPolicy: 'Never' };
      await admin().create(RESOURCES.priorityClasses, low);
      await admin().create(RESOURCES.pods, aRichPod('rich'), 'default');
      await admin().create(RESOURCES.nodes, aReadyNode('node-1', { zone: 'a' }));
      const status = {
        phase: 'Pending',
        startTime: '2026-01-01T00:00:00Z',
        nominatedNodeName: 'node-1',
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/1 nodes',
            lastTransitionTime: '2026-01-01T00:00:01Z',
          },
        ],
      };
      const rich = { namespace: 'default', name: 'rich' };
      await admin().patch(RESOURCES.pods, rich, { kind: 'merge', value: { status } }, 'status');
      for (const selection of [PODS, NODES]) {
        const fromJson = await collect(selection);
        const fromProtobuf = await collect({ ...selection, protobuf: true });
        expect(fromProtobuf.objects).toHaveLength(1);
        // Scalars that are empty or false are left out by one encoding and not by the other.
        expect(withoutZeros(fromProtobuf.objects)).toEqual(withoutZeros(fromJson.objects));
        expect(JSON.stringify(fromJson.objects)).not.toContain(CANARY);
        expect(JSON.stringify(fromProtobuf.objects)).not.toContain(CANARY);
      }
      const [pod] = (await collect({ ...PODS, protobuf: true })).objects;
      expect(property(property(pod, 'spec'), 'priority')).toBe(LOW_PRIORITY);
      expect(property(property(pod, 'status'), 'startTime')).toBe('2026-01-01T00:00:00Z');
    });

    it('is refused in the same words, whatever was asked for', async () => {
      const refusal = async (protobuf: boolean): Promise<unknown> =>
        await collect({ ...PODS, fieldSelector: 'spec.nothing=a', protobuf }).catch(String);
      expect(await refusal(true)).toBe(await refusal(false));
      expect(await refusal(true)).toContain('field label not supported: spec.nothing');
    });

    it('lists 1,203 objects in three pages, each once', async () => {
      const names = Array.from({ length: 1_203 }, (_, index) => `paged-${index}`);
      const create = async (): Promise<void> => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) {
          await admin().create(RESOURCES.configMaps, { metadata: { name } }, 'default');
        }
      };
      await Promise.all(Array.from({ length: 16 }, create));
      const { objects } = await collect({ resource: RESOURCES.configMaps, namespace: 'default' });
      const found = objects.map((each) => property(property(each, 'metadata'), 'name'));
      expect(new Set(found).size).toBe(1_203);
      expect(found).toHaveLength(1_203);
    });

    it('watches from a list on: every change once, in order, ended by the reader', async () => {
      const { resourceVersion } = await collect(MAPS);
      const target = { namespace: 'default', name: 'watched' };
      const object = { metadata: { name: 'watched' }, data: { value: '1' } };
      await admin().create(RESOURCES.configMaps, object, 'default');
      const value = { data: { value: '2' } };
      await admin().patch(RESOURCES.configMaps, target, { kind: 'merge', value });
      await admin().delete(RESOURCES.configMaps, target, {});
      const seen: string[] = [];
      for await (const event of watchOnce(admin(), MAPS, { resourceVersion })) {
        seen.push(event.kind);
        if (event.kind === 'deleted') break;
      }
      expect(seen).toEqual(['added', 'modified', 'deleted']);
    });

    it('reads and watches metadata alone where no more is asked for', async () => {
      const selection: Selection = { ...MAPS, labelSelector: 'team=a', metadataOnly: true };
      const { objects, resourceVersion } = await collect(selection);
      expect(objects).toEqual([]);
      const metadata = { name: 'slim', labels: { team: 'a' } };
      await admin().create(RESOURCES.configMaps, { metadata, data: { value: CANARY } }, 'default');
      const found: unknown[] = (await collect(selection)).objects;
      for await (const event of watchOnce(admin(), selection, { resourceVersion })) {
        if (event.kind !== 'bookmark') found.push(event.object);
        break;
      }
      expect(found.map((each) => property(property(each, 'metadata'), 'name'))).toEqual([
        'slim',
        'slim',
      ]);
      expect(JSON.stringify(found)).not.toContain(CANARY);
      await admin().delete(RESOURCES.configMaps, { namespace: 'default', name: 'slim' }, {});
    });

    it('ends without an error when the signal aborts, also while nothing happens', async () => {
      const { resourceVersion } = await collect(PODS);
      const over = new AbortController();
      const events: WatchEvent[] = [];
      const options = {
        resourceVersion,
        signal: over.signal,
        onOpen: () => setTimeout(() => over.abort(), 50),
      };
      for await (const event of watchOnce(admin(), PODS, options)) events.push(event);
      expect(events).toEqual([]);
    });

    it('says gone for a resourceVersion from before the history', async () => {
      // The history of a kind begins when its definition does, so that 1 is before it.
      const selection = { resource: THINGS };
      await defineThings(admin());
      const watching = async (): Promise<void> => {
        for await (const _ of watchOnce(admin(), selection, { resourceVersion: '1' })) return;
      };
      await expect(watching()).rejects.toSatisfy((error) => isKubeFault(error, 'gone'));
    });
  },
  () => ({ controllers: false }),
);

const THINGS: Resource = {
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: false,
};

async function defineThings(admin: KubeClient): Promise<void> {
  const { group, version, plural, kind } = THINGS;
  const name = `${plural}.${group}`;
  const schema = { openAPIV3Schema: { type: 'object' } };
  await admin.create(RESOURCES.customResourceDefinitions, {
    metadata: { name },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural, kind, singular: 'thing', listKind: 'ThingList' },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  });
  // Served a moment after the definition is accepted.
  await expect
    .poll(() => listEach(admin, { resource: THINGS }, nothing).catch(() => ''), { timeout: 10_000 })
    .not.toBe('');
}

const nothing = { start: () => undefined, object: () => undefined };

function withoutZeros(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutZeros);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, withoutZeros(each)]);
  return Object.fromEntries(
    entries.filter(([, each]) => each !== '' && each !== false && each !== 0 && !isEmpty(each)),
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
