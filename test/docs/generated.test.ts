import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../../scripts/docs/generated.ts';
import { CLASS_REASONS, CONDITIONS } from '../../scripts/docs/reference/conditions.ts';
import { EVENTS } from '../../scripts/docs/reference/events.ts';
import { sources, textOf, tracked } from '../support/repository.ts';

const FILES = [...(await generatedFiles())];
const RUNS = sources.filter((file) => /^(shared\/(core|app|aws|kube)|functions)\//.test(file));

/** Words in quotes in what runs in production. */
const words = new Set(
  RUNS.flatMap((file) =>
    [...textOf(file).matchAll(/['`]([A-Z][A-Za-z0-9]+)['`]/g)].map(([, w]) => w),
  ),
);

/** Words that the code gives as a type of condition or as a reason, where one can see it. */
function said(pattern: RegExp): ReadonlySet<string> {
  return new Set(
    RUNS.flatMap((file) => [...textOf(file).matchAll(pattern)].map(([, w = '']) => w)),
  );
}

describe('generated pages', () => {
  it.each(FILES)('%s is what npm run generate writes', (file, text) => {
    expect(tracked).toContain(file);
    expect(textOf(file)).toBe(text);
  });

  it('are all that docs/reference has', () => {
    const there = tracked.filter((file) => file.startsWith('docs/reference/'));
    const made = FILES.map(([file]) => file).filter((file) => file.startsWith('docs/reference/'));
    expect(there.toSorted()).toEqual(made.toSorted());
  });
});

/** Types of other things: of events, of requests of CloudFormation, and what agents say of a Node. */
const FOREIGN = new Set([
  'Normal',
  'Warning',
  'Create',
  'AcceleratedHardwareReady',
  'ContainerRuntimeReady',
  'KernelReady',
  'NetworkingReady',
  'StorageReady',
]);

describe('conditions and events', () => {
  const conditions = Object.values(CONDITIONS).flat();

  it('are those of the code', () => {
    const listed = [
      ...conditions.flatMap(({ type, reasons }) => [type, ...reasons]),
      ...CLASS_REASONS,
      ...EVENTS.map(({ reason }) => reason),
    ];
    const made = new Set(['PodTemplateNotFound', 'ScalableRefNotFound']);
    expect(listed.filter((word) => !words.has(word) && !made.has(word))).toEqual([]);
  });

  it('of the code are all there', () => {
    const types = said(/(?:\b(?:yes|no|unknown|says)\(\s*|\btype: )'([A-Z][A-Za-z]+)'/g);
    const known = new Set([...conditions.map(({ type }) => type), ...FOREIGN]);
    expect([...types].filter((type) => !known.has(type)).toSorted()).toEqual([]);
  });

  it('every event that the code writes by name is there', () => {
    const reasons = said(/type: '(?:Normal|Warning)',\s*reason: '([A-Z][A-Za-z]+)'/g);
    const own = said(/eventReason: '([A-Z][A-Za-z]+)'/g);
    const known = new Set(EVENTS.map(({ reason }) => reason));
    expect(reasons.size + own.size).toBeGreaterThan(10);
    expect([...reasons, ...own].filter((reason) => !known.has(reason))).toEqual([]);
  });
});
