import { describe, expect, it } from 'vitest';
import { missing } from '../../../shared/core/missing.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { paretoFrontOf, rightSize } from '../../../shared/core/scheduling/placing/right-size.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import { emptyHost } from '../../../shared/core/scheduling/search/host.ts';
import {
  SearchContext,
  SearchState,
  zeros,
} from '../../../shared/core/scheduling/search/search-state.ts';
import { podsOf, poolOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

const TYPES = [2, 4, 8].map((cpu) => typeOf(`c.${cpu}`, cpu, cpu * 4, cpu * 0.05));

/** A state with so many nodes of the dearest launch that hold one pod each. */
function stateOf(pods: number, limits: Readonly<Record<string, number>> = {}): SearchState {
  const nodePools = [poolOf('general', { limits })];
  const snapshot = snapshotOf({ types: TYPES, nodePools, pods: podsOf(pods, 'a', { cpu: 1000 }) });
  const problem = compileProblem(snapshot, DEFAULT_SCHEDULING_SETTINGS);
  const state = new SearchState(new SearchContext(problem, { kinds: new Set() }));
  const [podClass = missing(0)] = problem.classes;
  const [weight = missing(0)] = state.context.weights;
  const dearest = paretoFrontOf(state, weight).at(-1) ?? missing(0);
  for (let bin = 0; bin < pods; bin++) {
    const used = zeros(problem.resources.length);
    for (const [r, amount] of podClass.requests.entries()) used[r] = amount;
    const content = new Map([[podClass, 1]]);
    state.budgets.take(dearest, 1);
    state.bins.push({
      ...{ options: [dearest], chosen: dearest, reserved: dearest },
      ...{ used, host: emptyHost([]), content },
    });
  }
  return state;
}

const typesOf = ({ bins }: SearchState) => bins.map(({ chosen }) => chosen.type.type.name);

describe('the cheapest launch for what nodes hold', () => {
  it('is given to equal nodes alike', () => {
    const state = stateOf(4);
    expect(typesOf(state)).toEqual(['c.8', 'c.8', 'c.8', 'c.8']);
    rightSize(state);
    expect(typesOf(state)).toEqual(['c.2', 'c.2', 'c.2', 'c.2']);
  });

  it('is looked for once among equal nodes that have it already', () => {
    const [one, four] = [stateOf(1), stateOf(4)].map((state) => {
      rightSize(state);
      const { steps } = state;
      rightSize(state);
      return state.steps - steps;
    });
    expect(one).toBeGreaterThan(0);
    expect(four).toBe(one);
  });
});
