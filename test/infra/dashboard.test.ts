import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { newsFilter } from '../../functions/runtime/repeats.ts';
import { logRecorder, telemetry } from '../../functions/runtime/telemetry.ts';
import { HEADINGS } from '../../infra/constructs/dashboard-texts.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { dashboardWidgets, type Line as GraphLine } from '../../scripts/docs/dashboard/body.ts';
import { grafanaDashboard } from '../../scripts/docs/dashboard/grafana.ts';
import { lifecycle } from '../../shared/app/lifecycle/lifecycle.ts';
import { provision } from '../../shared/app/provision/provision.ts';
import { METRICS } from '../../shared/contract/metrics.ts';
import { DECISION_LOG } from '../../shared/contract.ts';
import { PortError, type Recorder } from '../../shared/ports.ts';
import { anchorsOf } from '../docs/pages.ts';
import { deployment } from '../sim/small-world.ts';
import { reading, runningWorld, settings, waitingWorld, withPorts } from '../unit/app/world.ts';
import { resources, synthesise } from './synthesis.ts';
import { synthesiseVariant } from './variants.ts';

type Line = Readonly<Record<string, unknown>>;

/** What one recorder writes to the log, as `message` and fields. */
function capturing(): { readonly recorder: Recorder; readonly lines: Line[] } {
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true');
  const { logger, metrics } = telemetry('demo');
  const lines: Line[] = [];
  vi.spyOn(logger, 'info').mockImplementation((message, ...fields) => {
    lines.push(Object.assign({ message }, ...fields));
  });
  return { recorder: logRecorder({ logger, metrics }), lines };
}

/** Pods that fit and one that does not, a refused launch, a pause, and a termination. */
async function linesOfARun(): Promise<readonly Line[]> {
  const { recorder, lines } = capturing();
  const { ports: free } = await waitingWorld([
    deployment('web', 1, '1'),
    deployment('huge', 1, '10000'),
  ]);
  const ports = { ...free, recorder };
  const launch = async () => {
    throw new PortError('unauthorised', 'UnauthorizedOperation', 'ec2:CreateFleet: no');
  };
  await provision(withPorts(ports, { compute: { launch } }), settings);
  await provision(ports, settings);
  const pausedUntilMs = { launch: Number.POSITIVE_INFINITY };
  const read = reading(ports, (state) => ({ ...state, pausedUntilMs }));
  await provision(withPorts(ports, { cluster: { read } }), settings);
  const { ports: ended } = await runningWorld([deployment('web', 1, '1')]);
  const ending = reading(ended, (state) => {
    const nodeClaims = state.objects.nodeClaims.map((claim) => ({
      ...claim,
      deletedAtMs: claim.createdAtMs,
    }));
    return { ...state, objects: { ...state.objects, nodeClaims, nodes: [] } };
  });
  await lifecycle(withPorts({ ...ended, recorder }, { cluster: { read: ending } }), settings);
  return lines;
}

const lines = await linesOfARun();
const dashboard = JSON.stringify([
  ...resources(synthesiseVariant('defaults'), 'AWS::CloudWatch::Dashboard').values(),
]);
const { fields, message } = DECISION_LOG;

