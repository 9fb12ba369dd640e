import { describe, expect, it } from 'vitest';
import { reasonsNotDue } from '../../../shared/core/disruption/not-due.ts';
import { sentences } from '../../../shared/core/explain/reason.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import { claimOf, podOf, poolOf, yes } from '../../builders/scheduling.ts';

const NOW_MS = 1_000_000;
const claim = claimOf('a', { conditions: yes('Initialized') });
const OPEN = { consolidateAfter: 0, consolidationPolicy: 'WhenEmptyOrUnderutilized' } as const;

function said(disruption: Partial<NodePool['disruption']>, rest: Partial<NodePool> = {}): string {
  const pool = poolOf('general', { disruption: { budgets: [], ...OPEN, ...disruption }, ...rest });
  return sentences(reasonsNotDue({ claim, pods: [podOf('p')], pool }, NOW_MS));
}

describe('why the NodePool keeps a node', () => {
  it.each<readonly [string, Partial<NodePool['disruption']>, Partial<NodePool>, string]>([
    ['it does not', {}, {}, ''],
    ['static', {}, { replicas: 2 }, 'NodePool general is static'],
    ['empty nodes only', { consolidationPolicy: 'WhenEmpty' }, {}, 'WhenEmpty'],
    ['never', { consolidateAfter: 'Never' }, {}, 'Never'],
    ['not yet', { consolidateAfter: 10 * NOW_MS }, {}, 'consolidateAfter'],
  ])('%s', (_, disruption, rest, text) => {
    const found = said(disruption, rest);
    if (text === '') expect(found).toBe('');
    else expect(found).toContain(text);
  });

  it('names all of them', () => {
    const found = said(
      { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' },
      { replicas: 1 },
    );
    expect(found.split('; ')).toHaveLength(3);
  });
});
