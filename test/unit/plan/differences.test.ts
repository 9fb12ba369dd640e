import { describe, expect, it } from 'vitest';
import { claimChanges, decisionChanges } from '../../../cli/apply/differences.ts';
import type { ClaimTerms, Decision, NodeTerms } from '../../../cli/plan/decision.ts';
import { planOf } from '../../../cli/plan/plan-file.ts';
import { fileOf } from '../../sim/approved-world.ts';

const TYPE = 'node.kubernetes.io/instance-type';

function anyOf(...values: string[]): ClaimTerms['requirements'] {
  return [{ key: TYPE, operator: 'In', values, minValues: null }];
}

function costing(pricePerHour: number): ClaimTerms['chosen'] {
  return { type: 'm6a.large', zone: 'us-east-1a', capacityType: 'spot', pricePerHour };
}

const claim: ClaimTerms = {
  nodePool: 'default',
  chosen: costing(0.05),
  requirements: anyOf('m6a.large', 'm7g.large'),
  requests: { cpu: '1', memory: '1Gi' },
  labels: { team: 'red' },
  annotations: {},
  taints: [],
  startupTaints: [],
  expireAfterSeconds: null,
  terminationGracePeriodSeconds: 60,
  nodeClass: 'default',
  nodeClassHash: 'a',
  images: ['ami-1'],
};

describe('a claim is what was approved', () => {
  it.each<[string, Partial<ClaimTerms>]>([
    ['as it is', {}],
    ['where it is cheaper', { chosen: costing(0.04) }],
    ['where fewer types are left', { requirements: anyOf('m7g.large') }],
    ['whatever the order of keys', { requests: { memory: '1Gi', cpu: '1' } }],
  ])('%s', (_, change) => {
    expect(claimChanges(claim, { ...claim, ...change })).toEqual([]);
  });

  it.each<[string, Partial<ClaimTerms>, string]>([
    [
      'dearer',
      { chosen: costing(0.06) },
      'the price is now $0.0600/h (m6a.large in us-east-1a); approved: $0.0500/h',
    ],
    ['of no known price', { chosen: null }, 'its instance type is no longer known'],
    [
      'open to another type',
      { requirements: anyOf('m6a.large', 'p5.48xlarge') },
      `its NodeClaim would also allow ${TYPE} p5.48xlarge`,
    ],
    ['open to any type', { requirements: [] }, `its NodeClaim has other requirements for ${TYPE}`],
    ['less flexible by force', { requests: { cpu: '2' } }, 'its NodeClaim has other requests'],
    [
      'of another class',
      { nodeClassHash: 'b' },
      'its NodeClaim would use another spec of its EC2NodeClass',
    ],
    ['of another image', { images: ['ami-2'] }, 'its NodeClaim would use other images'],
    ['tainted', { taints: [{ key: 'a', value: '', effect: 'NoSchedule' }] }, 'has other taints'],
  ])('and is another one where it is %s', (_, change, says) => {
    expect(claimChanges(claim, { ...claim, ...change })).toEqual([expect.stringContaining(says)]);
  });

  it('and is dearer where EC2 was to choose and a price is known now', () => {
    expect(claimChanges({ ...claim, chosen: null }, claim)).toHaveLength(1);
    expect(claimChanges({ ...claim, chosen: null }, { ...claim, chosen: null })).toEqual([]);
  });
});

function node(name: string, ...pods: readonly string[]): NodeTerms {
  return {
    nodeClaim: name,
    uid: `uid-${name}`,
    node: `node-${name}`,
    nodePool: 'default',
    instanceType: 'm6a.large',
    zone: 'us-east-1a',
    capacityType: 'spot',
    pricePerHour: 0.05,
    pods: pods.map((pod) => ({ pod, uid: `uid-${pod}` })),
  };
}

const move: Decision = {
  reason: 'Underutilized',
  nodePool: 'default',
  why: 'Underutilized: less',
  claims: [claim],
  pods: [],
  nodes: [node('a', 'x/1'), node('b', 'x/2')],
  reliesOn: {},
};

describe('a decision is what was approved', () => {
  it.each<[string, Partial<Decision>, readonly string[]]>([
    ['as it is', {}, []],
    [
      'unless pods have come and gone',
      { nodes: [node('a', 'x/3'), node('b', 'x/2')] },
      ['NodeClaim a: pods gone: x/1', 'NodeClaim a: new pods: x/3'],
    ],
    [
      'unless one stays',
      { nodes: [node('a', 'x/1')] },
      ['NodeClaim b would no longer be disrupted'],
    ],
    [
      'unless another goes',
      { nodes: [...move.nodes, node('c')] },
      ['NodeClaim c would be disrupted too'],
    ],
    [
      'unless more is launched',
      { claims: [claim, claim] },
      ['it would create 2 NodeClaims; approved: 1'],
    ],
    ['unless a claim is another', { claims: [{ ...claim, labels: {} }] }, ['has other labels']],
  ])('%s', (_, change, says) => {
    const found = decisionChanges(move, { ...move, ...change });
    expect(found).toEqual(says.map((each) => expect.stringContaining(each)));
  });

  it('after it was written to a file and read', () => {
    const file = { kind: 'JoinerPlan', version: 1, ...fileOf([move]) };
    expect(planOf('plan.json', JSON.parse(JSON.stringify(file)))).toEqual(file);
  });
});
