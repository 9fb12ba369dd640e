import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { s3Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { CatalogFile, encodeCatalogFile } from '../../shared/aws/memory/catalog-file.ts';
import { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { isEmbeddedRegion } from '../../shared/catalog/catalog.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { ENV, REGION_VARIABLE, SETTINGS_CONFIG_MAP } from '../../shared/contract.ts';
import { type Answer, joiner } from '../cli/run.ts';
import { accessTo } from '../support/aws/adapter.ts';
import { catalogIn } from '../support/aws/catalogs.ts';
import { BUCKET, CLUSTER } from '../support/aws/cloud.ts';
import { poolKey } from '../support/aws/model/account.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { unschedulablePods } from '../support/closed-loop/questions.ts';
import { describeClosedLoop, liveInstances, runningPods } from '../support/closed-loop/world.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';

const REGION = 'ap-south-1';
const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a'] },
];
// On a slow machine there would be time for consolidation, whose replacements no plan of pods has.
const disruption = { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' };
const pool = nodePool('api', requirements, { disruption });

interface Planned {
  readonly newNodeClaims: readonly {
    readonly chosen: { readonly type: string; readonly zone: string };
  }[];
  readonly notes: readonly string[];
}

await describeClosedLoop(
  'joiner plan in a region without an embedded catalog',
  (loop) => {
    let folder = '';
    let kubeconfig = '';
    let catalog: Catalog;
    beforeAll(async () => {
      expect(isEmbeddedRegion(REGION)).toBe(false);
      folder = await mkdtemp(join(tmpdir(), 'joiner-plan-'));
      kubeconfig = await writeKubeconfig(folder, loop.plane());
      catalog = await catalogIn(REGION);
      // What the function catalog does on a schedule.
      const s3 = s3Client({ ...accessTo(loop.cloud), region: REGION });
      const parts = { s3, bucket: BUCKET, calls: new Calls(), report: () => undefined };
      const file = new CatalogFile(new MemoryObjects(parts), { region: REGION, cluster: CLUSTER });
      expect(await file.write({ catalog, atMs: Date.now() })).toBe(true);
      await loop.apply([nodeClass, pool]);
      await loop.invoke('nodeclass');
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const command = (...args: readonly string[]): Promise<Answer> =>
      joiner(...args, '--kubeconfig', kubeconfig);
    const planned = async (...args: readonly string[]): Promise<Planned> => {
      const { exitCode, stdout, stderr } = await command('plan', '-o', 'json', ...args);
      expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: '' });
      return JSON.parse(stdout);
    };
    const typesOf = ({ newNodeClaims }: Planned): readonly string[] =>
      newNodeClaims.map(({ chosen: { type, zone } }) => `${type} ${zone}`).sort();
    const launched = (): readonly string[] =>
      liveInstances(loop)
        .map(({ instanceType, zone }) => `${instanceType} ${zone}`)
        .sort();

    it('says where prices can come from', async () => {
      const { exitCode, stderr } = await command('plan');
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`no prices of ${REGION} are embedded`);
      expect(stderr).toContain(`joiner catalog --region ${REGION} -o FILE`);
      expect(stderr).toContain('--bucket NAME');
    });

    it('finds the bucket that the stack has stated, and names what provision then launches', async () => {
      const stated = { [REGION_VARIABLE]: REGION, [ENV.bucket]: BUCKET, [ENV.cluster]: CLUSTER };
      const about = { apiVersion: 'v1', kind: 'ConfigMap', metadata: SETTINGS_CONFIG_MAP };
      await loop.apply([{ ...about, data: stated }, deployment('web', 9, '700m')]);
      await expect.poll(() => unschedulablePods(loop)).toBe(9);
      const answer = await planned();
      expect(answer.notes).toEqual([]);
      expect(typesOf(answer)).not.toEqual([]);
      await loop.until('all run', async () => (await runningPods(loop)) === 9);
      expect(typesOf(answer)).toEqual(launched());
      const { stdout } = await command('top');
      expect(stdout).toContain(`list prices of ${REGION}`);
    });

    it('knows of the shortages that provision has met', async () => {
      const before = liveInstances(loop).map(({ id }) => id);
      await loop.apply([deployment('more', 4, '3')]);
      await expect.poll(() => unschedulablePods(loop)).toBe(4);
      const wished = typesOf(await planned());
      for (const each of wished) {
        const [type = '', zone = ''] = each.split(' ');
        loop.cloud.account.capacity.set(poolKey(type, zone, 'on-demand'), 0);
      }
      // The fleet falls back to another offering, or the next pass does: either way it is noted.
      await loop.until('all run', async () => (await runningPods(loop)) === 13);
      await loop.apply([deployment('last', 4, '3')]);
      // Those that a node of before has room for run; all others have been looked at.
      await expect
        .poll(async () => (await unschedulablePods(loop)) + (await runningPods(loop)))
        .toBe(17);
      const answer = await planned();
      expect(typesOf(answer)).not.toEqual(wished);
      const known = new Set([...before, ...liveInstances(loop).map(({ id }) => id)]);
      await loop.until('all run', async () => (await runningPods(loop)) === 17);
      const added = liveInstances(loop).filter(({ id }) => !known.has(id));
      expect(typesOf(answer)).toEqual(
        added.map(({ instanceType, zone }) => `${instanceType} ${zone}`).sort(),
      );
    });

    it('takes a file of joiner catalog instead, and refuses one of another region', async () => {
      const path = join(folder, 'catalog.json.gz');
      await writeFile(path, encodeCatalogFile({ catalog, atMs: Date.now() }));
      const { exitCode, stderr } = await command('plan', '--catalog', path);
      // 3: there is something to do, nodes that join for instance.
      expect([0, 3]).toContain(exitCode);
      expect(stderr).toBe('');
      const body = encodeCatalogFile({ catalog: await catalogIn('us-east-1'), atMs: 0 });
      await writeFile(path, body);
      const other = await command('plan', '--catalog', path);
      expect(other.exitCode).toBe(2);
      expect(other.stderr).toContain(`is of us-east-1, and ${REGION} is asked for`);
    });

    it('a bucket that was named and does not answer is an error', async () => {
      const { exitCode, stderr } = await command('plan', '--bucket', 'another-bucket');
      expect(exitCode).toBe(2);
      expect(stderr).toContain('--bucket another-bucket: ');
    });
  },
  { region: REGION },
);
