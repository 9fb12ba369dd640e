import { beforeAll, describe, expect, it } from 'vitest';
import { kindDecoders } from '../../shared/api/kinds.ts';
import { RESOURCES, type Resource, resourceOf } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { kubeCluster } from '../../shared/kube/cluster.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';
import type { ObjectRef } from '../../shared/ports.ts';
import { establishCrds, ourCrds } from '../support/control-plane/crds.ts';
import { clientOf, describeWithControlPlane } from '../support/control-plane/suite.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { clusterSuite } from './kube-cluster-suite.ts';
import { aReplicaSet, ensureNamespace, REFUSED_SPEC } from './kube-objects.ts';
import { waitingPodsSuite } from './waiting-pods-suite.ts';

await describeWithControlPlane(
  'the cluster ports on a real API server',
  ({ admin, plane }) => {
    let world: ClusterWorld | undefined;
    beforeAll(async () => {
      await ensureNamespace(admin(), 'default');
      await establishCrds(admin(), await ourCrds());
      const client = clientOf(plane(), 'joiner-test');
      const onInvalid = (object: string, issues: readonly object[]): void => {
        throw new Error(`${object} cannot be decoded: ${JSON.stringify(issues)}`);
      };
      const cluster = kubeCluster({ client, decoders: kindDecoders('server'), onInvalid });
      world = realWorld(admin(), cluster);
    });
    const running = (): ClusterWorld => {
      if (world === undefined) throw new Error('the control plane is not running');
      return world;
    };
    clusterSuite('real', running);
    waitingPodsSuite('real', running);

    it('real: the status of an EC2NodeClass says of which spec it is', async () => {
      const classOf = async () => {
        const { nodeClasses = [] } = (await world?.cluster.read()) ?? {};
        const found = nodeClasses.find(({ name }) => name === 'observed');
        if (found === undefined) throw new Error('the class is not there');
        return found;
      };
      const apply = async (role: string): Promise<void> => {
        const terms = [{ tags: { a: 'b' } }];
        const selectors = { subnetSelectorTerms: terms, securityGroupSelectorTerms: terms };
        const spec = { role, amiSelectorTerms: [{ alias: 'al2023@latest' }], ...selectors };
        const object = { metadata: { name: 'observed' }, spec };
        await admin().apply(RESOURCES.nodeClasses, { name: 'observed' }, object);
      };
      await apply('a');
      const { generation, status } = await classOf();
      expect([generation, status.observedGeneration]).toEqual([1, undefined]);
      await apply('b');
      const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '' } as const;
      const conditions = [{ ...ready, lastTransitionAtMs: 0 }];
      const ref = { kind: 'EC2NodeClass', name: 'observed' } as const;
      await world?.cluster.patchNodeClassStatus(ref, {
        ...status,
        conditions,
        observedGeneration: 1,
      });
      const after = await classOf();
      expect([after.generation, after.status.observedGeneration]).toEqual([2, 1]);
      await admin().delete(RESOURCES.nodeClasses, { name: 'observed' }, {});
    });

    it('real: ResourceQuotas are read where CapacityBuffers are', async () => {
      const at = { namespace: 'bounded', name: 'most' };
      await ensureNamespace(admin(), at.namespace);
      const spec = { hard: { 'requests.cpu': '2', pods: '5', services: '1' } };
      await admin().create(
        RESOURCES.resourceQuotas,
        { metadata: { name: at.name }, spec },
        'bounded',
      );
      const buffer = { metadata: at, spec: { podTemplateRef: { name: 'none' }, replicas: 9 } };
      await admin().create(RESOURCES.capacityBuffers, buffer, at.namespace);
      const found = { ...at, hard: { 'requests.cpu': 2000, pods: 5 }, scopes: [] };
      const quotas = async () => (await world?.cluster.read())?.resourceQuotas;
      await expect.poll(quotas).toMatchObject([found]);
      await admin().delete(RESOURCES.capacityBuffers, at, {});
      await admin().delete(RESOURCES.resourceQuotas, at, {});
    });

    it('real: a ReplicaSet whose pods are refused says so itself, and wants none', async () => {
      const namespace = 'default';
      const manifest = aReplicaSet('refused-here', 2, REFUSED_SPEC);
      const made = await admin().create(RESOURCES.replicaSets, manifest, namespace);
      const uid = text(property(property(made, 'metadata'), 'uid'));
      const set = { namespace, name: 'refused-here', uid };
      const wanted = async () => await world?.cluster.wantedPods([set]);
      await expect.poll(wanted, { timeout: 10_000 }).toEqual(new Map());
      await admin().delete(RESOURCES.replicaSets, set, {});
    });

    describe('real: Karpenter as a neighbour', () => {
      const LEASE = 'karpenter-leader-election';
      const lease = async (namespace: string, name: string, spec: object): Promise<void> => {
        await ensureNamespace(admin(), namespace);
        const object = { metadata: { namespace, name }, spec };
        await admin().apply(RESOURCES.leases, { namespace, name }, object);
      };
      /** What a pass begins with, and what it sees when it looks again: always the same. */
      const seen = async (): Promise<number | undefined> => {
        const atOnce = await world?.cluster.karpenterRenewedAtMs?.();
        const state = await world?.cluster.read();
        expect(state?.karpenterRenewedAtMs).toBe(atOnce);
        return atOnce;
      };

      it('is not there without its Lease, nor with one that nobody holds', async () => {
        expect(await seen()).toBeUndefined();
        await lease('kube-system', 'another-leader-election', {
          holderIdentity: 'somebody',
          renewTime: '2026-01-01T00:00:00.000000Z',
        });
        await lease('karpenter', LEASE, { holderIdentity: '' });
        expect(await seen()).toBeUndefined();
        // Who steps down empties the holder and leaves the time.
        await lease('karpenter', LEASE, {
          holderIdentity: '',
          renewTime: '2026-01-01T00:00:00.000000Z',
        });
        expect(await seen()).toBeUndefined();
      });

      it('is not there by a Lease that is renewed at a time to come', async () => {
        const renewTime = '9999-01-01T00:00:00.000000Z';
        await lease('tenant', LEASE, { holderIdentity: 'somebody', renewTime });
        expect(await seen()).toBeUndefined();
      });

      it('was alive when its Lease was renewed last, in whatever namespace', async () => {
        const held = (renewTime: string) => ({ holderIdentity: 'karpenter-0_abc', renewTime });
        await lease('karpenter', LEASE, held('2026-01-01T00:00:05.123456Z'));
        expect(await seen()).toBe(Date.UTC(2026, 0, 1, 0, 0, 5, 123));
        await lease('kube-system', LEASE, held('2026-01-01T00:01:00.000000Z'));
        expect(await seen()).toBe(Date.UTC(2026, 0, 1, 0, 1));
        await lease('karpenter', LEASE, held('2026-01-01T00:02:00.000000Z'));
        expect(await seen()).toBe(Date.UTC(2026, 0, 1, 0, 2));
      });
    });
  },
  // One takes objects whose owner is not there, the other taints nodes: whenever they come to it.
  () => ({ withoutControllers: ['garbage-collector-controller', 'node-lifecycle-controller'] }),
);

