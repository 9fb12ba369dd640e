import { expect, it } from 'vitest';
import { returningHosts } from '../../../../shared/core/disruption/consolidation/returning-hosts.ts';
import { withLeaving } from '../../../../shared/core/disruption/simulation.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../../shared/core/model/snapshot.ts';
import { clusterOf } from '../../../builders/consolidation.ts';
import { podOf, poolOf, typeOf } from '../../../builders/scheduling.ts';

const types = [typeOf('m.xlarge', 4, 16, 0.2)];
const moved = podOf('moved', { cpu: 1000 });
const places = new Map([['default/moved', 'b']]);

/** Node b of `second` with two pods, one of which was on node a of `first`, which goes. */
function hostsOf(first: Partial<NodePool>, fallbacks = ['b']): readonly string[] {
  const pools = [poolOf('first', { weight: 10, ...first }), poolOf('second')];
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
