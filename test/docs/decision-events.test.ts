import { beforeAll, describe, expect, it, vi } from 'vitest';
import { logRecorder, telemetry } from '../../functions/runtime/telemetry.ts';
import {
  decisionRecordSchema,
  type ReadDecision,
  readDecisionSchema,
} from '../../shared/api/decision-record.ts';
import { chosenDecisions, decisionEntry } from '../../shared/aws/decision-events.ts';
import { property } from '../../shared/kube/list.ts';
import type { DecisionRecord } from '../../shared/ports.ts';
import { decodeScenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { apartOf, deployment, nodeClass, nodePool, smallWorld } from '../sim/small-world.ts';
import { matchesFilter, matchesPattern } from '../support/event-pattern.ts';
import { textOf } from '../support/repository.ts';
import { blocksOf } from './pages.ts';

const PAGE = 'docs/tasks/decision-events.md';
const ARN = 'arn:aws:eks:eu-west-1:111122223333:cluster/demo';
const HOUR_MS = 3_600_000;

/** Recipes of the page: `mark` and after it the actions that it is for. */
function recipes(mark: string) {
  return blocksOf(PAGE)
    .filter(({ marks }) => marks[0] === mark)
    .map(({ marks: [, ...actions], text }) => ({ name: actions.join(' '), actions, text }));
}

/** As EventBridge hands it to a rule. */
function eventOf(record: ReadDecision): object {
  const { Source, DetailType, Resources, Detail = '' } = decisionEntry(record, ARN);
  return {
    source: Source,
    'detail-type': DetailType,
    resources: Resources,
    detail: JSON.parse(Detail),
  };
}

/** The row of the page's table that begins so. */
function rowOf(first: string): string {
  return (
    textOf(PAGE)
      .split('\n')
      .find((line) => line.startsWith(`| ${first} |`)) ?? ''
  );
}

let made: readonly DecisionRecord[] = [];
let decisions: readonly ReadDecision[] = [];

/** Launches, a shortage, a pod that fits nowhere, and nodes that go. */
beforeAll(async () => {
  const scenario = decodeScenario({
    steps: [
      { at: '0s', unavailable: { capacityType: 'on-demand', for: '5m' } },
      { at: '40m', scale: { name: 'web', replicas: 1 } },
    ],
  });
  if (!scenario.ok) throw new Error(JSON.stringify(scenario.issues));
  const pods = [deployment('web', 6, '1', apartOf('web')), deployment('huge', 1, '500')];
  const disruption = { disruption: { consolidateAfter: '30s', budgets: [{ nodes: '100%' }] } };
  const manifests = [nodeClass, nodePool(['on-demand'], disruption), ...pods];
  const { world } = await smallWorld(manifests, { scenario: scenario.value });
  await world.run(WORLD_START_MS + HOUR_MS);
  made = world.recorder.decisions;
  decisions = made.map((each) => readDecisionSchema.parse(JSON.parse(JSON.stringify(each))));
});

describe('the patterns of rules', () => {
  it('are some', () => expect(recipes('pattern').length).toBeGreaterThan(2));

  it.each(recipes('pattern'))('match decisions to $name, and no others', ({ actions, text }) => {
    const pattern: unknown = JSON.parse(text);
    const isMatched = (each: ReadDecision) => matchesPattern(pattern, eventOf(each));
    const matched = new Set(decisions.filter(isMatched).map(({ action }) => action));
    const expected = actions.filter((action) => decisions.some((each) => each.action === action));
    expect(expected.length).toBeGreaterThan(0);
    expect([...matched].sort()).toEqual(expected.toSorted());
  });

  it('do not match another cluster, nor the wake-ups', () => {
    const [, ofOne] = recipes('pattern');
    const pattern: unknown = JSON.parse(ofOne?.text ?? '');
    const deleted = decisions.find(({ action }) => action === 'delete');
    if (deleted === undefined) throw new Error('no node was removed');
    const event = eventOf(deleted);
    expect(matchesPattern(pattern, event)).toBe(true);
    expect(matchesPattern(pattern, { ...event, resources: [`${ARN}-2`] })).toBe(false);
    expect(matchesPattern(pattern, { ...event, source: 'joiner' })).toBe(false);
  });
});

describe('the page', () => {
  it('shows an event as it is published', () => {
    const [shown] = recipes('event');
    const event: unknown = JSON.parse(shown?.text ?? '');
    const [one] = decisions;
    if (one === undefined) throw new Error('nothing was decided');
    expect(Object.keys(Object(event))).toEqual(Object.keys(eventOf(one)));
    const { error } = decisionRecordSchema.safeParse(property(event, 'detail'));
    expect(error).toBeUndefined();
  });

  it('names the actions that changes are', () => {
    const changes = new Set(chosenDecisions(decisions, 'changes').map(({ action }) => action));
    const row = rowOf('`changes`');
    expect([...changes].filter((action) => !row.includes(`\`${action}\``))).toEqual([]);
    const others = decisions.filter(({ action }) => !changes.has(action));
    expect(others.length).toBeGreaterThan(0);
    for (const { action } of others) expect(rowOf('`all`')).toContain(`\`${action}\``);
  });

  it('has a template whose paths an event has', () => {
    const [targets] = recipes('targets');
    const [target] = JSON.parse(targets?.text ?? '[]');
    const { InputPathsMap: paths, InputTemplate: template } = target.InputTransformer;
    const [one] = decisions;
    if (one === undefined) throw new Error('nothing was decided');
    let text: string = template;
    for (const [name, path] of Object.entries(paths)) {
      const steps = String(path).split('.').slice(1);
      const value = steps.reduce<unknown>((at, step) => property(at, step), eventOf(one));
      expect(value, name).toEqual(expect.any(String));
      text = text.replace(`<${name}>`, JSON.stringify(value).slice(1, -1));
    }
    expect(JSON.parse(text)).toMatchObject({ version: '1.0', source: 'custom' });
  });
});

describe('the metric filters', () => {
  it.each(recipes('filter'))('match log lines of decisions to $name', async ({ actions, text }) => {
    vi.stubEnv('POWERTOOLS_DEV', 'true');
    const tools = telemetry('demo');
    const lines: Record<string, unknown>[] = [];
    vi.spyOn(tools.logger, 'info').mockImplementation((...[message, fields]) => {
      lines.push({ message, ...Object(fields) });
    });
    const recorder = logRecorder(tools);
    for (const each of made) await recorder.decision(each);
    vi.unstubAllEnvs();
    const matched = lines.filter((line) => matchesFilter(text, line));
    expect(new Set(matched.map(({ action }) => action))).toEqual(new Set(actions));
  });
});
