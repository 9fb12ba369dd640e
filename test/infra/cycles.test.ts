import { expect, it } from 'vitest';
import { synthesiseVariant, VARIANT_NAMES } from './variants.ts';

/** Logical ids that a resource names, in whichever form. */
function named(value: unknown, ids: ReadonlySet<string>): readonly string[] {
  const found = JSON.stringify(value).match(/[A-Za-z0-9]+/g) ?? [];
  return [...new Set(found.filter((word) => ids.has(word)))];
}

/** The resources in an order in which each comes after those it names; what is left is a circle. */
function circle(resources: Readonly<Record<string, unknown>>): readonly string[] {
  const ids = new Set(Object.keys(resources));
  const waiting = new Map(
    Object.entries(resources).map(([id, each]) => [
      id,
      new Set(named(each, ids).filter((other) => other !== id)),
    ]),
  );
  for (;;) {
    const ready = [...waiting].filter(([, others]) => others.size === 0).map(([id]) => id);
    if (ready.length === 0) return [...waiting.keys()];
    for (const id of ready) waiting.delete(id);
    for (const others of waiting.values()) for (const id of ready) others.delete(id);
  }
}

it.each(VARIANT_NAMES)(
  'no resource of %s waits for itself',
  (name) => {
    const { template } = synthesiseVariant(name);
    expect(circle(template.toJSON()['Resources'])).toEqual([]);
  },
  60_000,
);

it('a circle is found', () => {
  expect(circle({ A: { DependsOn: ['B'] }, B: { Ref: 'A' }, C: { Ref: 'A' }, D: {} })).toEqual([
    'A',
    'B',
    'C',
  ]);
});
