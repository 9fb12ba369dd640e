import { describe, expect, it } from 'vitest';
import {
  capsAt,
  LIMIT_GROUPS_LIKE,
  limitGroupsOf,
  unknownGroup,
} from '../../../shared/core/limit-groups/limit-groups.ts';
import { poolOf } from '../../builders/scheduling.ts';

const GROUP = 'joiner.dev/limit-group';
const PRICE = 'joiner.dev/price';
const inGroup = (name: string, group: string) => poolOf(name, { annotations: { [GROUP]: group } });
const groupsOf = (text: string) => limitGroupsOf(text) ?? [];
/** A Monday. */
const at = (time: string): number => Date.parse(`2026-01-05T${time}:00Z`);

describe('limitGroups', () => {
  it.each([
    ['none', 0],
    ['batch nodes=3', 1],
    ['  batch   nodes=3 cpu=1500m ;; all memory=1Gi; ', 2],
    ['batch price=0 from @daily for 1h30m', 1],
    [LIMIT_GROUPS_LIKE, 2],
  ])('%j has entries', (text, entries) => {
    expect(limitGroupsOf(text)).toHaveLength(entries);
  });

  it.each([
    '',
    ' ; ',
    'all nodes=2 nodes=5',
    'batch nodes=2 cpu=1 nodes=2',
    'All nodes=5',
    'batch nodes=2; ALL cpu=1 shared',
    'batch',
    'nodes=3',
    'batch nodes=many',
    'batch nodes=-1',
    'batch pods=3',
    'batch price=1e3',
    'batch nodes=3 for 2h',
    'batch nodes=3 from @daily',
    'batch nodes=3 from 0 25 * * * for 2h',
    'batch nodes=3 from @daily for two hours',
    'batch nodes=3, all nodes=4',
  ])('%j is refused', (text) => {
    expect(limitGroupsOf(text)).toBeUndefined();
  });

  const pools = [inGroup('a', 'batch'), inGroup('b', 'batch'), poolOf('c')];

  it.each([
    ['12:00', 'batch nodes=9 cpu=4', [['batch', ['a', 'b'], { nodes: 9, cpu: 4000 }]]],
    ['12:00', 'all nodes=9', [['all', ['a', 'b', 'c'], { nodes: 9 }]]],
    ['12:00', 'batch price=0.1', [['batch', ['a', 'b'], { [PRICE]: 100_000 }]]],
    ['12:00', 'other nodes=9', []],
    [
      '17:59',
      'batch nodes=9; batch nodes=2 from 0 18 * * 1 for 2h',
      [['batch', ['a', 'b'], { nodes: 9 }]],
    ],
    [
      '18:00',
      'batch nodes=9; batch nodes=2 from 0 18 * * 1 for 2h',
      [['batch', ['a', 'b'], { nodes: 2 }]],
    ],
    [
      '18:00',
      'batch nodes=1 cpu=4; batch nodes=2 cpu=1 from 0 18 * * 1 for 2h',
      [['batch', ['a', 'b'], { nodes: 1, cpu: 1000 }]],
    ],
    ['20:00', 'batch nodes=2 from 0 18 * * 1 for 2h', []],
  ])('at %s %j', (time, text, expected) => {
    const found = capsAt(groupsOf(text), pools, at(time));
    expect(found.map((each) => [each.group, each.pools, each.caps])).toEqual(expected);
  });

  it('of a name that nobody has defined are a fault of the NodePool', () => {
    expect(unknownGroup(inGroup('a', 'batch'), groupsOf('bach nodes=3'))).toContain('"batch"');
    expect(unknownGroup(inGroup('a', 'batch'), groupsOf('batch nodes=3'))).toBeUndefined();
    expect(unknownGroup(poolOf('a'), [])).toBeUndefined();
  });
});