function realWorld(admin: KubeClient, cluster: ClusterWorld['cluster']): ClusterWorld {
  return {
    cluster,
    apply: async (manifest) => {
      const resource = resourceOfManifest(manifest);
      const metadata = property(manifest, 'metadata');
      const namespace = property(metadata, 'namespace');
      const address = {
        name: text(property(metadata, 'name')),
        ...(typeof namespace === 'string' ? { namespace } : {}),
      };
      await admin.apply(resource, address, manifest);
      const status = property(manifest, 'status');
      if (status === undefined) return;
      await admin.patch(resource, address, { kind: 'merge', value: { status } }, 'status');
    },
    bind: async (name, nodeName) => {
      await admin.createBelow(RESOURCES.pods, { namespace: 'default', name }, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { namespace: 'default', name },
        target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
      });
    },
    raw: async (kind, namespace, name) => {
      const resource = Object.values(RESOURCES).find((each) => each.kind === kind);
      if (resource === undefined) throw new Error(`no resource is known for ${kind}`);
      try {
        return await admin.get(resource, { namespace, name });
      } catch (error) {
        if (isKubeFault(error, 'notFound')) return undefined;
        throw error;
      }
    },
    events: (ref) => eventsOf(admin, ref),
  };
}

function resourceOfManifest(manifest: object): Resource {
  const kind = text(property(manifest, 'kind'));
  const resource = resourceOf(text(property(manifest, 'apiVersion')), kind);
  if (resource === undefined) throw new Error(`no resource is known for ${kind}`);
  return resource;
}

async function eventsOf(
  admin: KubeClient,
  { kind, name }: ObjectRef,
): Promise<readonly { readonly reason: string; readonly count: number }[]> {
  const found: { reason: string; count: number }[] = [];
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  await listEach(
    admin,
    { resource: RESOURCES.events, fieldSelector },
    {
      start: () => found.splice(0),
      object: (event) => {
        const count = Number(property(event, 'count'));
        found.push({ reason: text(property(event, 'reason')), count });
      },
    },
  );
  return found;
}
