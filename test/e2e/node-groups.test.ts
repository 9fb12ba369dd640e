import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { kubeLeases } from '../../shared/kube/leases.ts';
import { joiner } from '../cli/run.ts';
import { aPlainPod, aReadyNode, ensureNamespace } from '../contract/kube-objects.ts';
import { establishCrds, ourCrds } from '../support/control-plane/crds.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { applyManifests, readManifests } from '../support/control-plane/manifests.ts';
import { describeWithControlPlane } from '../support/control-plane/suite.ts';

const SCALER = { namespace: 'kube-system', name: 'cluster-autoscaler' };
const OF_WEB = { 'eks.amazonaws.com/nodegroup': 'web' };
const NODES = ['web-0', 'web-1'];

function autoscaler(): object {
  const labels = { app: 'cluster-autoscaler' };
  const image = 'registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.0';
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: SCALER,
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        // No kubelet would end it on a node.
        spec: { schedulerName: 'nobody', containers: [{ name: 'main', image }] },
      },
    },
  };
}

const POOL = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'web' },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'web' },
        requirements: [],
      },
    },
  },
};

async function cordon(admin: KubeClient, isOn: boolean): Promise<void> {
  for (const name of NODES) {
    await admin.patch(
      RESOURCES.nodes,
      { name },
      { kind: 'merge', value: { spec: { unschedulable: isOn } } },
    );
  }
}

const GROUP = 'rbac.authorization.k8s.io';
const SUBJECTS = [{ apiGroup: GROUP, kind: 'Group', name: 'joiner:viewer' }];

/** The rights of viewer-role.yaml and the reading ones of handover-role.yaml: whoever is killed here has left nothing half done. */
const READER = [
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'autoscaler' },
    rules: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] }],
  },
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'autoscaler' },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'autoscaler' },
    subjects: SUBJECTS,
  },
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'joiner:viewer' },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'joiner:viewer' },
    subjects: SUBJECTS,
  },
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'Role',
    metadata: { name: 'record', namespace: 'kube-system' },
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] },
    ],
  },
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'record', namespace: 'kube-system' },
    roleRef: { apiGroup: GROUP, kind: 'Role', name: 'record' },
    subjects: SUBJECTS,
  },
];

interface Printed {
  readonly open: readonly string[];
  readonly next: readonly string[];
}

await describeWithControlPlane('joiner adopt from node groups', ({ admin, plane }) => {
  let folder = '';
  const adopt = async (...args: readonly string[]): Promise<Printed> => {
    const file = await writeKubeconfig(folder, plane(), 'viewer');
    const line = ['adopt', '--cluster', 'shop', '--kubeconfig', file, '-o', 'json', ...args];
    const { exitCode, stdout, stderr } = await joiner(...line);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const { steps, next } = JSON.parse(stdout);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    const left = steps.filter(({ state }: { state: string }) => state === 'to do');
    return { open: left.map(({ step }: { step: string }) => step), next };
  };

  /** What is open; lists may be a moment behind a write. */
  const adopts = (args: readonly string[]) =>
    expect.poll(async () => (await adopt(...args)).open, { interval: 500 });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'joiner-groups-'));
    await ensureNamespace(admin(), 'kube-system');
    await ensureNamespace(admin(), 'default');
    await establishCrds(admin(), await ourCrds());
    await applyManifests(admin(), [
      autoscaler(),
      ...(await readManifests('docs/viewer-role.yaml')),
      ...READER,
    ]);
    for (const name of NODES) await admin().create(RESOURCES.nodes, aReadyNode(name, OF_WEB));
    const pod = aPlainPod('api', { nodeName: 'web-0' });
    await admin().create(RESOURCES.pods, pod, 'default');
  });
  beforeAll(async () => {
    const leases = kubeLeases({ client: admin(), holder: 'request-1' });
    for (const name of ['decide', 'lifecycle']) {
      await (await leases.acquire(name))?.releaseUnlessWoken();
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('goes on from every state, takes no right but to read, and a dry run says the same', async () => {
    const first = await adopt();
    const all = ['pools', 'autoscaler', 'cordon web', 'drain web', 'scale web'];
    expect(first.open).toEqual(all);
    expect(await adopt('--dry-run')).toEqual(first);
    await applyManifests(admin(), [POOL]);
    await adopts([]).toEqual(all.slice(1));
    await admin().patch(
      RESOURCES.deployments,
      SCALER,
      { kind: 'merge', value: { spec: { replicas: 0 } } },
      'scale',
    );
    await adopts([]).toEqual(all.slice(2));
    await cordon(admin(), true);
    await adopts([]).toEqual(all.slice(3));
    await admin().delete(
      RESOURCES.pods,
      { namespace: 'default', name: 'api' },
      { gracePeriodSeconds: 0 },
    );
    await adopts([]).toEqual(['scale web']);
  });

  it('goes back from there, step by step', async () => {
    await adopts(['--undo']).toEqual(['uncordon web', 'autoscaler', 'pools']);
    await cordon(admin(), false);
    await adopts(['--undo']).toEqual(['autoscaler', 'pools']);
    await admin().patch(
      RESOURCES.deployments,
      SCALER,
      { kind: 'merge', value: { spec: { replicas: 1 } } },
      'scale',
    );
    await adopts(['--undo']).toEqual(['pools']);
    await admin().delete(RESOURCES.nodePools, { name: 'web' }, {});
    await adopts(['--undo']).toEqual([]);
    expect(await adopt('--undo')).toEqual({ open: [], next: [] });
  });

  it('has no steps where no node of a group is left', async () => {
    for (const name of NODES) await admin().delete(RESOURCES.nodes, { name }, {});
    await adopts([]).toEqual([]);
    expect(await adopt()).toEqual({ open: [], next: [] });
  });
});
