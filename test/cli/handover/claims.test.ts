import { describe, expect, it } from 'vitest';
import {
  nodesBefore,
  nodesSince,
  unansweredLaunches,
  unfinished,
  unstampedByJoiner,
  unstampedByKarpenter,
} from '../../../cli/handover/claims.ts';
import { HASH_VERSION } from '../../../shared/core/launch/template-hash.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf, yes } from '../../builders/scheduling.ts';
import { clusterState, NOW_MS } from './state.ts';

const running = (name: string, change: Partial<NodeClaim> = {}): NodeClaim =>
  claimOf(name, {
    providerId: `aws:///eu-west-1a/i-0000000000000000${name}`,
    conditions: yes('Launched', 'Registered', 'Initialized'),
    ...change,
  });

const auto = { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' };

describe('what is unfinished', () => {
  it.each<readonly [string, NodeClaim, readonly string[]]>([
    ['a node that runs', running('a'), []],
    ['a launch', claimOf('a'), ['NodeClaim a is not launched yet']],
    [
      'a reboot',
      running('a', { conditions: yes('Rebooting') }),
      ['the node of NodeClaim a is being rebooted'],
    ],
    [
      'a disruption',
      running('a', { conditions: yes('DisruptionReason') }),
      ['the node of NodeClaim a is being disrupted (DisruptionReason)'],
    ],
    ['a claim that goes', claimOf('a', { deletedAtMs: 1 }), []],
    ['a claim of Auto Mode', claimOf('a', { nodeClassRef: auto }), []],
  ])('%s', (_, claim, lines) => {
    expect(unfinished(clusterState({ nodeClaims: [claim] }))).toEqual(lines);
  });

  it('launches that EC2 was asked for', () => {
    const annotations = { 'joiner.dev/fleet': 'token' };
    const nodeClaims = [claimOf('a', { annotations }), claimOf('b'), running('c', { annotations })];
    expect(unansweredLaunches(clusterState({ nodeClaims }))).toEqual(['a']);
  });
});

describe('hashes', () => {
  const versions = (version: string) => ({
    'karpenter.sh/nodepool-hash-version': version,
    'karpenter.k8s.aws/ec2nodeclass-hash-version': version,
  });

  it('of Joiner are missed on initialised claims only', () => {
    const nodeClaims = [
      running('a', { annotations: versions(HASH_VERSION) }),
      running('b', { annotations: versions('v3') }),
      running('c', { conditions: yes('Launched') }),
      running('d', { labels: {} }),
    ];
    expect(unstampedByJoiner(clusterState({ nodeClaims }), NOW_MS)).toEqual(['b']);
  });

  it('of Karpenter are missed where they are ours or absent', () => {
    const nodeClaims = [
      running('a', { annotations: versions('v3') }),
      running('b', { annotations: versions(HASH_VERSION) }),
      running('c'),
      running('d', {
        annotations: { ...versions('v3'), 'karpenter.sh/nodepool-hash-version': HASH_VERSION },
      }),
    ];
    const names = unstampedByKarpenter(clusterState({ nodeClaims })).map(({ name }) => name);
    expect(names).toEqual(['b', 'c', 'd']);
  });

  it('of a pool and a class that are gone are not waited for', () => {
    const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'gone' };
    const labels = { 'karpenter.sh/nodepool': 'gone' };
    const nodeClaims = [running('a', { nodeClassRef, labels })];
    expect(unstampedByKarpenter(clusterState({ nodeClaims }))).toEqual([]);
  });
});

describe('nodes since', () => {
  const drifted = yes('Drifted', 'Initialized');
  const before = nodesBefore(
    clusterState({
      nodeClaims: [running('a'), running('b'), running('c', { conditions: drifted }), claimOf('d')],
    }),
  );

  it('nothing has changed; a launch has ended', () => {
    const nodeClaims = [
      running('a'),
      running('b'),
      running('c', { conditions: drifted }),
      running('d'),
    ];
    expect(nodesSince(before, clusterState({ nodeClaims }))).toEqual({
      kept: 4,
      gone: [],
      relaunched: [],
      added: [],
      drifted: [],
    });
  });

  it('each change is found', () => {
    const nodeClaims = [
      running('a', { providerId: 'aws:///eu-west-1a/i-0fffffffffffffff0' }),
      running('b', { conditions: drifted }),
      running('c', { conditions: drifted, deletedAtMs: 1 }),
      running('d'),
      running('e'),
    ];
    expect(nodesSince(before, clusterState({ nodeClaims }))).toEqual({
      kept: 2,
      gone: ['c'],
      relaunched: ['a'],
      added: ['e'],
      drifted: ['b (Drifted)'],
    });
  });
});
