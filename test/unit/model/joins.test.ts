import { describe, expect, it } from 'vitest';
import {
  claimOfNode,
  claimsByProviderId,
  nodeOfClaim,
  nodesByProviderId,
  podsByNode,
  podsOnNode,
} from '../../../shared/core/model/joins.ts';
import { aNode, aNodeClaim, aPod } from '../launch/builders.ts';

const nodes = [
  aNode({ name: 'a', providerId: 'aws:///z/i-a' }),
  aNode({ name: 'stranger', providerId: undefined }),
];
const claims = [
  aNodeClaim({ name: 'of-a', providerId: 'aws:///z/i-a' }),
  aNodeClaim({ name: 'waiting', providerId: undefined }),
];

describe('nodes and their claims', () => {
  it('belong together by the provider id', () => {
    expect(claims.map((claim) => nodeOfClaim(nodes, claim)?.name)).toEqual(['a', undefined]);
    expect(nodes.map((node) => claimOfNode(claims, node)?.name)).toEqual(['of-a', undefined]);
  });

  it('without one have nothing in common: a claim that waits is no stranger’s', () => {
    expect([...nodesByProviderId(nodes).keys()]).toEqual(['aws:///z/i-a']);
    expect([...claimsByProviderId(claims).keys()]).toEqual(['aws:///z/i-a']);
  });
});

describe('pods', () => {
  const pods = [
    aPod({ name: 'p', nodeName: 'a' }),
    aPod({ name: 'q', nodeName: undefined }),
    aPod({ name: 'r', nodeName: 'a', phase: 'Succeeded' }),
  ];

  it('are found on their node, in order, those that are over too', () => {
    expect(podsOnNode(pods, 'a').map(({ name }) => name)).toEqual(['p', 'r']);
    expect([podsOnNode(pods, 'b'), podsOnNode(pods, undefined)]).toEqual([[], []]);
  });

  it('are joined once for a list', () => {
    expect(podsByNode(pods)).toBe(podsByNode(pods));
    expect(podsByNode([...pods])).not.toBe(podsByNode(pods));
  });
});
