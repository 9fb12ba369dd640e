import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEPLOYMENT, NODE_CLASS, NODE_OVERLAY, NODE_POOL, POD } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOL = NODE_POOL.replace(/ {6}taints:[\s\S]*?NoSchedule\n/, '');
const WORLD = { 'world.yaml': [NODE_CLASS, POOL, NODE_OVERLAY, POD].join('---\n') };

function simulated(files: Readonly<Record<string, string>>, ...options: readonly string[]) {
  return inFolder(files, (folder) =>
    joiner(
      'simulate',
      '--bare',
      folder,
      '--duration',
      '5m',
      ...options.map((each) => each.replace('@', folder)),
    ),
  );
}

describe('joiner simulate', () => {
  it('prints the final state', async () => {
    const { exitCode, stdout } = await simulated(WORLD, '-o', 'json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      joiner: expect.any(String),
      region: 'us-east-1',
      seed: 1,
      start: '2026-01-01T00:00:00Z',
      end: '2026-01-01T00:05:00Z',
      nodeClaims: [{ nodePool: 'general', pods: ['default/single'], nodeName: expect.any(String) }],
      nodes: [{}],
      pods: { running: 1, succeeded: 0, pending: [] },
      nodeOverlays: [{ name: 'dearer', ready: true }],
      nodePools: [{ name: 'general', nodes: 1, ready: true }],
      rejected: {},
      totals: { nodes: 1, launched: 1, terminated: 0 },
    });
  });

  it('the same manifests and seed give the same bytes, another seed other names', async () => {
    const first = await simulated(WORLD, '-o', 'json');
    const again = await simulated(WORLD, '-o', 'json');
    const other = await simulated(WORLD, '-o', 'json', '--seed', '2');
    expect(again.stdout).toBe(first.stdout);
    expect(other.stdout).not.toBe(first.stdout);
  });

  it('prices are those of the region, and a scenario runs', async () => {
    const scenario = 'steps:\n  - at: 2m\n    delete: [{ kind: Pod, name: single }]\n';
    const files = { ...WORLD, 'scenario.yaml': scenario };
    const options = ['--scenario', '@/scenario.yaml', '--region', 'eu-west-1', '-o', 'json'];
    const { exitCode, stdout } = await simulated(files, ...options);
    expect(exitCode).toBe(0);
    const state = JSON.parse(stdout);
    expect(state).toMatchObject({ region: 'eu-west-1', pods: { running: 0 }, nodeClaims: [] });
    const launched = state.timeline.find(({ kind }: { kind: string }) => kind === 'launched');
    expect(launched.message).toContain('eu-west-1');
  });

  it('--record writes the state and the decisions', async () => {
    const found = await inFolder(WORLD, async (folder) => {
      const record = join(folder, 'out', 'run');
      await joiner('simulate', folder, '--duration', '5m', '--record', record);
      expect(existsSync(join(record, 'final-state.json'))).toBe(true);
      return readFileSync(join(record, 'decisions.ndjson'), 'utf8');
    });
    const [line = ''] = found.split('\n');
    expect(JSON.parse(line)).toHaveProperty('action');
  });

  it('--record mixes no two runs in a folder', async () => {
    await inFolder(WORLD, async (folder) => {
      const record = join(folder, 'out');
      const run = (...more: readonly string[]) =>
        joiner('simulate', folder, '--duration', '5m', '--record', record, ...more);
      await run();
      const before = readFileSync(join(record, 'decisions.ndjson'), 'utf8');
      const { exitCode, stdout, stderr } = await run('--seed', '2');
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain(`--record ${record}: has records of another run already`);
      expect(readFileSync(join(record, 'decisions.ndjson'), 'utf8')).toBe(before);
    });
  });

  it('says of overlays that are ready why they change nothing', async () => {
    const idle = NODE_OVERLAY.replace('dearer', 'idle').replace(/ {2}priceAdjustment[\s\S]*$/, '');
    const dead = NODE_OVERLAY.replace('dearer', 'dead').replace('[m6i.large]', '[p9.large]');
    const files = { 'world.yaml': [NODE_CLASS, POOL, NODE_OVERLAY, idle, dead].join('---\n') };
    const { stdout } = await simulated(files);
    expect(stdout).toMatch(/^ {2}dearer +True$/m);
    expect(stdout).toMatch(/^ {2}idle +True +without effect: it sets neither/m);
    expect(stdout).toMatch(/^ {2}dead +True +dead: it matches no instance type/m);
  });

  it('counts the pods of DaemonSets apart', async () => {
    const agent = DEPLOYMENT.replace('kind: Deployment', 'kind: DaemonSet')
      .replace('name: web', 'name: agent')
      .replace('  replicas: 2\n', '')
      .replace(/ {6}topologySpread[\s\S]*? {6}containers/, '      containers');
    const files = { 'world.yaml': [NODE_CLASS, POOL, agent, POD].join('---\n') };
    const { stdout } = await simulated(files);
    expect(stdout).toMatch(/1 \(and 1 of DaemonSets\)$/m);
  });

  it('--strict fails when pods stay pending', async () => {
    const files = { 'world.yaml': [NODE_CLASS, POOL, POD.replace('500m', '5000')].join('---\n') };
    const lenient = await simulated(files);
    expect(lenient.exitCode).toBe(0);
    expect(lenient.stdout).toContain('pending: default/single');
    expect((await simulated(files, '--strict')).exitCode).toBe(1);
  });

  it('instance types that the catalog lacks are named', async () => {
    const expression = (key: string, values: string) =>
      `        - key: ${key}\n          operator: In\n          values: [${values}]\n`;
    const pool = POOL.replace(
      /( {6}requirements:\n)/,
      `$1${expression('node.kubernetes.io/instance-type', 'c5.large, g4ad.xlarge')}`,
    );
    const { exitCode, stderr } = await simulated({
      'world.yaml': [NODE_CLASS, pool].join('---\n'),
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('NodePool/general: the catalog of us-east-1 has no g4ad.xlarge; ');
    expect(stderr).not.toContain('c5.large');
  });

  it.each([
    [
      'karpenter.sh/capacity-type',
      'spot, ondemand',
      'has no value ondemand (did you mean on-demand?)',
    ],
    ['kubernetes.io/arch', 'arm46', 'kubernetes.io/arch has no value arm46 (did you mean arm64?)'],
    ['node.kubernetes.io/instance-type', 'm5.lagre', 'has no m5.lagre (did you mean m5.large?); '],
    ['topology.kubernetes.io/zone', 'us-esat-1a', 'has no us-esat-1a (did you mean us-east-1a?); '],
    ['topology.kubernetes.io/zone', 'us-east-1z', 'no us-east-1z (there are: us-east-1a, us-east'],
  ])('a value of %s that nothing has, %s, is told with the near one', async (key, values, says) => {
    const pool = POOL.replace(
      /( {6}requirements:\n)/,
      `$1        - { key: ${key}, operator: In, values: [${values}] }\n`,
    );
    const { exitCode, stderr } = await simulated({
      'world.yaml': [NODE_CLASS, pool].join('---\n'),
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('joiner: NodePool/general: ');
    expect(stderr).toContain(says);
  });

  it('a drain that there is not is told, with the line', async () => {
    const pod = (value: string) =>
      [
        'apiVersion: v1',
        'kind: Pod',
        `metadata: { name: a, annotations: { joiner.dev/drain: ${value} } }`,
        'spec: { containers: [{ name: a, image: a }] }',
        '',
      ].join('\n');
    const said = async (value: string) => {
      const { stderr } = await simulated({
        'pod.yaml': pod(value),
        'world.yaml': [NODE_CLASS, POOL].join('---\n'),
      });
      return stderr;
    };
    expect(await said('rolout')).toContain(
      'pod.yaml:3: Pod/a: metadata.annotations: annotation joiner.dev/drain: "rolout" is invalid; ',
    );
    expect(await said('rollout')).not.toContain('is invalid');
  });

  it('other kinds are named once and ignored', async () => {
    const other = 'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n';
    const { exitCode, stderr } = await simulated({ ...WORLD, 'service.yaml': other });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('ignored kinds: Service');
  });
});
