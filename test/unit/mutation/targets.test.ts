import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FOLDERS, TARGETS, targetsOf } from '../../mutation/targets.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const filesOf = (patterns: readonly string[]): readonly string[] =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));

describe('the targets of mutation testing', () => {
  it('have each file of their folders once', () => {
    const mutated = Object.values(TARGETS).flatMap(({ mutate }) => filesOf(mutate));
    const all = filesOf(FOLDERS.map((folder) => `shared/core/${folder}/**/*.ts`));
    expect(mutated.toSorted()).toEqual([...all, 'shared/core/quantity.ts'].toSorted());
  });

  it.each(Object.entries(TARGETS))('%s has suites', (_, { suites }) => {
    for (const pattern of suites) expect(filesOf([pattern]), pattern).not.toEqual([]);
  });

  it('are found by their name, or that of their folder', () => {
    expect(targetsOf('overlay')).toEqual(['overlay']);
    expect(targetsOf('disruption')).toEqual(['disruption', 'disruption/consolidation']);
    expect(targetsOf('launch/bars')).toEqual(['launch/bars']);
    expect(targetsOf('laun')).toBeUndefined();
  });
});
