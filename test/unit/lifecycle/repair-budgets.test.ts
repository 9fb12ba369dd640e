import { expect, it } from 'vitest';
import { reason } from '../../../shared/core/explain/reason.ts';
import type { RepairCause } from '../../../shared/core/lifecycle/repair.ts';
import { withinBudgets } from '../../../shared/core/lifecycle/repair-budgets.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import type { DisruptionReason, NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { poolOf, yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim } from '../launch/builders.ts';

const BROKEN: RepairCause = {
  reason: 'unhealthy',
  why: reason('node-unhealthy', { condition: 'Ready', status: 'False', minutes: 30 }),
  isImmediate: true,
  condition: 'Ready',
};
const DISRUPTED = { key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' } as const;
const initialized = { conditions: yes('Initialized') };

function pool(name: string, nodes: string, reasons: readonly DisruptionReason[] | undefined) {
  const budgets = [{ nodes, reasons, schedule: undefined, durationMs: undefined }];
  const rules = { consolidateAfter: 0, consolidationPolicy: 'WhenEmpty', budgets } as const;
  return poolOf(name, { disruption: rules });
}

function claim(name: string, rest: Partial<NodeClaim> = {}, ofPool = 'a'): NodeClaim {
  const labels = { 'karpenter.sh/nodepool': ofPool };
  return aNodeClaim({ name, uid: name, providerId: `p-${name}`, labels, ...initialized, ...rest });
}

const node = (name: string, rest: Partial<Node> = {}): Node =>
  aNode({ name, providerId: `p-${name}`, ...rest });

/** Names of the claims that may go, and of those that a budget holds. */
function going(
  ill: readonly string[],
  nodeClaims: readonly NodeClaim[],
  nodes: readonly Node[] = [],
  nodePools = [pool('a', '1', ['Unhealthy']), pool('b', '1', ['Unhealthy'])],
): readonly string[] {
  const found = withinBudgets(
    new Map(ill.map((uid) => [uid, BROKEN])),
    { nodePools, nodeClaims, nodes },
    0,
  );
  return [[...found.unhealthy.keys()].join(), found.held.map(({ name }) => name).join()];
}

it.each([
  [['Unhealthy'], ['x', 'y']],
  [
    ['Drifted', 'Unhealthy'],
    ['x', 'y'],
  ],
  [['Drifted'], ['x,y', '']],
  [undefined, ['x,y', '']],
] as const)('a budget of one node for %j', (reasons, expected) => {
  const pools = [pool('a', '1', reasons)];
  expect(going(['x', 'y'], [claim('x'), claim('y')], [], pools)).toEqual(expected);
});

it('goes by name, whatever comes first', () => {
  const claims = ['z', 'x', 'y'].map((name) => claim(name));
  expect(going(['z', 'x', 'y'], claims)).toEqual(['x', 'y,z']);
  expect(going(['x', 'y', 'z'], claims.toReversed())).toEqual(['x', 'y,z']);
});

it('counts each NodePool for itself, and what is in none not at all', () => {
  const others = [claim('u', {}, 'b'), claim('v', {}, 'b'), claim('w', {}, 'none')];
  const bare = claim('n', { labels: {} });
  const all = [claim('x'), claim('y'), ...others, bare];
  expect(going(['n', 'u', 'v', 'w', 'x', 'y'], all)).toEqual(['n,u,w,x', 'v,y']);
});

it('counts no node that was never initialised', () => {
  expect(going(['x', 'y'], [claim('x', { conditions: [] }), claim('y')])).toEqual(['x,y', '']);
});

it.each<[string, Partial<NodeClaim>, Partial<Node>]>([
  ['whose claim is deleted', { deletedAtMs: 1 }, {}],
  ['that is tainted', {}, { taints: [DISRUPTED] }],
])('a node %s uses the budget up', (_, rest, more) => {
  const claims = [claim('x', rest), claim('y')];
  expect(going(['y'], claims, [node('x', more), node('y')])).toEqual(['', 'y']);
});

it.each<[string, NodeClaim, readonly Node[]]>([
  ['that is not ready', claim('x'), [node('x', { conditions: [] })]],
  ['that is not there', claim('x'), []],
  ['of another NodePool', claim('x', { deletedAtMs: 1 }, 'b'), [node('x')]],
])('a node %s uses nothing up', (_, other, nodes) => {
  expect(going(['y'], [other, claim('y')], [...nodes, node('y')])).toEqual(['y', '']);
});

it('a share is of all nodes that count', () => {
  const pools = [pool('a', '50%', ['Unhealthy'])];
  const claims = ['w', 'x', 'y', 'z'].map((name) => claim(name));
  expect(going(['w', 'x', 'y'], claims, [], pools)).toEqual(['w,x', 'y']);
  const young = claim('v', { conditions: [] });
  expect(going(['w', 'x', 'y'], [...claims, young, young], [], pools)).toEqual(['w,x', 'y']);
});
