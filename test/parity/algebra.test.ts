import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Operator } from '../../shared/core/model/requirement.ts';
import { parseQuantity, quantityMax } from '../../shared/core/quantity.ts';
import {
  allows,
  intersect,
  intersects,
  valueSet,
} from '../../shared/core/requirements/value-set.ts';
import { minValuesOf } from '../../shared/core/scheduling/search/min-values.ts';
import { poolOf } from '../builders/scheduling.ts';
import { quantityTexts } from './algebra/quantity-texts.ts';
import table from './algebra/requirements.json' with { type: 'json' };

/** Answers of Karpenter 1.14.1 and apimachinery 0.35.1; `algebra/answers.go` has made them. */
function answersOf(name: string): readonly string[] {
  const file = join(import.meta.dirname, 'algebra', `${name}.answers.txt`);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

const { Probes: probes, Expressions: expressions } = table;

function textOf({ Operator, Values }: (typeof expressions)[number]): string {
  return `${Operator} ${Values.join()}`.trim();
}

function setOf({ Operator: operator, Values }: (typeof expressions)[number]) {
  return valueSet(operator as Operator, Values);
}

const rows = expressions.flatMap((a) =>
  expressions.map((b) => [textOf(a), textOf(b), a, b] as const),
);

describe('two requirements of one label together, as Karpenter answers', () => {
  const answers = answersOf('requirements');

  it('are all pairs of all operators', () => {
    expect(rows.length).toBeGreaterThanOrEqual(700);
    expect(answers).toHaveLength(rows.length);
  });

  it.each(rows.map((row, index) => [...row, answers[index] ?? ''] as const))(
    '%s and %s',
    (_, __, a, b, answer) => {
      const both = intersect(setOf(a), setOf(b));
      const allowed = probes.map((probe) => (allows(both, probe) ? '1' : '0')).join('');
      expect(allowed).toBe(answer.slice(0, probes.length));
      const [absent, meet] = answer.slice(probes.length);
      expect(allows(both, undefined) ? '1' : '0').toBe(absent);
      expect(intersects(setOf(a), setOf(b)) ? '1' : '0').toBe(meet);
    },
  );
});

describe('minValues of two requirements of one label, as Karpenter answers for each pair', () => {
  const lines = answersOf('min-values').map((line) => line.split(' ').map(Number));

  /** 0 stands for none, on both sides. */
  const withMin = ({ Operator, Values }: (typeof expressions)[number], minimum: number) => ({
    key: 'example.com/key',
    operator: Operator as Operator,
    values: Values,
    ...(minimum === 0 ? {} : { minValues: minimum }),
  });

  it.each(lines)('%i and %i: %i', (x, y, answer) => {
    for (const [, , a, b] of rows) {
      const pool = poolOf('general', { requirements: [withMin(a, x ?? 0), withMin(b, y ?? 0)] });
      expect(minValuesOf(pool).get('example.com/key') ?? 0).toBe(answer);
    }
  });

  it('are of none, few and many', () => {
    expect(lines).toHaveLength(25);
  });
});

const SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/** About how large: the API server's own answers for large quantities overflow. */
function roughly(text: string): number {
  const parts = /^[+-]?([\d.]+)(?:[eE]([+-]?\d+)|(\D?)(i?))$/.exec(text.replace('Ki', 'ki'));
  const [, number = '', exponent = '0', suffix = '', binary] = parts ?? [];
  return Number(`${number}e${exponent}`) * (binary ? 1024 : 1000) ** (SUFFIXES.indexOf(suffix) - 3);
}

describe('quantities, as the API server reads them', () => {
  const texts = quantityTexts(10_000);
  const answers = answersOf('quantities');

  it('are 10,000, most of them valid', () => {
    expect(answers).toHaveLength(texts.length);
    expect(answers.filter((each) => each !== '!').length).toBeGreaterThan(5000);
  });

  it('have its value, and its thousandths for cpu', () => {
    const wrong = texts.flatMap((text, index) => {
      const [value = '', milli = ''] = (answers[index] ?? '').split(' ');
      const ours = [parseQuantity(text, 'memory'), parseQuantity(text, 'cpu')];
      const theirs = value === '!' ? [undefined, undefined] : [Number(value), Number(milli)];
      const isSame = theirs.every((each, at) => {
        const resource = at === 0 ? 'memory' : 'cpu';
        // Beyond 2^53 nothing is counted exactly: it is well formed, and said to be too large.
        if (ours[at] === undefined) {
          const isTooLarge = roughly(text) * 1000 ** at > Number.MAX_SAFE_INTEGER * 0.999;
          return quantityMax(text, resource) === undefined ? each === undefined : isTooLarge;
        }
        // Of texts without a digit it takes most as 0, and refuses a few: nobody ever has those.
        if (each === undefined && !/\d/.test(text.split(/[eE]/)[0] ?? '')) return ours[at] === 0;
        // No request, limit or capacity is negative; of large ones the API server overflows.
        if (text.startsWith('-') && each !== undefined) {
          const positive = parseQuantity(text.slice(1), resource, 'down') ?? 0;
          return ours[at] === 0 - positive;
        }
        return each === ours[at];
      });
      return isSame ? [] : [`${text}: ${ours.join(' ')}, API server ${answers[index]}`];
    });
    expect(wrong).toEqual([]);
  });
});