describe('every table of the dashboard', () => {
  const actions = new Set(
    dashboard.match(/action = \W*"[\w-]+/g)?.map((each) => each.split('"').at(-1) ?? ''),
  );

  it('filters on what a decision does', () => {
    expect([...actions].sort()).toEqual([
      'launch',
      'launch-failed',
      'none',
      'terminate',
      'unschedulable',
    ]);
  });

  it.each([...actions])('has rows where %s was decided', (action) => {
    const rows = lines.filter(
      (line) => line['message'] === message && line[fields.action] === action,
    );
    expect(rows).not.toEqual([]);
    const grouped = ['launch', 'terminate'].includes(action)
      ? [fields.nodePool, fields.capacityType]
      : [fields.reason, fields.text];
    for (const row of rows) for (const field of grouped) expect(row[field]).toMatch(/./);
  });
});

describe('the dashboard', () => {
  const widgets = dashboardWidgets();
  const graphs = widgets.filter((each) => each.type === 'graph');
  const metrics = (line: GraphLine): string => `${line.metric?.namespace} ${line.metric?.name}`;

  it('begins each row with a question', () => {
    const rows = [...Map.groupBy(widgets, ({ y }) => y).values()];
    expect(rows[0]?.map(({ type }) => type)).toEqual(['text']);
    for (const row of rows) {
      expect(row.reduce((sum, { width }) => sum + width, 0)).toBe(24);
    }
    const questions = widgets.flatMap((each) => (each.type === 'text' ? [each.markdown] : []));
    // The row of a stack that never acts: test/infra/shadow.test.ts.
    const { shadow: _, ...own } = HEADINGS;
    expect(questions).toHaveLength(Object.keys(own).length);
    for (const each of questions) expect(each).toMatch(/^## .+\?\n.*`joiner /);
  });

  it('leads to pages of the site, and to sections of these that exist', () => {
    const texts = JSON.stringify(HEADINGS);
    expect(texts).not.toContain('docs/');
    const urls = [...texts.matchAll(/\]\(([^)]+)\)/g)].map(([, url = '']) => url);
    expect(urls.length).toBeGreaterThan(6);
    for (const url of urls) {
      expect(url.startsWith(packageJson.homepage)).toBe(true);
      const [path = '', section] = url.slice(packageJson.homepage.length).split('#');
      const page = join('docs', path.replace('.html', '.md'));
      expect(existsSync(page), url).toBe(true);
      if (section !== undefined) expect([...anchorsOf(page)], url).toContain(section);
    }
  });

  it.each(graphs)('$title has lines, units and an axis that people read', ({ lines, axis }) => {
    expect(axis).toMatch(/^[A-Za-z ]+$/);
    const shown = lines.filter(({ isHidden }) => !isHidden).map(({ label }) => label);
    expect(shown.length).toBeGreaterThan(0);
    expect(new Set(shown).size).toBe(shown.length);
    for (const label of shown) expect(label).not.toMatch(/^$|karpenter_|joiner_|Approximate/);
  });

  it('shows the thresholds of the alarms on the same figures', () => {
    const alarms = [...resources(synthesiseVariant('defaults'), 'AWS::CloudWatch::Alarm')];
    const limits = graphs.flatMap((each) => each.limits);
    expect(limits).toHaveLength(4);
    for (const { label, value } of limits) {
      const [, name = ''] = /^alarm (\w+): /.exec(label) ?? [];
      const [, alarm] = alarms.find(([id]) => id.includes(`Alarms${name}`)) ?? [];
      // Of messages that failed, the first is one more than the threshold.
      expect(value).toBe(name === 'DeadLetters' ? 1 : alarm?.['Threshold']);
    }
  });

  it('has neither limits nor states of alarms where there are none', () => {
    const body = JSON.stringify([
      ...resources(
        synthesise({ cluster: 'demo', alarms: false }),
        'AWS::CloudWatch::Dashboard',
      ).values(),
    ]);
    expect(body).not.toMatch(/annotations|Is anything wrong/);
    expect(body).toContain('Do pods get nodes?');
  });

  it('is the same for Grafana, but for the alarms', () => {
    const { panels } = JSON.parse(grafanaDashboard());
    const titled = (each: { title?: string; options?: { content: string } }) =>
      each.title ?? each.options?.content;
    const expected = widgets
      .filter(({ type }) => type !== 'alarm')
      .map((each) =>
        each.type === 'text' ? each.markdown : each.type === 'alarm' ? '' : each.title,
      )
      .filter((each) => !each.startsWith('## Is anything wrong?'));
    expect(panels.map(titled)).toEqual(expected);
    type Target = { namespace?: string; metricName?: string; id: string; expression?: string };
    for (const graph of graphs) {
      const panel = panels.find((each: { title?: string }) => each.title === graph.title);
      const targets: readonly Target[] = panel.targets;
      const own = graph.lines.map((line) => line.expression ?? metrics(line));
      expect(
        targets.map((each) => each.expression || `${each.namespace} ${each.metricName}`),
      ).toEqual(own);
      expect(new Set(targets.map(({ id }) => id)).size).toBe(targets.length);
    }
    expect(JSON.stringify(panels)).not.toContain('demo');
  });
});

it('what repeats is said once a minute', () => {
  const isNews = newsFilter();
  const record = {
    id: 'provision-none-paused',
    useCase: 'provision',
    object: 'NodeClaims',
    action: 'none',
    reasons: [],
    message: 'paused',
    detail: { reason: 'paused' },
  } as const;
  const said = [0, 1000, 59_999, 60_000].filter((atMs) => isNews({ ...record, atMs }));
  expect(said).toEqual([0, 60_000]);
});

it('passes that change nothing say so once an hour, or when the reasons are others', () => {
  const isNews = newsFilter();
  const minute = (at: number, id: string): boolean =>
    isNews({
      id,
      atMs: at * 60_000,
      useCase: 'disrupt',
      object: 'cluster',
      action: 'unchanged',
      reasons: [],
      message: '',
      detail: {},
    });
  const said = [
    [0, 'a'],
    [1, 'a'],
    [2, 'b'],
    [3, 'a'],
    [62, 'a'],
    [63, 'a'],
  ] as const;
  expect(said.map(([at, id]) => minute(at, id))).toEqual([true, false, true, true, false, true]);
});

it('the dashboard shows metrics that exist', () => {
  const shown = new Set(dashboard.match(/(karpenter|joiner)_\w+/g));
  const known = new Set<string>(Object.values(METRICS).map(({ name }) => name));
  expect([...shown].filter((each) => !known.has(each))).toEqual([]);
});

/** The text of the code that counts and measures. */
const emitting = ['shared/app', 'functions']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  )
  .join('\n');

it.each(Object.entries(METRICS))('%s is emitted somewhere', (key, { name }) => {
  const short = name.replace(/^(karpenter|joiner)_/, '');
  const isNamed = new RegExp(`'${short}'|addMetric\\([\\w.]+, '${key}'`).test(emitting);
  expect(isNamed).toBe(true);
});
