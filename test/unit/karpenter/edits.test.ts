import { describe, expect, it } from 'vitest';
import { changed } from '../../karpenter/edits.ts';

const CONTENT = 'func a() {\n\treturn 10\n}\nfunc b() {\n\treturn 20\n}\n';

describe('changes of a file', () => {
  it('replace texts, and what patterns match', () => {
    const fifth = (_: string, count = ''): string => `return ${Number(count) / 5}`;
    const changes = [['func a()', 'func $a()'] as const, [/return (\d+)/g, fifth] as const];
    expect(changed('f.go', CONTENT, changes)).toBe(
      'func $a() {\n\treturn 2\n}\nfunc b() {\n\treturn 4\n}\n',
    );
  });

  it.each([
    ['is gone', 'func c()', 0],
    ['is there twice', 'func ', 2],
    ['is a pattern that matches nothing', /func c/g, 0],
    ['is a pattern for one place and matches two', /func \w/, 2],
  ])('are refused where what they look for %s', (_, found, times) => {
    expect(() => changed('f.go', CONTENT, [[found, '']])).toThrow(`f.go has ${times} times`);
  });
});
