import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type Kind, kindDecoders } from '../../shared/api/kinds.ts';

const decoders = kindDecoders('server');
const metadata = { name: 'a', namespace: 'default', uid: 'u' };

/** Values as an API server of another version might have them: any, at any of the known fields. */
function objects(known: readonly string[]): fc.Arbitrary<object> {
  const json = fc.jsonValue({ maxDepth: 3 });
  const spec = fc.dictionary(fc.constantFrom(...known), json);
  return fc.record({ metadata: fc.constant(metadata), spec, status: json });
}

const POD = ['containers', 'tolerations', 'affinity', 'topologySpreadConstraints', 'volumes'];
const CLAIM = ['requirements', 'taints', 'nodeClassRef', 'expireAfter', 'resources'];

describe('objects that may not be taken for ones that are not there', () => {
  it.each([
    ['pod', decoders.Pod, [...POD, 'nodeName', 'overhead', 'priority', 'resources']],
    ['nodeClaim', decoders.NodeClaim, [...CLAIM, 'startupTaints', 'terminationGracePeriod']],
    ['node', decoders.Node, ['taints', 'providerID', 'unschedulable']],
    ['budget', decoders.PodDisruptionBudget, ['selector', 'minAvailable', 'maxUnavailable']],
  ] as const)('%s: are read in part at least, whatever is in them', (_, decode, known) => {
    fc.assert(
      fc.property(objects(known), (object) => {
        const decoded = decode(object);
        const value = decoded.ok ? decoded.value : decoded.partial;
        expect(value?.name).toBe('a');
      }),
      { numRuns: 500 },
    );
  });
});

const texts = readFileSync(new URL('every-kind.yaml', import.meta.url), 'utf8');
const wholes = new Map<string, unknown>(
  parseAllDocuments(texts).map((document): [string, unknown] => {
    const object: unknown = document.toJS();
    return [String(document.get('kind')), object];
  }),
);

/** Values that no CRD and no API server lets pass; those of a file of people may be anything. */
const HOSTILE: readonly unknown[] = [
  ...[null, true, -1, 1.5, 1e308, {}, [], [null], [{}], [[]]],
  ...['', ' ', '\u0000', '1e400', '9'.repeat(400), 'x'.repeat(3000), '__proto__', 'constructor'],
  // JSON objects that no text can be made of.
  ...[{ toString: '' }, [{ toString: '' }], { valueOf: 1, toString: 1 }, { constructor: null }],
  JSON.parse('{"__proto__": {"a": 1}}'),
];

/** The object with the value in the place of each of its fields, one after the other. */
function* withEachField(object: unknown, value: unknown): Iterable<unknown> {
  yield value;
  if (typeof object !== 'object' || object === null) return;
  for (const [name, field] of Object.entries(object)) {
    for (const changed of withEachField(field, value)) {
      yield Array.isArray(object)
        ? object.with(Number(name), changed)
        : { ...object, [name]: changed };
    }
  }
}

describe.each(Object.keys(decoders) as Kind[])('%s', (kind) => {
  it.each(['manifest', 'server'] as const)('a whole one of a %s has no issues', (source) => {
    const decoded = kindDecoders(source)[kind](wholes.get(kind));
    expect(decoded.ok ? [] : decoded.issues).toEqual([]);
  });

  it.each(['manifest', 'server'] as const)(
    'is read without an exception, whatever is in one field of a %s',
    (source) => {
      const decode = kindDecoders(source)[kind];
      for (const value of HOSTILE) {
        for (const object of withEachField(wholes.get(kind), value)) decode(object);
      }
    },
  );
});
