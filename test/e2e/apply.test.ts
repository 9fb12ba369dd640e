import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { type Answer, joiner } from '../cli/run.ts';
import { apart, deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import {
  claimsOf,
  nameOf,
  runningPods,
  unschedulablePods,
} from '../support/closed-loop/questions.ts';
import { describeClosedLoop } from '../support/closed-loop/world.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { readManifests } from '../support/control-plane/manifests.ts';

const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a'] },
];
const disruption = { budgets: [{ nodes: '100%' }], consolidateAfter: '0s' };
const pool = nodePool('api', requirements, { disruption });
const GROUP = 'rbac.authorization.k8s.io';

await describeClosedLoop('joiner apply on a real control plane', (loop) => {
  let folder = '';
  let approver = '';
  let out = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'joiner-apply-'));
    approver = await writeKubeconfig(folder, loop.plane(), 'viewer');
    out = join(folder, 'plan.json');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const as = (...args: readonly string[]): Promise<Answer> =>
    joiner(...args, '--kubeconfig', approver);
  const bind = (kind: 'ClusterRole' | 'Role', name: string): object => ({
    apiVersion: `${GROUP}/v1`,
    kind: `${kind}Binding`,
    metadata: { name, ...(kind === 'Role' ? { namespace: 'kube-system' } : {}) },
    roleRef: { apiGroup: GROUP, kind, name },
    subjects: [{ apiGroup: GROUP, kind: 'Group', name: 'joiner:viewer' }],
  });
  const pause = (value: string | null): Promise<void> => {
    const metadata = { namespace: 'kube-system', name: 'joiner' };
    const data = { 'pause.launch': value, 'pause.disrupt': value };
    return loop.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }]);
  };

  it('launches what was approved while launches are paused, with no right but those of its role', async () => {
    await loop.apply([nodeClass, pool]);
    await loop.invoke('nodeclass');
    await pause('on');
    await loop.apply([
      ...(await readManifests('docs/viewer-role.yaml')),
      bind('ClusterRole', 'joiner:viewer'),
      apart('api', 2),
    ]);
    await expect.poll(() => unschedulablePods(loop)).toBe(2);
    const planned = async () => (await as('plan', '--out', out)).exitCode;
    await expect.poll(planned).toBe(3);
    expect(await as('apply', out, '--dry-run')).toMatchObject({ exitCode: 0, stderr: '' });
    const refused = await as('apply', out);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(/leases.*forbidden/);
    await loop.apply([
      ...(await readManifests('docs/approver-role.yaml')),
      bind('ClusterRole', 'joiner:approver'),
      bind('Role', 'joiner:approver'),
    ]);
    // Rights take a moment to arrive, each by itself.
    const applied = async () => (await planned()) + (await as('apply', out)).exitCode;
    await expect.poll(applied).toBe(3);
    await loop.apply([deployment('late', 1, '500m')]);
    const names = (await claimsOf(loop, 'api')).map(nameOf);
    expect(names).toHaveLength(2);
    await loop.until('all run', async () => (await runningPods(loop)) >= 2);
    expect((await claimsOf(loop, 'api')).map(nameOf).sort()).toEqual(names.sort());
    const again = await as('apply', out, '-o', 'yaml');
    expect(again.exitCode).toBe(1);
    expect(again.stdout).toContain('result: refused');
    expect(again.stdout).toMatch(/Pod default\/api-\S+ is already bound/);
    expect(again.stderr).toContain('nothing was changed');
  });

  it('removes the nodes that were approved while disruptions are paused', async () => {
    await loop.apply([apart('api', 0), deployment('late', 0, '500m')]);
    const planned = async (): Promise<number> => {
      await as('plan', '--out', out);
      return JSON.parse(await readFile(out, 'utf8')).decisions.length;
    };
    // Pods can run on a node before a pass of `lifecycle` has seen it initialized.
    await loop.until('both can be removed', async () => (await planned()) === 2);
    const applied = await as('apply', out);
    expect(applied).toMatchObject({ exitCode: 0, stderr: '' });
    expect(applied.stdout).toContain('note: disruptions are paused');
    await loop.until('all nodes are gone', async () => (await claimsOf(loop, 'api')).length === 0);
  });

  it('refuses a plan of another cluster', async () => {
    const plan = JSON.parse(await readFile(out, 'utf8'));
    const other = { ...plan, cluster: { ...plan.cluster, uid: 'another' } };
    await writeFile(out, JSON.stringify(other));
    const answer = await as('apply', out);
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
    expect(answer.stderr).toContain('cluster.uid is another');
    const leases = (await loop.list(RESOURCES.leases)).map(nameOf);
    expect(leases).toContain('joiner-decide');
  });
});
