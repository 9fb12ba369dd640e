import { describe, expect, it } from 'vitest';
import type { Move } from '../../../../shared/core/disruption/consolidation/move.ts';
import { FAKE_POD } from '../../../../shared/core/model/labels.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import { type Cluster, clusterOf } from '../../../builders/consolidation.ts';
import { moved } from '../../../builders/moves.ts';
import { podOf, typeOf } from '../../../builders/scheduling.ts';

const types = [typeOf('old', 4, 16, 0.4), typeOf('new', 4, 16, 0.1)];
const on = (node: string, name: string, cpu: number): Pod =>
  podOf(name, { cpu }, { nodeName: node, phase: 'Running', unschedulable: false });

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const moveOfAll = (cluster: Cluster): Move => moved({ cluster, gone: names });

describe('what each node of a move waits for', () => {
  it('is one new node for one old one where their pods are alike', () => {
    const nodes = names.map((name) => ({
      name,
      type: 'old',
      pods: [on(name, `${name}1`, 1500), on(name, `${name}2`, 1500)],
    }));
    const { needs, replacements } = moveOfAll(clusterOf(nodes, { types }));
    expect(replacements).toHaveLength(6);
    expect(needs.map(({ size }) => size)).toEqual(names.map(() => 1));
    expect(new Set(needs.flatMap((each) => [...each])).size).toBe(6);
  });

  it('is the new node that most of its pods find a place on', () => {
    const nodes = names.map((name, at) => ({
      name,
      type: 'old',
      pods: [on(name, `${name}1`, at % 2 === 0 ? 3000 : 2500)],
    }));
    const { needs } = moveOfAll(clusterOf(nodes, { types }));
    expect(needs.every(({ size }) => size === 1)).toBe(true);
  });

  it('is together all that is launched, and something for each', () => {
    const nodes = names.map((name, at) => ({
      name,
      type: 'old',
      pods: Array.from({ length: 1 + (at % 3) }, (_, each) => on(name, `${name}${each}`, 700)),
    }));
    const { needs, replacements } = moveOfAll(clusterOf(nodes, { types }));
    expect(needs).toHaveLength(6);
    expect(needs.every(({ size }) => size > 0)).toBe(true);
    const all = new Set(needs.flatMap((each) => [...each]));
    expect([...all].sort()).toEqual(replacements.map((_, at) => at));
  });

  /** Of `a` all pods fit on a node that is there; `b` and `c` need one of their own each. */
  const partly = () =>
    clusterOf(
      [
        { name: 'a', type: 'old', pods: [on('a', 'a1', 3000)] },
        { name: 'b', type: 'old', pods: [on('b', 'b1', 3000)] },
        { name: 'c', type: 'old', pods: [on('c', 'c1', 3500)] },
        { name: 'd', type: 'new', pods: [on('d', 'd1', 1000)] },
      ],
      { types },
    );

  it('is the first where its pods fit on nodes that are there', () => {
    const { needs, replacements } = moved({ cluster: partly(), gone: ['a', 'b', 'c'] });
    expect(replacements.map(({ pods }) => pods.length)).toEqual([1, 1]);
    expect(replacements[0]?.pods).toEqual(['default/c1']);
    expect(needs).toEqual([new Set([0]), new Set([1]), new Set([0])]);
  });

  it('is nothing where all pods fit on nodes that are there', () => {
    const nodes = [
      { name: 'a', type: 'old', pods: [on('a', 'a1', 1000)] },
      { name: 'b', type: 'old', pods: [on('b', 'b1', 1000)] },
      { name: 'c', type: 'new', pods: [] },
    ];
    const { needs } = moved({ cluster: clusterOf(nodes, { types }), gone: ['a', 'b'] });
    expect(needs).toEqual([new Set(), new Set()]);
  });

  it('is as many new nodes as its pods take up, and room of a CapacityBuffer', () => {
    const room = podOf('room', { cpu: 4000 }, { annotations: { [FAKE_POD]: 'true' } });
    const pods = [on('a', 'a1', 2500), on('a', 'a2', 2500)];
    const wide = typeOf('wide', 8, 32, 0.8);
    const cluster = clusterOf(
      [
        { name: 'a', type: 'wide', pods },
        { name: 'b', type: 'wide', pods: [on('b', 'b1', 3000), on('b', 'b2', 100)] },
      ],
      { types: [...types, wide], pods: [room] },
    );
    const { needs, replacements } = moved({ cluster, gone: ['a', 'b'] });
    const podsFor = (at: number) =>
      [...(needs[at] ?? [])].flatMap((index) => replacements[index]?.pods ?? []).sort();
    expect(replacements).toHaveLength(4);
    expect(podsFor(0)).toEqual(['default/a1', 'default/a2', 'default/room']);
    expect(podsFor(1)).toEqual(['default/b1', 'default/b2', 'default/room']);
  });
});
