import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTop } from '../../../cli/top/render.ts';
import { totalsOf } from '../../../cli/top/rows.ts';
import { layoutOf, piecesOf, titleLine } from '../../../cli/top/watch/columns.ts';
import {
  afterKey,
  bar,
  FIRST_VIEW,
  firstShown,
  type Key,
  type Line,
  linesOf,
  sparkline,
  trendText,
  type View,
} from '../../../cli/top/watch/screen.ts';
import type { LivingRow, TopSnapshot } from '../../../cli/top/watch/snapshot.ts';
import { livingRow } from '../../builders/top.ts';

function row(node: string, nodePool: string | undefined, pricePerHour: number): LivingRow {
  const draining = { state: 'Draining', detail: '2 pods left' } as const;
  return livingRow(node, {
    nodePool,
    pricePerHour,
    ...(node === 'b' ? { life: draining } : {}),
  });
}

const rows = [row('a', 'general', 0.1), row('b', 'general', 0.3), row('x', undefined, 0.2)];
const moment: TopSnapshot = { atMs: 0, rows, ...totalsOf(rows), pending: [], notes: [] };

/** The names of the lines, NodePools with a colon. */
function names(view: View): readonly string[] {
  return linesOf(moment, view).map((line) =>
    line.kind === 'pool' ? `${line.pool}:` : (line.row.node ?? ''),
  );
}

/** The view after these keys; `quit` where one of them ends it. */
function after(keys: readonly (string | NonNullable<Key['name']>)[]): View | 'quit' {
  const NAMED = [
    'up',
    'down',
    'pageDown',
    'pageUp',
    'home',
    'end',
    'return',
    'escape',
    'backspace',
  ];
  let view: View = FIRST_VIEW;
  for (const each of keys) {
    const isNamed = NAMED.includes(each);
    const key: Key = isNamed
      ? { input: '', name: each as NonNullable<Key['name']> }
      : { input: each };
    const next = afterKey(view, key, linesOf(moment, view));
    if (next === 'quit') return next;
    view = next;
  }
  return view;
}

function namesAfter(keys: readonly string[]): readonly string[] | 'quit' {
  const view = after(keys);
  return view === 'quit' ? view : names(view);
}

describe('keys', () => {
  it.each<[readonly string[], readonly string[] | 'quit']>([
    [[], ['general:', 'a', 'b', ':', 'x']],
    [['q'], 'quit'],
    [['s'], ['general:', 'b', 'a', ':', 'x']],
    [
      ['s', 'S'],
      ['general:', 'a', 'b', ':', 'x'],
    ],
    [['return'], ['general:', ':', 'x']],
    [
      ['return', 'return'],
      ['general:', 'a', 'b', ':', 'x'],
    ],
    [
      ['down', 'down', ' '],
      ['general:', ':', 'x'],
    ],
    [
      ['end', ' '],
      ['general:', 'a', 'b', ':'],
    ],
    [
      ['G', 'g', ' '],
      ['general:', ':', 'x'],
    ],
    [['a'], ['general:', ':']],
    [
      ['a', 'a'],
      ['general:', 'a', 'b', ':', 'x'],
    ],
    [
      ['/', 'd', 'r', 'a', 'i'],
      ['general:', 'b'],
    ],
    [
      ['/', 'q', 'backspace', 'x', 'return'],
      [':', 'x'],
    ],
    [
      ['/', 'b', 'escape'],
      ['general:', 'a', 'b', ':', 'x'],
    ],
    [
      ['/', 'b', 'return', 'escape'],
      ['general:', 'a', 'b', ':', 'x'],
    ],
    [['/', 'n', 'o', 'n', 'e'], []],
  ])('%j', (keys, expected) => {
    expect(namesAfter(keys)).toEqual(expected);
  });

  it('filter the sums of NodePools too', () => {
    const sums = (view: View) =>
      linesOf(moment, view).flatMap((line) =>
        line.kind === 'pool' ? [[line.total.nodes, line.total.pricePerHour]] : [],
      );
    expect(sums(FIRST_VIEW)).toEqual([
      [2, 0.4],
      [1, 0.2],
    ]);
    expect(sums({ ...FIRST_VIEW, filter: 'drai' })).toEqual([[1, 0.3]]);
  });

  it('keep the cursor on a line, whatever is typed', () => {
    const key = fc.constantFrom(
      'up',
      'down',
      'pageDown',
      'home',
      'end',
      ' ',
      's',
      'a',
      '/',
      'x',
      'escape',
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 30 }), (keys) => {
        const view = after(keys);
        if (view === 'quit') return;
        const lines = linesOf(moment, view);
        const next = afterKey({ ...view, isFiltering: false }, { input: '', name: 'up' }, lines);
        expect(next === 'quit' ? 0 : next.cursor).toBeLessThanOrEqual(
          Math.max(0, lines.length - 1),
        );
      }),
    );
  });
});

