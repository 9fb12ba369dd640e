import { describe, expect, it } from 'vitest';
import { reconsider } from '../../../../shared/core/disruption/consolidation/consolidate.ts';
import { reason } from '../../../../shared/core/explain/reason.ts';
import { CONSOLIDATION_GUARD, ZONE } from '../../../../shared/core/model/labels.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import {
  type Cluster,
  clusterOf,
  consolidationOf,
  type Used,
} from '../../../builders/consolidation.ts';
import { looked, type Options, strictPool } from '../../../builders/looked.ts';
import { cpuPod, ON_DEMAND, used } from '../../../builders/moves.ts';
import { poolOf, typeOf } from '../../../builders/scheduling.ts';

/** So few plans that the first order which finds moves is the last. */
const FEW: Options = { plansMax: 23 };
const LARGE = ON_DEMAND.slice(0, 1);

const node = (name: string, cpu: number): Used => used(name, 'm.large', cpuPod(`p-${name}`, cpu));

/** The first in each order, `x`, stays: no group with it goes, so that each is a move by itself. */
function apart(nodes: readonly Used[], hosts: readonly Used[] = []): Cluster {
  const first = { ...used('x', 'm.4xlarge', cpuPod('p-x', 900)), zone: 'zone-c', pool: 'strict' };
  const types = [...LARGE, typeOf('m.4xlarge', 16, 64, 8), typeOf('host', 64, 256, 9)];
  const pools = [poolOf('general'), strictPool()];
  const { snapshot, usages } = clusterOf([first, ...nodes, ...hosts], { types, pools });
  return { snapshot, usages: usages.slice(0, 1 + nodes.length) };
}

const HOST = [used('h', 'host')];

describe('moves of one pass', () => {
  it.each<[string, () => Cluster, Options, readonly string[]]>([
    [
      'are all that pay back',
      () => apart([node('a', 2000), node('b', 2000)], HOST),
      {},
      ['a', 'b'],
    ],
    [
      'are no more than may go at once',
      () =>
        apart(
          ['a', 'b', 'c'].map((name) => node(name, 2000)),
          HOST,
        ),
      { nodesMax: 3 },
      ['a', 'b', 'c'],
    ],
    [
      'are fewer than that where fewer may',
      () =>
        apart(
          ['a', 'b', 'c'].map((name) => node(name, 2000)),
          HOST,
        ),
      { nodesMax: 2 },
      ['a', 'b'],
    ],
    [
      'are no more than the budgets of their NodePool allow',
      () =>
        apart(
          ['a', 'b', 'c'].map((name) => node(name, 2000)),
          HOST,
        ),
      {
        allowance: new Map([
          ['general', 2],
          ['strict', 1],
        ]),
      },
      ['a', 'b'],
    ],
    [
      'are none of nodes that took pods in',
      () => apart([node('a', 1000), node('b', 800)], [node('c', 0)]),
      {},
      ['a'],
    ],
  ])('%s', (_, cluster, options, moves) => {
    expect(looked(cluster(), { ...FEW, ...options }).moves).toEqual(moves);
  });

  it('end with one that launches something', () => {
    const wide = (name: string, zone: string): Used => ({
      ...used(name, 'm.4xlarge', cpuPod(`p-${name}`, 1900, { nodeSelector: { [ZONE]: zone } })),
      zone,
    });
    const found = looked(apart([wide('a', 'zone-a'), wide('b', 'zone-b')]), FEW);
    expect(found).toEqual({
      groups: ['abx', 'x'],
      moves: ['ab'],
      plans: 6,
      isExhausted: false,
    });
  });

  it('are none that launch beside others, whose pods may take the room of theirs', () => {
    const inZone = (zone: string) => ({ nodeSelector: { [ZONE]: zone } });
    const pods = ['p1', 'p2', 'p3'].map((name) => cpuPod(name, 300, inZone('zone-b')));
    const dear = used('a', 'm.4xlarge', cpuPod('p-a', 2000, inZone('zone-a')));
    const launching: Used = { ...used('b', 'm.4xlarge', ...pods), zone: 'zone-b' };
    expect(looked(apart([launching]), FEW).moves).toEqual(['b']);
    expect(looked(apart([dear, launching], HOST), FEW).moves).toEqual(['a']);
  });

  it('leave out of the reasons what was found after the first', () => {
    const nodes = [node('a', 2000), { ...node('b', 2000), pool: 'strict' }, node('c', 2000)];
    expect(looked(apart(nodes, HOST), FEW)).toMatchObject({
      groups: ['abcx', 'ax', 'x'],
      moves: ['a', 'c'],
    });
  });
});

