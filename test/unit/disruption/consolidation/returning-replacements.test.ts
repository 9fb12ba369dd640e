import { describe, expect, it } from 'vitest';
import { RETURN_TO_FIRST_CHOICE } from '../../../../shared/core/model/labels.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import { clusterOf } from '../../../builders/consolidation.ts';
import { ON_DEMAND, tried, used, withSnapshot } from '../../../builders/moves.ts';
import { podOf, poolOf } from '../../../builders/scheduling.ts';

const asksForReturn = { annotations: { [RETURN_TO_FIRST_CHOICE]: 'nodes=1' } };
const heavier = { ...asksForReturn, weight: 20 };

interface Given {
  readonly first?: Partial<NodePool>;
  readonly second?: Partial<NodePool>;
  /** CPUs that nodes of `first` may have together; old and new ones count. */
  readonly cap?: number;
}

/** What comes of a dear node of `first`, as `second` has a cheaper one. */
function outcome({ first, second = asksForReturn, cap = 4_000 }: Given): string {
  const pools = [poolOf('first', { weight: 10, ...first }), poolOf('second', second)];
  const node = { ...used('a', 'm.xlarge', podOf('web', { cpu: 1000 })), pool: 'first' };
  const cluster = withSnapshot(clusterOf([node], { types: ON_DEMAND, pools }), {
    groupCaps: [{ group: 'some', pools: ['first'], caps: { cpu: cap } }],
  });
  const { found } = tried({ cluster });
  if (found.kind === 'refusal') return found.reasons.map(({ code }) => code).join(' ');
  return found.replacements.map(({ nodePool }) => nodePool).join(' ');
}

describe('a node whose pods would run cheaper on a fallback, as its own NodePool is full', () => {
  it.each<[string, Given, string]>([
    ['stays where the fallback would return to what it frees', {}, 'move-would-be-undone'],
    ['goes where fallbacks do not return', { second: {} }, 'second'],
    ['goes where the annotation cannot be read', withReturn('never'), 'second'],
    ['goes where nothing is tried before it', { first: { weight: 0 }, second: heavier }, 'second'],
    ['goes to its own NodePool where that has room for both', { cap: 8_000 }, 'first'],
  ])('%s', (_, given, expected) => {
    expect(outcome(given)).toBe(expected);
  });
});

function withReturn(text: string): Given {
  return { second: { annotations: { [RETURN_TO_FIRST_CHOICE]: text } } };
}
