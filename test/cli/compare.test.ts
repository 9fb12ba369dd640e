import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONFIG } from './kubeconfig.ts';
import { NODE_CLASS, NODE_POOL, POD } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const WORKLOADS = join(import.meta.dirname, '..', '..', 'bench', 'compare');

/** The table without what is measured. */
async function tableOf(folder: string): Promise<string> {
  const { exitCode, stdout } = await joiner('compare', join(WORKLOADS, folder));
  expect(exitCode).toBe(0);
  return stdout.replaceAll(/\d+\.\d+ s {2,}/g, '0.00 s       ').replaceAll(/ +\n/g, '\n');
}

describe('joiner compare', () => {
  it.each(['mixed', 'zones-by-preference'])('shows %s', async (folder) => {
    const file = join(import.meta.dirname, 'compare', `${folder}.txt`);
    await expect(await tableOf(folder)).toMatchFileSnapshot(file);
  });

  it('says the same as JSON and YAML, with what is measured named by its unit', async () => {
    const folder = join(WORKLOADS, 'mixed');
    const json = JSON.parse((await joiner('compare', folder, '-o', 'json')).stdout);
    const { karpentersWay, joinersWay, difference, karpenter } = json;
    expect(karpenter).toMatchObject({ version: '1.14', isPlayedByRules: true });
    expect(json).toMatchObject({ region: 'us-east-1', podsWaiting: 77, podsRunning: 0, now: null });
    expect(joinersWay.decideSeconds).toBeGreaterThan(0);
    expect(Object.keys(karpentersWay)).not.toContain('decideSeconds');
    expect(karpentersWay.usdPerMonth).toBeCloseTo(karpentersWay.usdPerHour * 730, 6);
    const saved = karpentersWay.usdPerHour - joinersWay.usdPerHour;
    expect(difference.usdPerHour).toBeCloseTo(saved, 9);
    expect(difference.percent).toBeCloseTo((100 * saved) / karpentersWay.usdPerHour, 6);
    const sum = joinersWay.instanceTypes.reduce(
      (all: number, { count }: { count: number }) => all + count,
      0,
    );
    expect(sum).toBe(joinersWay.nodes);
    const yaml = parse((await joiner('compare', folder, '-o', 'yaml')).stdout);
    expect({ ...yaml.karpentersWay }).toEqual(karpentersWay);
  });

  it('says why no instance type is left for pods with preferences', async () => {
    const requirement = {
      key: 'topology.kubernetes.io/zone',
      operator: 'In',
      values: ['us-east-1z'],
    };
    const pool = parse(NODE_POOL);
    pool.spec.template.spec.requirements = [requirement];
    pool.spec.template.spec.taints = [];
    const files = { 'a.yaml': [NODE_CLASS, JSON.stringify(pool), POD].join('\n---\n') };
    await inFolder(files, async (folder) => {
      // CoreDNS, which is part of the cluster, prefers nodes apart.
      const { exitCode, stdout } = await joiner('compare', '-f', folder, '-o', 'json');
      expect(exitCode).toBe(0);
      const { karpentersWay, joinersWay } = JSON.parse(stdout);
      expect(karpentersWay.podsLeft).toBe(joinersWay.podsLeft);
      const [dns] = joinersWay.left.filter(({ pods }: { pods: string[] }) =>
        pods.some((pod) => pod.includes('coredns')),
      );
      expect(dns.why).toContain('cause: 0 after its requirements');
    });
  });

  it('reads manifests from anywhere, and tells which pods nobody places', async () => {
    const huge = POD.replace(/cpu: .*/, 'cpu: "9000"');
    const files = { 'a.yaml': [NODE_CLASS, NODE_POOL, huge].join('---\n') };
    await inFolder(files, async (folder) => {
      const { exitCode, stdout } = await joiner('compare', '-f', folder, '-o', 'json');
      expect(exitCode).toBe(0);
      const { karpentersWay, joinersWay } = JSON.parse(stdout);
      expect([karpentersWay.podsLeft, joinersWay.podsLeft]).toEqual([1, 1]);
      expect([karpentersWay.nodes, joinersWay.nodes]).toEqual([0, 0]);
      const [left] = joinersWay.left;
      expect(left.pods).toEqual(['default/single']);
      expect(left.why).toContain('cause: 0 after its taint team=web');
      const text = (await joiner('compare', folder, '--bare')).stdout;
      expect(text).toContain('Neither places a pod: there is nothing to compare.');
      expect(text).toContain('Pods that stay pending\n  default/single: NodePool');
    });
  });

  it('says what the same would cost were every preference met', async () => {
    const folder = join(WORKLOADS, 'zones-by-preference');
    const { stdout } = await joiner('compare', folder, '-o', 'json');
    const { joinersWay, preferringWay } = JSON.parse(stdout);
    expect(preferringWay.preferencesMet).toBeGreaterThan(joinersWay.preferencesMet);
    expect(preferringWay.usdPerHour).toBeGreaterThan(joinersWay.usdPerHour);
  });

  it('goes by the settings of a stack', async () => {
    const folder = join(WORKLOADS, 'zones-by-preference');
    await inFolder({ 'settings.yaml': 'preferencePolicy: Ignore\n' }, async (place) => {
      const settings = `${place}/settings.yaml`;
      const { stdout } = await joiner('compare', folder, '--settings', settings, '-o', 'json');
      expect(JSON.parse(stdout)).toMatchObject({ preferringWay: null });
    });
  });

  it('asks for NodePools where there is none', async () => {
    await inFolder({ 'a.yaml': POD }, async (folder) => {
      const { exitCode, stdout, stderr } = await joiner('compare', folder);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain('there is no NodePool among the manifests');
    });
  });

  it.each([
    ['@ --context other', '--context: give either paths or a cluster'],
    ['@/absent.yaml', '@/absent.yaml: no such file'],
    ['--var A=1', '--var: there is no manifest'],
    ['--settings @/config.yaml', '--settings: a cluster states what its stack decides by'],
    ['@ --region mars-1', 'us-east-1'],
    ['@ --plans-max 0', 'expected a whole number from 1'],
    ['@ -o xml', 'table, json, yaml'],
    ['--kubeconfig @/absent', 'kubeconfig: '],
  ])('refuses %s', async (line, says) => {
    await inFolder({ 'config.yaml': NODE_CLASS }, async (folder) => {
      const args = line.replaceAll('@', folder).split(' ');
      const { exitCode, stdout, stderr } = await joiner('compare', ...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain(says.replaceAll('@', folder));
    });
  });

  it('names the manifests on its page, also those of -f', async () => {
    await inFolder({ 'a.yaml': [NODE_CLASS, NODE_POOL, POD].join('---\n') }, async (folder) => {
      const [file, page] = [join(folder, 'a.yaml'), join(folder, 'page.html')];
      const { exitCode } = await joiner('compare', '-f', file, '--html', page, '-o', 'json');
      expect(exitCode).toBe(0);
      expect(readFileSync(page, 'utf8')).toContain(`<title>joiner compare ${file}</title>`);
    });
  });

  it('asks the cluster where no path is given', async () => {
    await inFolder({ config: CONFIG }, async (folder) => {
      const answer = await joiner('compare', '--kubeconfig', `${folder}/config`);
      expect(answer).toMatchObject({ exitCode: 1, stdout: '' });
      expect(answer.stderr).toMatch(/^error: /);
    });
  });
});