describe('nodes that go together', () => {
  const alone = (nodes: readonly Used[], hosts: readonly Used[] = []): Cluster => {
    const types = [...LARGE, typeOf('m.4xlarge', 16, 64, 0.8), typeOf('host', 64, 256, 9)];
    const { snapshot, usages } = clusterOf([...nodes, ...hosts], { types });
    return { snapshot, usages: usages.slice(0, nodes.length) };
  };

  it('are as many as pay back most', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name, 900));
    expect(looked(alone(nodes, HOST), FEW).moves).toEqual(['abcd']);
  });

  it('are within budgets', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name, 900));
    const movesOf = (options: Options) => looked(alone(nodes, HOST), { ...FEW, ...options }).moves;
    expect(movesOf({ nodesMax: 3 })).toEqual(['abc']);
    expect(movesOf({ allowance: new Map([['general', 2]]) })).toEqual(['ab']);
    expect(movesOf({ nodesMax: 1 })).toEqual(['a']);
  });

  it('are without those of which the like would be launched again', () => {
    const nodes = [used('a', 'm.4xlarge', cpuPod('p', 900)), node('b', 2000), node('c', 2000)];
    const found = looked(alone(nodes), FEW);
    expect(found).toEqual({ groups: [], moves: ['a'], plans: 6, isExhausted: false });
  });

  it('are first without the one of these that is hardest to empty', () => {
    const twice = used('c', 'm.large', cpuPod('q', 1000), cpuPod('r', 1000));
    const nodes = [used('a', 'm.4xlarge', cpuPod('p', 900)), node('b', 2000), twice];
    expect(looked(alone(nodes), { plansMax: 3 }).moves).toEqual(['ab']);
  });
});

describe('nodes in a dear zone', () => {
  /** 0.3 USD an hour in `zone-b`, 0.1 elsewhere. */
  const types = [...LARGE, typeOf('m.4xlarge', 16, 64, 0.8)].map((type) => ({
    ...type,
    offerings: type.offerings.map((each) =>
      type.name === 'm.large' && each.zone === 'zone-b' ? { ...each, price: 0.3 } : each,
    ),
  }));
  const dear = (name: string): Used => ({ ...node(name, 900), zone: 'zone-b' });

  it('are replaced by the like in another', () => {
    const found = looked(clusterOf([dear('a')], { types }), FEW);
    expect(found).toEqual({ groups: [], moves: ['a'], plans: 2, isExhausted: false });
  });

  it('go with others where that is better, though the like is launched again', () => {
    const inZone = { nodeSelector: { [ZONE]: 'zone-a' } };
    const nodes = [used('a', 'm.4xlarge', cpuPod('p', 900, inZone)), dear('b')];
    const found = looked(clusterOf(nodes, { types }), FEW);
    expect(found).toEqual({ groups: [], moves: ['ab'], plans: 3, isExhausted: false });
    // 1 USD an hour is saved together, and 0.7 without the other.
    const pools = [poolOf('general', { annotations: { [CONSOLIDATION_GUARD]: 'saving=0.9' } })];
    const guarded = looked(clusterOf(nodes, { types, pools }), FEW);
    expect(guarded).toEqual({ groups: ['a'], moves: ['ab'], plans: 3, isExhausted: false });
  });
});

describe('a move that was planned before', () => {
  const again = (pods: readonly Pod[], quiet: readonly string[] = []) => {
    const nodes = [node('a', 900), node('b', 900)];
    const cluster = clusterOf(nodes, { types: LARGE, pods });
    const input = consolidationOf(cluster, { quiet: new Set(quiet) });
    return reconsider(input, cluster.usages.slice(0, 1));
  };

  it('is one still', () => {
    const found = again([]);
    expect(found.kind === 'move' && found.elsewhere).toEqual(new Map([['default/p-a', 'b']]));
  });

  it('is one though a pod waits that nothing can be launched for', () => {
    expect(again([cpuPod('hopeless', 9000)]).kind).toBe('move');
  });

  it('is none while pods wait for new nodes', () => {
    const why = reason('pending-pods-first', {});
    expect(again([cpuPod('waits', 1500)])).toEqual({ kind: 'refusal', reasons: [why] });
  });

  it('is none where the room is on a node that takes no pods in', () => {
    const why = reason('pods-not-cheaper', { closed: 1 });
    expect(again([], ['b'])).toEqual({ kind: 'refusal', reasons: [why] });
  });
});
