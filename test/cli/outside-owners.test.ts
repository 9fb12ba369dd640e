import { describe, expect, it } from 'vitest';
import type { Json } from '../../shared/sim/json.ts';
import { DEPLOYMENT, NODE_CLASS, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOL = NODE_POOL.replace(/ {6}taints:[\s\S]*?NoSchedule\n/, '');

interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly uid?: string;
}

/** A pod as `kubectl get pods -o json` prints it. */
function dumped(name: string, owner: Owner | undefined, spec: Json = {}, more: Json = {}): Json {
  const reference = owner && { apiVersion: 'v1', uid: `uid-of-${owner.name}`, ...owner };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-pod-${name}`,
      labels: { app: owner?.name ?? name, 'pod-template-hash': 'abc' },
      ...(reference === undefined ? {} : { ownerReferences: [{ ...reference, controller: true }] }),
    },
    spec: {
      nodeName: 'ip-10-9-9-9.ec2.internal',
      containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m' } } }],
      ...spec,
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    ...more,
  };
}

const list = (items: readonly unknown[]): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

async function run(
  items: readonly unknown[],
  more: Readonly<Record<string, string>> = {},
  bare: readonly string[] = ['--bare'],
) {
  const files = { 'pools.yaml': `${NODE_CLASS}---\n${POOL}`, 'pods.json': list(items), ...more };
  const answer = await inFolder(files, (folder) => {
    const scenario = 'scenario.yaml' in more ? ['--scenario', `${folder}/scenario.yaml`] : [];
    return joiner('simulate', folder, ...bare, '--duration', '8m', '-o', 'json', ...scenario);
  });
  expect(answer.exitCode, answer.stderr).toBe(0);
  const state = JSON.parse(answer.stdout);
  const names: readonly string[] = state.nodeClaims.flatMap((each: Json) => each['pods']);
  return { state, names, notes: answer.stderr };
}

const SET: Owner = { kind: 'ReplicaSet', name: 'web-abc' };
const TWO = [dumped('web-abc-1', SET), dumped('web-abc-2', SET)];

describe('pods whose owner is not in the files', () => {
  it('run, and a note says what stands in for their owner and that their nodes are missing', async () => {
    const { state, names, notes } = await run(TWO);
    expect(state.pods).toMatchObject({ running: 2, pending: [] });
    expect(names).toEqual(['default/web-abc-1', 'default/web-abc-2']);
    expect(notes).toContain(
      'owners that are not in the files: a workload stands in for each and makes its pods anew: ' +
        'ReplicaSet/web-abc (2 pods)',
    );
    expect(notes).toContain(
      'wait for a node, as theirs is not in the files: Pod/web-abc-1, Pod/web-abc-2',
    );
  });

  it('come again when they are deleted', async () => {
    const scenario = 'steps:\n  - at: 4m\n    delete: [{ kind: Pod, name: web-abc-1 }]\n';
    const { state, names } = await run(TWO, { 'scenario.yaml': scenario });
    expect(state.pods.running).toBe(2);
    expect(names).toContain('default/web-abc-2');
    expect(names).not.toContain('default/web-abc-1');
  });

  it('are left to a Deployment of the files that selects them', async () => {
    const deployment = DEPLOYMENT.replaceAll(/app: \w+/g, 'app: web-abc');
    const { state, notes } = await run(TWO, { 'deployment.yaml': deployment });
    expect(state.pods.running).toBe(2);
    expect(notes).toMatch(/made anew by their workload in the files.*: 2 pods of Deployment\/\w+/);
    expect(notes).not.toContain('stands in');
  });

  it('are of none that selects all pods, as one that has no selector', async () => {
    const template = { spec: { containers: [{ name: 'main', image: 'app' }] } };
    const spec = { replicas: 1, template };
    const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', spec };
    const { state, notes } = await run([...TWO, { ...rollout, metadata: { name: 'other' } }]);
    expect(state.pods.running).toBe(3);
    expect(notes).toContain('ReplicaSet/web-abc (2 pods)');
  });

  it('of a DaemonSet come to each node', async () => {
    const daemons = ['a', 'b', 'c'].map((name) => {
      const field = { key: 'metadata.name', operator: 'In', values: [`node-${name}`] };
      const required = { nodeSelectorTerms: [{ matchFields: [field] }] };
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
      const owner = { kind: 'DaemonSet', name: 'agent' };
      return dumped(`agent-${name}`, owner, { affinity: { nodeAffinity } });
    });
    const { state, notes } = await run([...daemons, ...TWO]);
    expect(state.nodes).toHaveLength(1);
    expect(state.pods).toMatchObject({ running: 3, pending: [] });
    expect(notes).toContain('DaemonSet/agent (3 pods)');
    expect(notes).not.toContain('Pod/agent');
  });

  it('of a StatefulSet keep their names, and their claims are there', async () => {
    const pods = [0, 1].map((index) =>
      dumped(
        `db-${index}`,
        { kind: 'StatefulSet', name: 'db' },
        {
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-db-${index}` } }],
        },
      ),
    );
    const disk = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {
        name: 'gp3',
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: 'ebs.csi.aws.com',
      volumeBindingMode: 'WaitForFirstConsumer',
    };
    const scenario = 'steps:\n  - at: 4m\n    delete: [{ kind: Pod, name: db-1 }]\n';
    const { state, names } = await run([disk, ...pods], { 'scenario.yaml': scenario });
    expect(state.pods).toMatchObject({ running: 2, pending: [] });
    expect([...names].sort()).toEqual(['default/db-0', 'default/db-1']);
  });

  it('of a Job end, and those that have ended stay so', async () => {
    const owner = { kind: 'Job', name: 'load' };
    const done = dumped('load-0', owner, {}, { status: { phase: 'Succeeded' } });
    const { state } = await run([done, dumped('load-1', owner)]);
    expect(state.pods).toMatchObject({ running: 0, succeeded: 2, pending: [] });
  });

  it('of an owner of another kind come again by their own specs', async () => {
    const owner = { kind: 'RayCluster', name: 'ray' };
    const large = { containers: [{ name: 'main', resources: { requests: { cpu: '3' } } }] };
    const pods = [dumped('ray-head', owner, large), dumped('ray-w-1', owner)];
    const scenario = 'steps:\n  - at: 4m\n    delete: [{ kind: Pod, name: ray-head }]\n';
    const { state, names, notes } = await run(pods, { 'scenario.yaml': scenario });
    expect(state.pods).toMatchObject({ running: 2, pending: [] });
    expect(names).toContain('default/ray-w-1');
    expect(names).not.toContain('default/ray-head');
    expect(notes).toContain('RayCluster/ray (2 pods)');
  });

  it('of CoreDNS are the only ones', async () => {
    const { metadata, ...pod } = dumped('coredns-abc-1', {
      kind: 'ReplicaSet',
      name: 'coredns-abc',
    });
    const own = { ...pod, metadata: { ...Object(metadata), namespace: 'kube-system' } };
    const { names } = await run([own], {}, []);
    const ofCoreDns = names.filter((name) => name.startsWith('kube-system/coredns-'));
    expect(ofCoreDns).toEqual(['kube-system/coredns-abc-1']);
  });

  it('that a kubelet runs by itself are left out, with a note', async () => {
    const { state, notes } = await run([
      dumped('kube-proxy', { kind: 'Node', name: 'ip-10-9-9-9.ec2.internal' }),
    ]);
    expect(state.pods).toMatchObject({ running: 0, pending: [] });
    expect(notes).toContain('left out, as their owner is not in the files: Pod/kube-proxy');
  });
});

