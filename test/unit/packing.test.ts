import { expect, it } from 'vitest';
import { plannedPacking } from '../../cli/packing/planned.ts';
import { nodeOf, planOf, podsOf, snapshotOf } from '../builders/scheduling.ts';

it('what is shown of a plan does not follow the order of nodes and pods', () => {
  const nodes = [nodeOf('a', 16, 64), nodeOf('b', 16, 64)];
  const bound = nodes.flatMap(({ name }) =>
    ['one', 'two', 'three'].flatMap((app) =>
      podsOf(2, `${app}-${name}`, { cpu: 100 * app.length }, { nodeName: name }),
    ),
  );
  const pods = [...bound, ...podsOf(3, 'new', { cpu: 12_000 })];
  const shown = (backwards: boolean) => {
    const inOrder = <Item>(items: readonly Item[]) => (backwards ? items.toReversed() : items);
    const cluster = { nodes: inOrder(nodes), pods: inOrder(pods) };
    return plannedPacking(snapshotOf(cluster), planOf(cluster));
  };
  expect(shown(true)).toEqual(shown(false));
  expect(shown(false).workloads.length).toBeGreaterThan(3);
});
