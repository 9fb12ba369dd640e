import { expect, it } from 'vitest';
import { returningHosts } from '../../../../shared/core/disruption/consolidation/returning-hosts.ts';
import { withLeaving } from '../../../../shared/core/disruption/simulation.ts';
import { reason } from '../../../../shared/core/explain/reason.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../../shared/core/model/snapshot.ts';
import { clusterOf } from '../../../builders/consolidation.ts';
import { tried } from '../../../builders/moves.ts';
import { podOf, poolOf, typeOf } from '../../../builders/scheduling.ts';

const types = [typeOf('m.xlarge', 4, 16, 0.2)];
const moved = podOf('moved', { cpu: 1000 });
const places = new Map([['default/moved', 'b']]);

/** Pods are tried in `first` before `second`. */
function poolsOf(first: Partial<NodePool>): readonly NodePool[] {
  return [poolOf('first', { weight: 10, ...first }), poolOf('second')];
}

/** Node b of `second` with two pods, one of which was on node a of `first`, which goes. */
function hostsOf(first: Partial<NodePool>, fallbacks = ['b']): readonly string[] {
  const pools = poolsOf(first);
  const nodes = [
    { name: 'a', type: 'm.xlarge', pool: 'first', pods: [] },
    { name: 'b', type: 'm.xlarge', pool: 'second', pods: [podOf('own', { cpu: 1000 }), moved] },
  ];
  const { snapshot } = clusterOf(nodes, { types, pools });
  const after = withLeaving(snapshot, 'a');
  return returningHosts(after, places, new Set(fallbacks), DEFAULT_SCHEDULING_SETTINGS);
}

it.each<[string, Partial<NodePool>, readonly string[]]>([
  ['returns to what the move frees', { limits: { cpu: 4000 } }, ['b']],
  ['stays where even then there is no room', { limits: { cpu: 2000 } }, []],
  ['stays where nothing is tried before it', { weight: 0 }, []],
])('a fallback that takes pods %s', (_, first, expected) => {
  expect(hostsOf(first)).toEqual(expected);
});

it('a node that is to stay is none', () => {
  expect(hostsOf({}, ['a'])).toEqual([]);
});

it('a node stays whose pods would go to one that returns then, and says so', () => {
  const nodes = [
    { name: 'a', type: 'm.xlarge', pool: 'first', pods: [moved] },
    { name: 'b', type: 'm.xlarge', pool: 'second', pods: [podOf('own', { cpu: 1000 })] },
  ];
  const cluster = clusterOf(nodes, { types, pools: poolsOf({ limits: { cpu: 4000 } }) });
  const { found } = tried({ cluster, fallbacks: new Set(['b']) });
  const why = reason('host-would-return', { nodePool: 'second', node: 'b' });
  expect(found).toEqual({ kind: 'refusal', reasons: [why] });
  expect(tried({ cluster, fallbacks: new Set() }).found.kind).toBe('move');
});
