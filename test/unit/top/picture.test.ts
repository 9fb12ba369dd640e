import { expect, it } from 'vitest';
import { totalsOf } from '../../../cli/top/rows.ts';
import { type Feed, pictureOf } from '../../../cli/top/watch/picture.ts';
import { FIRST_VIEW } from '../../../cli/top/watch/screen.ts';
import { livingRow } from '../../builders/top.ts';

const rows = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => livingRow(name));
const pending = Array.from({ length: 7 }, (_, at) => ({
  pod: `default/web-${at}`,
  ageSeconds: 60,
  reason: 'no node has room',
}));

function feed(failure: string, waiting = pending): Feed {
  const notes = ['Karpenter runs'];
  const moment = { atMs: 0, rows, ...totalsOf(rows), pending: waiting, notes };
  return { moment, history: [], failure };
}

function texts(columns: number, rowsOf: number, of: Feed): readonly string[] {
  const { above, below } = pictureOf('a title', of, FIRST_VIEW, { columns, rows: rowsOf });
  return [...above, ...below].map(({ pieces }) => pieces.map(({ text }) => text).join(''));
}

it('has no more lines than the screen, whatever there is to say', () => {
  for (let height = 2; height < 30; height += 1) {
    for (const failure of ['', 'a failure']) {
      for (const of of [
        feed(failure),
        feed(failure, []),
        { ...feed(failure), moment: undefined },
      ]) {
        expect(texts(40, height, of).length).toBeLessThanOrEqual(Math.max(2, height - 1));
      }
    }
  }
});

it('is the sums, the titles, a line of the table and the help where it is low', () => {
  const shown = texts(40, 8, feed('')).map((text) => text.trimEnd());
  expect(shown).toHaveLength(7);
  expect(shown.slice(0, 2)).toEqual(['a title   00:00:00Z', '6 nodes, $0.6000/h   7 pending pods']);
  expect(shown[3]).toMatch(/^NAME +CPU +STATE$/);
  expect(shown[4]).toMatch(/^▾ general, /);
  expect(shown[6]).toMatch(/^q quit/);
});

it('says how many of the pending pods it shows', () => {
  const of = (height: number) =>
    texts(80, height, feed('')).filter((each) => /^Pend|^ {2}default/.test(each));
  expect(of(30)).toHaveLength(6);
  expect(of(30)[0]).toBe('Pending pods, the 5 that wait longest');
  expect(of(12)).toHaveLength(3);
  expect(of(12)[0]).toBe('Pending pods, the 2 that wait longest');
  expect(of(8)).toEqual([]);
});

it('counts one as one', () => {
  const one = rows.slice(0, 1);
  const moment = { atMs: 0, rows: one, ...totalsOf(one), pending: pending.slice(0, 1), notes: [] };
  const [, sums] = texts(80, 20, { moment, history: [], failure: '' });
  expect(sums).toBe('1 node, $0.1000/h   1 pending pod');
});
