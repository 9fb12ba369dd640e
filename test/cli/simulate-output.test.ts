import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { progressTo } from '../../cli/progress.ts';
import { loadObjects } from '../../cli/simulate/load.ts';
import { podCounts } from '../../cli/simulate/pod-counts.ts';
import { SimulationProgress } from '../../cli/simulate/progress.ts';
import { renderFinalState, type View } from '../../cli/simulate/render.ts';
import { prepareSimulation, runUntil } from '../../cli/simulate/run.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import type { Ports } from '../../shared/ports.ts';
import type { FinalState } from '../../shared/sim/report.ts';
import { root } from '../support/repository.ts';
import { DEPLOYMENT, NODE_CLASS, NODE_POOL, POD } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOL = NODE_POOL.replace(/ {6}taints:[\s\S]*?NoSchedule\n/, '');
const AGENT = DEPLOYMENT.replace('kind: Deployment', 'kind: DaemonSet')
  .replace('name: web', 'name: agent')
  .replace('  replicas: 2\n', '')
  .replace('cpu: "1"', 'cpu: 10m')
  .replace(/ {6}topologySpread[\s\S]*? {6}containers/, '      containers');
const SYSTEM = POD.replace('500m', '100m').replace(
  'name: single',
  'name: cache\n  namespace: kube-system',
);
const WORLD = [NODE_CLASS, POOL, AGENT, SYSTEM, POD];

/** The final state of these manifests before anything is consolidated, and how it is shown. */
async function ran(documents: readonly string[], wrap = (ports: Ports): Ports => ports) {
  return inFolder({ 'world.yaml': documents.join('---\n') }, async (folder) => {
    const manifests = loadObjects([folder], 'us-east-1');
    const catalog = await loadCatalog('us-east-1');
    const simulation = await prepareSimulation({ catalog, seed: 1, manifests, wrap });
    const state = await runUntil(simulation, 100_000);
    const view: View = {
      source: simulation.source,
      pods: podCounts(simulation.world),
      verbose: false,
    };
    return { state, view, world: simulation.world };
  });
}

function summaryOf(text: string): string {
  return text.slice(text.indexOf('Summary'), text.indexOf('\n\n', text.indexOf('Summary')));
}

describe('the summary of a run', () => {
  it('comes first, and counts the pods that nodes were bought for', async () => {
    const { state, view } = await ran(WORLD);
    const text = renderFinalState(state, view);
    expect(text.indexOf('Summary')).toBeLessThan(text.indexOf('NodeClaims'));
    expect(text.indexOf('Timeline')).toBeGreaterThan(text.indexOf('Why'));
    const summary = summaryOf(text);
    expect(summary).toMatch(/^ {2}launched {2}1: 1 m\S+ \S+$/m);
    expect(summary).toMatch(/^ {2}nodes {5}1: 1 m\S+ \S+$/m);
    expect(summary).toMatch(/^ {2}cost {6}\$0\.\d{4}\/h now, \$0\.\d{4} for the whole run$/m);
    expect(summary).toMatch(/^ {2}pods {6}1 running, 0 pending$/m);
    expect(summary).toMatch(/^ +and of DaemonSets and kube-system 2 running, 0 pending$/m);
  });

  it('names the first reasons why pods wait, and the rest below', async () => {
    const waiting = ['5000', '6000', '7000', '8000'].map((cpu, at) =>
      POD.replace('500m', cpu).replace('name: single', `name: large-${at}`),
    );
    const few = await ran([...WORLD, ...waiting.slice(0, 1)]);
    expect(summaryOf(renderFinalState(few.state, few.view))).toMatch(/pending: default\/large-0\n/);
    const { state, view } = await ran([...WORLD, ...waiting]);
    expect(state.pods.pending).toHaveLength(4);
    const pending = state.pods.pending.map((pod, at) => ({ ...pod, reason: `reason ${at}` }));
    const many = { ...state, pods: { ...state.pods, pending } };
    const text = renderFinalState(many, view);
    expect(summaryOf(text)).toContain('… 1 more reason below');
    expect(summaryOf(text)).not.toContain('reason 3');
    expect(text.slice(text.indexOf('\nPods\n'))).toContain('reason 3');
  });

  it('says what went away, and why', async () => {
    const { state, view } = await ran(WORLD);
    const entry = (kind: string, object: string, message: string) => ({
      at: 1,
      kind,
      object: `NodeClaim/${object}`,
      message,
      pricePerHour: 0,
    });
    const timeline = [
      entry('DisruptionTerminating', 'a', 'Disrupting Node: Drifted'),
      entry('removed', 'a', 'the instance is gone'),
      entry('SpotInterrupted', 'b', 'spot_interrupted for instance i-1'),
      entry('removed', 'b', 'the instance is gone'),
      entry('removed', 'c', 'the instance is gone'),
      entry('expired', 'f', 'The NodeClaim is older than spec.expireAfter'),
      entry('removed', 'f', 'the instance is gone'),
      entry('ready', 'e', 'ip-10-0-0-1'),
      entry('removed', 'e', 'the instance is gone'),
      entry('deleted', 'd', 'not launched'),
      entry('removed', 'd', 'it never had an instance'),
    ];
    const summary = summaryOf(renderFinalState({ ...state, timeline }, view));
    expect(summary).toMatch(
      /^ {2}gone {6}5: 1 Drifted, 1 Expired, 1 deleted, 1 interrupted by EC2, 1 never ready; 0 evictions$/m,
    );
    expect(summary).toContain('1 more NodeClaim never had an instance');
  });
});

