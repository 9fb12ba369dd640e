import { describe, expect, it } from 'vitest';
import { driftHash } from '../../../shared/core/launch/drift-hash.ts';
import {
  HASH_VERSION,
  nodeClassHash,
  nodePoolHash,
} from '../../../shared/core/launch/template-hash.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import { aNodeClass } from '../../builders/launches.ts';
import { poolOf } from '../../builders/scheduling.ts';

const red = { key: 'red', value: '', effect: 'NoSchedule' } as const;
const blue = { key: 'blue', value: 'yes', effect: 'NoExecute' } as const;

function poolWith(template: Partial<NodePool['template']>): NodePool {
  const pool = poolOf('general');
  return { ...pool, template: { ...pool.template, ...template } };
}

describe('the hash of a NodePool or an EC2NodeClass', () => {
  it('is pinned to its version: raise HASH_VERSION in nodeclass.ts when one of these changes', () => {
    const pool = poolWith({ labels: { team: 'a' }, taints: [red, blue] });
    const nodeClass = aNodeClass({ userData: 'echo', tags: { team: 'a' } });
    expect([HASH_VERSION, nodePoolHash(pool), nodeClassHash(nodeClass)]).toEqual([
      'joiner-v2',
      'c17c377f825e6376',
      '64aae02eba038f66',
    ]);
  });

  it.each([
    ['a list in another order', { taints: [red, blue] }, { taints: [blue, red] }],
    ['false', { detailedMonitoring: false }, {}],
    ['zero', { iops: 0 }, {}],
    ['an empty text', { a: [{ key: 'k', value: '' }] }, { a: [{ key: 'k' }] }],
    ['an empty list', { taints: [] }, {}],
    ['an empty object', { tags: {}, kubelet: { evictionHard: {} } }, {}],
  ])('is the same with %s', (_, one, other) => {
    expect(driftHash(one)).toBe(driftHash(other));
  });

  it.each([
    ['user data', { userData: 'a' }, { userData: 'b' }],
    ['a label without a value', { labels: { a: '' } }, {}],
    ['what the kubelet has on by default', { kubelet: { cpuCFSQuota: false } }, {}],
    ['no public address', { associatePublicIPAddress: false }, {}],
    ['no time to terminate', { terminationGracePeriodMs: 0 }, {}],
    ['one more taint', { taints: [red] }, { taints: [red, blue] }],
  ])('is another with %s', (_, one, other) => {
    expect(driftHash(one)).not.toBe(driftHash(other));
  });
});
