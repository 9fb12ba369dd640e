import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeRecord, encodeRecord, type HandoverRecord } from '../../../cli/handover/record.ts';

const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/);

const node = fc.record({
  claim: name,
  instance: fc.constantFrom('', 'i-0123456789abcdef0', 'i-0123456789abcdef1'),
  isDrifted: fc.boolean(),
});

const record: fc.Arbitrary<HandoverRecord> = fc
  .record({
    to: fc.constantFrom('joiner' as const, 'karpenter' as const),
    state: fc.constantFrom('under-way' as const, 'done' as const),
    pauses: fc.dictionary(
      fc.constantFrom('pause.launch', 'pause.disrupt'),
      fc.constantFrom('on', '2026-01-01T00:00:00.000Z', null),
    ),
    karpenter: fc.option(
      fc.record({ namespace: name, name, replicas: fc.integer({ min: 1, max: 9 }) }),
      { nil: undefined },
    ),
    nodes: fc.option(fc.uniqueArray(node, { selector: ({ claim }) => claim }), { nil: undefined }),
  })
  .map(({ karpenter, nodes, ...rest }) => ({
    ...rest,
    startedAt: '2026-01-01T00:00:00.000Z',
    ...(karpenter === undefined ? {} : { karpenter }),
    ...(nodes === undefined ? {} : { nodes }),
  }));

/** The nodes come out in the order of their lines. */
function inOrder({ nodes, ...rest }: HandoverRecord): HandoverRecord {
  if (nodes === undefined) return rest;
  return { ...rest, nodes: nodes.toSorted((a, b) => (a.claim < b.claim ? -1 : 1)) };
}

it('what is written is read again', () => {
  fc.assert(
    fc.property(record, (each) => {
      const pauses = Object.fromEntries(Object.entries(each.pauses));
      const read = decodeRecord(encodeRecord(each));
      expect(inOrder(read)).toEqual(inOrder({ ...each, pauses }));
    }),
  );
});

const READABLE = {
  to: 'joiner',
  state: 'under-way',
  startedAt: '2026-01-01T00:00:00.000Z',
  pauses: '{"pause.launch":"on"}',
  karpenter: 'kube-system/karpenter',
  replicas: '2',
};

it.each([
  ['to', 'somebody', 'joiner or karpenter'],
  ['state', 'begun', 'under-way or done'],
  ['pauses', '{"pause.launch":', 'a JSON object of texts and null'],
  ['pauses', '', 'a JSON object of texts and null'],
  ['pauses', '["on"]', 'a JSON object of texts and null'],
  ['pauses', 'null', 'a JSON object of texts and null'],
  ['pauses', '{"pause.launch":true}', 'a JSON object of texts and null'],
  ['karpenter', 'karpenter', 'NAMESPACE/NAME of a Deployment'],
  ['replicas', 'two', 'a number of replicas such as 2'],
])('%s %j is refused with what is valid, and is to be corrected', (key, value, valid) => {
  expect(decodeRecord(READABLE)).toMatchObject({ pauses: { 'pause.launch': 'on' } });
  const decode = () => decodeRecord({ ...READABLE, [key]: value });
  expect(decode).toThrow(`ConfigMap kube-system/joiner-handover, key ${key}: expected ${valid}`);
  expect(decode).toThrow(`not ${JSON.stringify(value)}; correct it with kubectl`);
  expect(decode).toThrow('Do not delete the ConfigMap: the pauses from before');
});

it('more nodes than a ConfigMap holds are refused', () => {
  const nodes = Array.from({ length: 30_000 }, (_, at) => ({
    claim: `a-node-pool-${at}`,
    instance: 'i-0123456789abcdef0',
    isDrifted: false,
  }));
  const base = { to: 'joiner', state: 'under-way', startedAt: '', pauses: {} } as const;
  expect(() => encodeRecord({ ...base, nodes })).toThrow('30000 nodes are too many');
});
