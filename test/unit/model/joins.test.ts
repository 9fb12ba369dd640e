import { describe, expect, it } from 'vitest';
import {
  claimOfNode,
  claimsByProviderId,
  nodeOfClaim,
  nodesOfClaim,
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
    const waiting = { providerId: undefined, nodeName: undefined };
    expect(nodesOfClaim(nodes, waiting)).toEqual([]);
    expect([...claimsByProviderId(claims).keys()]).toEqual(['aws:///z/i-a']);
  });
});

describe('several nodes with one provider id', () => {
  const forged = aNode({ name: 'z-forged', providerId: 'aws:///z/i-a' });
  const all = [...nodes, forged];
  const namesOf = (nodeName: string | undefined) =>
    nodesOfClaim(all, { providerId: 'aws:///z/i-a', nodeName }).map(({ name }) => name);

  it('are all of the claim until it has its node, which is then the only one', () => {
    expect(namesOf(undefined)).toEqual(['a', 'z-forged']);
    expect(namesOf('a')).toEqual(['a']);
    expect(nodeOfClaim(all, { providerId: 'aws:///z/i-a', nodeName: 'a' })?.name).toBe('a');
  });

  it('are of the claim where its own is gone', () => {
    expect(namesOf('gone')).toEqual(['a', 'z-forged']);
  });

  it('have none of another id, whatever it is called', () => {
    const claim = { providerId: 'aws:///z/i-b', nodeName: 'a' };
    expect(nodesOfClaim(all, claim)).toEqual([]);
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
