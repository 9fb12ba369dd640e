import { expect, it } from 'vitest';
import { driftHash } from '../../../shared/core/launch/drift-hash.ts';

const red = { key: 'red', value: '', effect: 'NoSchedule' } as const;
const blue = { key: 'blue', value: 'yes', effect: 'NoExecute' } as const;

it('has sixteen characters', () => {
  expect(driftHash({ a: 1 })).toMatch(/^[0-9a-f]{16}$/);
});

it.each([
  ['a list in another order', { taints: [red, blue] }, { taints: [blue, red] }],
  ['a list of lists in another order', { a: [['x', 'y'], ['z']] }, { a: [['z'], ['y', 'x']] }],
  ['three in another order', { a: ['c', 'a', 'b'] }, { a: ['b', 'c', 'a'] }],
  ['fields in another order', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['false', { detailedMonitoring: false }, {}],
  ['zero', { iops: 0 }, {}],
  ['null', { iops: null }, {}],
  ['undefined', { iops: undefined }, {}],
  ['an empty text', { a: [{ key: 'k', value: '' }] }, { a: [{ key: 'k' }] }],
  ['an empty list', { taints: [] }, {}],
  ['an empty object', { tags: {}, kubelet: { evictionHard: {} } }, {}],
  ['an object of nothing that tells', { a: { b: { c: 0 } } }, {}],
  ['an empty object in a map', { kubelet: { a: {} } }, {}],
  ['null in a map', { labels: { a: null } }, {}],
  ['nothing where only another value would tell', { encrypted: null }, {}],
])('is the same with %s', (_, one, other) => {
  expect(driftHash(one)).toBe(driftHash(other));
});

it.each([
  ['user data', { userData: 'a' }, { userData: 'b' }],
  ['a label without a value', { labels: { a: '' } }, {}],
  ['an annotation without a value', { annotations: { a: '' } }, {}],
  ['a tag without a value', { tags: { a: '' } }, {}],
  ['what the kubelet has on by default', { kubelet: { cpuCFSQuota: false } }, {}],
  ['zero deep in a map', { kubelet: { evictionHard: { a: 0 } } }, {}],
  ['zero in a list of a map', { kubelet: { a: [{ b: 0 }] } }, { kubelet: { a: [{}] } }],
  ['no public address', { associatePublicIPAddress: false }, {}],
  ['a volume that stays', { deleteOnTermination: false }, {}],
  ['a volume that is not encrypted', { encrypted: false }, {}],
  ['no time to terminate', { terminationGracePeriodMs: 0 }, {}],
  ['one more taint', { taints: [red] }, { taints: [red, blue] }],
  ['true', { a: true }, {}],
  ['another field', { a: 1 }, { b: 1 }],
  ['a number instead of a text', { a: 1 }, { a: '1' }],
])('is another with %s', (_, one, other) => {
  expect(driftHash(one)).not.toBe(driftHash(other));
});
