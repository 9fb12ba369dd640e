import { describe, expect, it } from 'vitest';
import {
  HASH_VERSION,
  nodeClassHash,
  nodePoolHash,
  nodePoolHashAnnotations,
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

it('is pinned to its version: raise HASH_VERSION when one of these changes', () => {
  const pool = poolWith({ labels: { team: 'a' }, taints: [red, blue] });
  const nodeClass = aNodeClass({ userData: 'echo', tags: { team: 'a' } });
  expect([HASH_VERSION, nodePoolHash(pool), nodeClassHash(nodeClass)]).toEqual([
    'joiner-v2',
    'c17c377f825e6376',
    '64aae02eba038f66',
  ]);
});

describe('the hash of an EC2NodeClass', () => {
  const nodeClass = aNodeClass({ userData: 'echo' });
  const withSpec = (spec: object) => ({ ...nodeClass, spec: { ...nodeClass.spec, ...spec } });

  it.each([
    [{ subnetSelectorTerms: [{ id: 'subnet-1' }] }],
    [{ securityGroupSelectorTerms: [{ id: 'sg-1' }] }],
    [{ amiSelectorTerms: [{ id: 'ami-1' }] }],
    [{ capacityReservationSelectorTerms: [{ id: 'cr-1' }] }],
    [{ ipPrefixCount: 1 }],
    [{ amiFamily: 'Bottlerocket' }],
  ])('is the same with %j', (spec) => {
    expect(nodeClassHash(withSpec(spec))).toBe(nodeClassHash(nodeClass));
  });

  it.each([[{ userData: 'other' }], [{ role: 'other' }], [{ tags: { a: 'b' } }]])(
    'is another with %j',
    (spec) => {
      expect(nodeClassHash(withSpec(spec))).not.toBe(nodeClassHash(nodeClass));
    },
  );

  it('is another with the family that an alias comes to', () => {
    const other = { ...nodeClass, imageFamily: 'Bottlerocket' } as const;
    expect(nodeClassHash(other)).not.toBe(nodeClassHash(nodeClass));
  });
});

describe('the hash of a NodePool', () => {
  const pool = poolWith({ labels: { team: 'a' } });

  it('is of its template, but for the requirements', () => {
    const requirements = [{ key: 'a', operator: 'Exists', values: [] }] as const;
    expect(nodePoolHash(poolWith({ labels: { team: 'a' }, requirements }))).toBe(
      nodePoolHash(pool),
    );
    expect(nodePoolHash({ ...pool, weight: 5, limits: { cpu: 1 } })).toBe(nodePoolHash(pool));
    expect(nodePoolHash(poolWith({ labels: { team: 'b' } }))).not.toBe(nodePoolHash(pool));
  });

  it('is written with its version, as Karpenter names both', () => {
    expect(nodePoolHashAnnotations(pool)).toEqual({
      'karpenter.sh/nodepool-hash': nodePoolHash(pool),
      'karpenter.sh/nodepool-hash-version': HASH_VERSION,
    });
  });
});