/** The titles and the table of these rows. */
function drawn(of: readonly LivingRow[], width: number, view = FIRST_VIEW): readonly string[] {
  const lines = linesOf({ rows: of }, view);
  const layout = layoutOf(lines, width);
  const textOf = (line: Line): string =>
    piecesOf(line, layout)
      .map(({ text }) => text)
      .join('');
  return [titleLine(layout), ...lines.map(textOf)];
}

describe('what is drawn', () => {
  it('columns that are cut get what the state has to spare', () => {
    const type = 'm7i-flex.metal-48xl';
    const draining = { state: 'Draining', detail: 'a budget '.repeat(20) } as const;
    const wide = livingRow('ip-10-0-100-200.eu-west-1.compute.internal', { instanceType: type });
    expect(drawn([wide], 80).join()).toContain('…');
    for (const width of [200, 400]) {
      const [title = '', pool = '', node = ''] = drawn([wide], width);
      expect(node).toContain(`${wide.node} ${type} spot`);
      expect([title.length, pool.length, node.length]).toEqual([width, width, width]);
      expect(title.indexOf('STATE')).toBe(node.indexOf('Ready'));
    }
    const busy = drawn([{ ...wide, life: draining }], 200).join();
    expect(busy).toContain(`${wide.node} ${type} spot`);
    expect(busy).toMatch(/Draining: a budget a budget .*…/);
  });

  it('only more than a node has is coloured', () => {
    const looks = [0.1, 0.6, 0.95, 1, 1.01].map((share) => {
      const [line] = linesOf(
        { rows: [livingRow('a', { cpu: { requested: share, allocatable: 1 } })] },
        FIRST_VIEW,
      ).slice(1);
      if (line === undefined) throw new Error('a line for the node');
      return piecesOf(line, layoutOf([line], 40))[2]?.look;
    });
    expect(looks).toEqual(['plain', 'plain', 'plain', 'plain', 'bad']);
  });

  it('prices of which none is known are no zero', () => {
    const unknown = livingRow('a', { pricePerHour: undefined });
    const [, pool, node] = drawn([unknown], 100);
    expect(pool).toMatch(/▾ general, 1 node +- /);
    expect(node).toContain(' - ');
    expect(drawn([unknown, livingRow('b')], 100)[1]).toContain('general, 2 nodes');
    expect(drawn([unknown, livingRow('b')], 100)[1]).toContain('$0.1000');
    const totals = totalsOf([unknown]);
    expect(renderTop([unknown], totals)).toContain('- (+1 of unknown price)');
  });

  it.each([
    [0, '░░░░'],
    [0.5, '██░░'],
    [0.53, '██▏░'],
    [1, '████'],
    [2, '████'],
  ])('a share of %d is %s', (share, text) => {
    expect(bar({ requested: share, allocatable: 1 }, 4)).toBe(text);
  });

  it('a line fills the width, whatever the width', () => {
    for (const width of [40, 60, 80, 100, 140, 200]) {
      const lengths = drawn(rows, width).map((text) => text.length);
      expect(new Set(lengths)).toEqual(new Set([width]));
    }
  });

  it('a screen of 160 columns shows all there is to know of a node', async () => {
    const screen = drawn(rows, 160)
      .map((text) => text.trimEnd())
      .join('\n');
    await expect(screen).toMatchFileSnapshot('golden/watch.txt');
  });

  it('the cursor stays in sight', () => {
    expect([firstShown(0, 100, 10), firstShown(50, 100, 10), firstShown(99, 100, 10)]).toEqual([
      0, 45, 90,
    ]);
    expect(firstShown(3, 5, 10)).toBe(0);
  });

  it('prices that change have a trend', () => {
    expect(sparkline([1, 2, 3])).toBe('▁▅█');
    expect([sparkline([1, 1]), sparkline([1]), trendText([])]).toEqual(['', '', '']);
    const history = [
      { atMs: 0, perHour: 9 },
      { atMs: 600_000, perHour: 1 },
      { atMs: 720_000, perHour: 3 },
    ];
    expect(trendText(history)).toBe('+$2.0000 in 2m ▆▁▂'.replace('▆', '█').replace('▂', '▃'));
  });
});
