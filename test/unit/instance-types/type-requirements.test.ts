import { describe, expect, it } from 'vitest';
import {
  allowsSome,
  typeMeets,
  typeValues,
  type Undescribed,
} from '../../../shared/core/instance-types/type-requirements.ts';
import type { RequirementExpression } from '../../../shared/core/model/requirement.ts';
import { requirementsOf, valueSet } from '../../../shared/core/requirements/value-set.ts';

/** It has one size, either architecture, never a GPU, and says nothing of teams. */
const type = {
  name: 'm7g.large',
  labels: { size: ['large'], arch: ['arm64', 'amd64'], gpu: null, none: [] },
};

type Row = readonly [string, RequirementExpression['operator'], readonly string[], string];

/** What is asked, and in which modes the type meets it: absent, open, with the pool's `team`. */
const ROWS: readonly Row[] = [
  ['size', 'In', ['large'], 'absent open defined'],
  ['size', 'In', ['small'], ''],
  ['size', 'NotIn', ['large'], ''],
  ['size', 'Exists', [], 'absent open defined'],
  ['size', 'DoesNotExist', [], ''],
  ['arch', 'In', ['amd64'], 'absent open defined'],
  ['arch', 'NotIn', ['amd64'], 'absent open defined'],
  ['arch', 'NotIn', ['amd64', 'arm64'], ''],
  ['gpu', 'Exists', [], ''],
  ['gpu', 'DoesNotExist', [], 'absent open defined'],
  ['gpu', 'NotIn', ['a10g'], 'absent open defined'],
  ['none', 'In', ['x'], ''],
  ['none', 'DoesNotExist', [], 'absent open defined'],
  ['team', 'In', ['red'], 'open defined'],
  ['team', 'DoesNotExist', [], 'absent open defined'],
  ['team', 'NotIn', ['red'], 'absent open defined'],
  ['stage', 'Exists', [], 'open'],
  ['stage', 'NotIn', ['dev'], 'absent open defined'],
  ['node.kubernetes.io/instance-type', 'In', ['m7g.large'], 'absent open defined'],
  ['node.kubernetes.io/instance-type', 'NotIn', ['m7g.large'], ''],
];

const MODES: readonly (readonly [string, Undescribed])[] = [
  ['absent', 'absent'],
  ['open', 'open'],
  ['defined', new Set(['team'])],
];

describe('what a type describes', () => {
  it.each(ROWS)('%s %s %j is met where others are: %s', (key, operator, values, expected) => {
    const requirements = requirementsOf([{ key, operator, values }]);
    const met = MODES.filter(([, undescribed]) => typeMeets(requirements, type, undescribed));
    expect(met.map(([name]) => name).join(' ')).toBe(expected);
  });

  it('has to meet every requirement', () => {
    const requirements = requirementsOf([
      { key: 'size', operator: 'In', values: ['large'] },
      { key: 'arch', operator: 'In', values: ['s390x'] },
    ]);
    expect(typeMeets(requirements, type, 'open')).toBe(false);
  });

  it('is undefined, or empty where nodes never have it', () => {
    expect(['size', 'gpu', 'team'].map((key) => typeValues(type, key))).toEqual([
      ['large'],
      [],
      undefined,
    ]);
    expect(allowsSome(valueSet('DoesNotExist', []), [])).toBe(true);
    expect(allowsSome(valueSet('Exists', []), [])).toBe(false);
  });
});
