import { describe, expect, it } from 'vitest';
import type { Move } from '../../../../shared/core/disruption/consolidation/move.ts';
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
});