describe('long lists', () => {
  const long = (state: FinalState): FinalState => ({
    ...state,
    timeline: Array.from({ length: 1100 }, (_, at) => ({
      at,
      kind: 'running',
      object: `Node/${at}`,
      message: '1 pod running',
      pricePerHour: 1,
    })),
  });

  it('are cut unless all is asked for', async () => {
    const { state, view } = await ran(WORLD);
    const text = renderFinalState(long(state), view);
    expect(text).toMatch(/Node\/59 .*\n {2}… 1,040 more, -v shows them\n/);
    const all = renderFinalState(long(state), { ...view, verbose: true });
    expect(all).toContain('Node/1099 ');
    expect(all).not.toContain('-v shows them');
  });

  it('up to 60 lines are shown whole, and -v is an option', async () => {
    const { state, view } = await ran(WORLD);
    const timeline = long(state).timeline.slice(0, 60);
    const text = renderFinalState({ ...state, timeline }, view);
    expect(text).toContain('Node/59 ');
    expect(text).not.toContain('-v shows them');
    const files = { 'world.yaml': WORLD.join('---\n') };
    const { exitCode } = await inFolder(files, (folder) =>
      joiner('simulate', '-v', '--bare', '--duration', '1m', folder),
    );
    expect(exitCode).toBe(0);
  });
});

describe('pods that have a plan and no node', () => {
  const SPREAD = join(root, 'examples/07-spread-and-spot');

  it.each([
    ['its node has not joined', '20s', '', 'its node is not ready yet'],
    [
      'its launch is not allowed yet',
      '20s',
      'maxLaunchesPerMinute: 1',
      '4 launches wait: maxLaunchesPerMinute is reached',
    ],
  ])('wait for it, and it is said why: %s', async (_, duration, settings, why) => {
    await inFolder({ 'settings.yaml': settings }, async (folder) => {
      const stated = settings === '' ? [] : ['--settings', join(folder, 'settings.yaml')];
      const args = ['--duration', duration, '--bare', ...stated, '-o', 'json'];
      const { stdout } = await joiner('simulate', SPREAD, '--region', 'us-east-1', ...args);
      const { pods } = JSON.parse(stdout) as FinalState;
      const reasons = new Set(pods.pending.map(({ reason }) => reason));
      expect(reasons).toContain(`waiting for its NodeClaim: ${why}`);
      expect(reasons).not.toContain('waiting for a node');
    });
  });
});

it('a pod with scheduling gates waits for no node, and it is said that it is held back', async () => {
  const gated = POD.replace('spec:\n', 'spec:\n  schedulingGates:\n    - name: quota\n');
  const { state } = await ran([NODE_CLASS, POOL, gated]);
  const reason = 'held back by scheduling gates';
  expect(state.pods.pending).toEqual([{ name: 'default/single', reason }]);
});

describe('progress on a terminal', () => {
  it('is one line that is gone at the end, and changes nothing', async () => {
    const plain = await ran(WORLD);
    const written: string[] = [];
    const terminal = { write: (text: string) => written.push(text) };
    let realMs = 0;
    // Every look at the real clock finds it 150 ms later.
    const line = progressTo(terminal, () => {
      realMs += 150;
      return realMs;
    });
    const progress = new SimulationProgress(line, '5m');
    const simulation = await ran(WORLD, (ports) => progress.wrap(ports));
    expect(written).toEqual([]);
    expect(simulation.state).toEqual(plain.state);
    progress.of(simulation.world);
    const { clock } = progress.wrap(simulation.world.ports);
    for (let look = 0; look < 4; look++) clock.nowMs();
    expect(written[0]).toBe('\r\u001b[2K100s of 5m: 1 node, 3 pods');
    line.end();
    expect(written.at(-1)).toBe('\r\u001b[2K');
  });
});