describe('owners in the files', () => {
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web-abc', namespace: 'default', uid: 'uid-of-web-abc' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web-abc' } },
      template: {
        metadata: { labels: { app: 'web-abc' } },
        spec: { containers: [{ name: 'main', image: 'app' }] },
      },
    },
  };

  it('have their pods', async () => {
    const { names, notes } = await run([set, ...TWO]);
    expect(names).toEqual(['default/web-abc-1', 'default/web-abc-2']);
    expect(notes).not.toContain('stands in');
  });

  it('keep them where the Deployment is there, too, with the template of its ReplicaSet', async () => {
    const labels = { app: 'web-abc' };
    const { containers } = set.spec.template.spec;
    const deployment = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { name: 'web', namespace: 'default', uid: 'uid-of-web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    };
    const hashed = { ...labels, 'pod-template-hash': 'abc' };
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-of-web' };
    const owned = {
      ...set,
      metadata: { ...set.metadata, ownerReferences: [{ ...owner, controller: true }] },
      spec: { ...set.spec, template: { metadata: { labels: hashed }, spec: { containers } } },
    };
    const { names } = await run([deployment, owned, ...TWO]);
    expect(names).toEqual(['default/web-abc-1', 'default/web-abc-2']);
  });

  it('make no pods where they are Jobs that have ended', async () => {
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'load', namespace: 'default' },
      spec: { template: { spec: { containers: [{ name: 'main', image: 'app' }] } } },
      status: { conditions: [{ type: 'Complete', status: 'True' }] },
    };
    const failed = {
      ...job,
      metadata: { ...job.metadata, name: 'failed' },
      status: { conditions: [{ type: 'Failed', status: 'True' }] },
    };
    const { state } = await run([job, failed]);
    expect(state.pods).toMatchObject({ running: 0, succeeded: 0, pending: [] });
    expect(state.nodeClaims).toEqual([]);
  });

  it('stand by themselves where their own owner is missing', async () => {
    const ownerReferences = [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: 'web',
        uid: 'uid-of-web',
        controller: true,
      },
    ];
    const owned = { ...set, metadata: { ...set.metadata, ownerReferences } };
    const { names, notes } = await run([owned, ...TWO]);
    expect(names).toEqual(['default/web-abc-1', 'default/web-abc-2']);
    expect(notes).toContain(
      'stand by themselves, as their owner is not in the files: ReplicaSet/web-abc',
    );
  });
});

