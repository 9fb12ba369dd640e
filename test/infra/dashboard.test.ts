import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { newsFilter } from '../../functions/runtime/repeats.ts';
import { logRecorder, telemetry } from '../../functions/runtime/telemetry.ts';
import { lifecycle } from '../../shared/app/lifecycle/lifecycle.ts';
import { provision } from '../../shared/app/provision/provision.ts';
import { METRICS } from '../../shared/contract/metrics.ts';
import { DECISION_LOG } from '../../shared/contract.ts';
import { PortError, type Recorder } from '../../shared/ports.ts';
import { deployment } from '../sim/small-world.ts';
import { reading, runningWorld, settings, waitingWorld, withPorts } from '../unit/app/world.ts';
import { resources } from './synthesis.ts';
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
  const isNamed = new RegExp(`'${short}'|METRICS\\.${key}\\b`).test(emitting);
  expect(isNamed).toBe(true);
});
