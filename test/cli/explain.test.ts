import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { NODE_CLASS, NODE_POOL, POD } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      tolerations: [{ operator: Exists }]
      containers: [{ name: main, image: web, resources: { requests: { cpu: 1 } } }]
`;
const FILES = { 'a.yaml': [NODE_CLASS, NODE_POOL, POD, DEPLOYMENT].join('---\n') };

describe('joiner explain -f', () => {
  it('says of a workload where its first pod would be, without a cluster', async () => {
    await inFolder(FILES, async (folder) => {
      const args = ['explain', 'pod', 'web', '-n', 'shop', '-f', folder] as const;
      const { exitCode, stdout } = await joiner(...args);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^Pod shop\/web-/);
      expect(stdout).toContain('a new node of NodePool general: ');
      expect(stdout).toContain('A node of its own, by NodePool');
      const json = JSON.parse((await joiner(...args, '-o', 'json')).stdout);
      expect(json).toMatchObject({ kind: 'pod', place: { kind: 'new', nodePool: 'general' } });
      expect(parse((await joiner(...args, '-o', 'yaml')).stdout)).toEqual(json);
    });
  });

  it.each(['deploy/web', 'deployment/web', 'deployments.apps/web', 'Deployment/shop/web'])(
    'says of %s where its pods would be, together where they would be alike',
    async (asked) => {
      await inFolder(FILES, async (folder) => {
        const args = ['explain', asked, '-n', 'shop', '-f', folder] as const;
        const { exitCode, stdout, stderr } = await joiner(...args);
        expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
        expect(stdout).toMatch(
          /^Deployment shop\/web\n {2}3 of 3 {3}Pending, would get a new node /,
        );
        expect(stdout.match(/shop\/web-\w+-\w+/g)).toHaveLength(3);
        expect(stdout).toContain('A node for one of its pods, by NodePool\n  general');
        const json = JSON.parse((await joiner(...args, '-o', 'json')).stdout);
        expect(json).toMatchObject({ kind: 'workload', workload: 'Deployment', name: 'web' });
        expect(json.pods).toHaveLength(3);
        expect(json.pods[0]).toMatchObject({ phase: 'Pending', place: { nodePool: 'general' } });
        expect(json.options).toMatchObject([{ nodePool: 'general' }]);
      });
    },
  );

  it('says what keeps a pod pending', async () => {
    await inFolder(FILES, async (folder) => {
      const { stdout } = await joiner('explain', 'pod/single', '-f', folder);
      expect(stdout).toContain('stays pending   NodePool general: ');
      expect(stdout).toContain('→ cause: 0 after its taint team=web:NoSchedule');
    });
  });

  it.each([
    ['pod absent -f @', 1, 'there is no Pod, and no workload, absent in namespace default'],
    ['pod wbe -n shop -f @', 1, 'wbe in namespace shop of the manifests (did you mean web?)'],
    ['pod shop/wbe -f @', 1, 'wbe in namespace shop of the manifests (did you mean web?)'],
    ['pod singel -f @', 1, 'namespace default of the manifests (did you mean single?)'],
    [
      'deploy/wbe -n shop -f @',
      1,
      'no pod of Deployment wbe in namespace shop of the manifests (did',
    ],
    ['sts/web -n shop -f @', 1, 'there is no pod of StatefulSet web in namespace shop'],
    ['deploi/web -f @', 2, 'deploi: expected pod, node, nodeclaim, deployment, replicaset,'],
    ['node a -f @', 2, 'node: of manifests pods and workloads are explained'],
    ['pod a -f @/none.yaml', 2, '@/none.yaml: no such file'],
    ['pod a -f @/aa.yaml', 2, '@/aa.yaml: no such file or folder (did you mean @/a.yaml?)'],
    ['pod a --bare', 2, '--bare: a cluster has what it has'],
  ])('refuses %s', async (line, code, says) => {
    await inFolder(FILES, async (folder) => {
      const args = line.replaceAll('@', folder).split(' ');
      const { exitCode, stdout, stderr } = await joiner('explain', ...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
      expect(stderr).toContain(says.replaceAll('@', folder));
    });
  });
});