describe('pods without an owner', () => {
  it('wait for a node where theirs is not in the files', async () => {
    const { state, notes } = await run([dumped('single', undefined)]);
    expect(state.pods).toMatchObject({ running: 1, pending: [] });
    expect(notes).toContain('wait for a node, as theirs is not in the files: Pod/single');
  });

  it('stay on a node of the files', async () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'ip-10-9-9-9.ec2.internal' },
      status: {
        allocatable: { cpu: '4', memory: '8Gi', pods: '50' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    };
    const { state, notes } = await run([node, dumped('single', undefined), ...TWO]);
    expect(state.pods).toMatchObject({ running: 3, pending: [] });
    expect(state.nodeClaims).toEqual([]);
    expect(notes).not.toContain('wait for a node');
  });
});

describe('nodes of a real cluster', () => {
  const later = '2026-11-29T10:00:00Z';
  const node = (name: string, cpu: string): Json => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, creationTimestamp: later },
    status: {
      allocatable: { cpu, memory: '8Gi', pods: '50' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });

  it('keep their names: one that is launched here takes another', async () => {
    const { state } = await run([node('ip-10-0-0-1.ec2.internal', '10m'), ...TWO]);
    expect(state.pods).toMatchObject({ running: 2, pending: [] });
    expect(state.nodeClaims).toMatchObject([{ nodeName: 'ip-10-0-0-2.ec2.internal' }]);
  });

  it('have no instance here, and the summary says that their cost is not in the sums', async () => {
    const providerID = 'aws:///us-east-1a/i-0123456789abcdef0';
    const claim = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: 'real' },
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
        requirements: [],
      },
      status: { providerID, nodeName: 'real.internal' },
    };
    const items = [claim, { ...node('real.internal', '2'), spec: { providerID } }];
    const files = { 'pools.yaml': `${NODE_CLASS}---\n${POOL}`, 'real.json': list(items) };
    const { stdout } = await inFolder(files, (folder) =>
      joiner('simulate', folder, '--bare', '--duration', '2m'),
    );
    expect(stdout).toContain('nodes     1: 1 without an instance\n');
    expect(stdout).toContain('for the whole run; not in it: 1 node without an instance here\n');
  });

  it('of a later day than the simulated one are new', async () => {
    const claim = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: 'old', creationTimestamp: later },
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
        requirements: [],
      },
    };
    const files = { 'pools.yaml': `${NODE_CLASS}---\n${POOL}`, 'claim.json': list([claim]) };
    const { stdout } = await inFolder(files, (folder) =>
      joiner('simulate', folder, '--bare', '--duration', '3m'),
    );
    expect(stdout).toMatch(/^ {2}old .* 3m$/m);
  });
});
