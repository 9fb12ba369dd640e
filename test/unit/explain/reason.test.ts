import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { decisionRecordSchema, reasonSchema } from '../../../shared/api/decision-record.ts';
import { REASON_GROUPS, REASONS } from '../../../shared/core/explain/definitions.ts';
import { reason, sentence } from '../../../shared/core/explain/reason.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../sim/small-world.ts';
import { sources, textOf } from '../../support/repository.ts';

const codes = Object.keys(REASONS);

describe('the list of reasons', () => {
  it('has each code in one part of the documentation', () => {
    expect(REASON_GROUPS.flatMap(({ reasons }) => Object.keys(reasons)).sort()).toEqual(
      [...codes].sort(),
    );
  });

  it.each(Object.entries(REASONS))('%s is described in sentences', (code, { meaning, remedy }) => {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(meaning).toMatch(/^\S.*\.$/s);
    expect(remedy).toMatch(/^\S.*\.$/s);
  });

  it('has no reason that nobody gives', () => {
    const givers = sources.filter(
      (file) =>
        /^(shared|functions|cli)\//.test(file) && !file.startsWith('shared/core/explain/reasons/'),
    );
    const all = givers.map(textOf).join('\n');
    expect(codes.filter((code) => !all.includes(`'${code}'`))).toEqual([]);
  });
});

describe('a reason', () => {
  const capped = reason('launches-capped', { waiting: 3 });

  it('is put in words from its code and parameters', () => {
    expect(sentence(capped)).toBe('3 launches wait: maxLaunchesPerMinute is reached');
    expect(sentence(JSON.parse(JSON.stringify(capped)))).toBe(sentence(capped));
  });

  it.each([
    ['as it is', capped, true],
    ['of no known code', { code: 'whim', parameters: {} }, false],
    ['without a parameter', { code: 'launches-capped', parameters: {} }, false],
    ['with one too many', { code: 'launches-paused', parameters: { waiting: 3 } }, false],
    ['with another type', { code: 'launches-capped', parameters: { waiting: 'three' } }, false],
  ])('%s: the schema says so', (_, value, isValid) => {
    expect(reasonSchema.safeParse(value).success).toBe(isValid);
  });
});

describe('records', () => {
  it('are what the schema says, and JSON Schema can be made of it', async () => {
    const { world } = await smallWorld([
      nodeClass,
      nodePool(['on-demand']),
      deployment('web', 3, '1'),
    ]);
    await world.run(world.timeline.nowMs() + 15 * 60_000);
    const { decisions } = world.recorder;
    expect(new Set(decisions.map(({ action }) => action))).toContain('create');
    for (const each of decisions) {
      expect(decisionRecordSchema.safeParse(JSON.parse(JSON.stringify(each))).error).toBe(
        undefined,
      );
    }
    expect(JSON.stringify(z.toJSONSchema(decisionRecordSchema)).length).toBeGreaterThan(10_000);
  });

  it('of passes that change nothing say why, once for the same reasons', async () => {
    const { world } = await smallWorld([
      nodeClass,
      nodePool(['on-demand']),
      deployment('web', 3, '1'),
    ]);
    await world.run(world.timeline.nowMs() + 30 * 60_000);
    const idle = world.recorder.decisions.filter(({ action }) => action === 'unchanged');
    const said = idle.map(({ useCase, message }) => `${useCase}: ${message}`);
    expect(said).toContain('provision: nothing changes: no pod waits for a node (Pods)');
    expect(said).toContainEqual(
      expect.stringMatching(/^disrupt: nothing changes: .* \(NodeClaim\//),
    );
    expect(new Set(idle.map(({ id }) => id)).size).toBe(idle.length);
    expect(idle.length).toBeLessThan(12);
  });
});
