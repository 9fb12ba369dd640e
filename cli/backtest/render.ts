import { type Currency, money } from '../../shared/core/model/currency.ts';
import { timeText } from '../decisions/render.ts';
import { aligned, amountText } from '../ledger/render.ts';
import { counted } from '../words.ts';
import type { Backtest, LaunchRow, Side } from './backtest.ts';

const SHOWN_MAX = 10;

/** How each figure is made; the document has the same. */
export const METHOD = [
  'each recorded moment is decided again on the recorded cluster; a different decision does not change later moments',
  'launches: list price of the new nodes, times the hours that the recorded nodes ran (mean, weighted by price)',
  'launches that place another number of pods than the recorded plan, or whose nodes never ran, are not counted',
  'moves that were carried out and that the variant makes too save what joiner savings says; other moves of the variant save the price difference from 5 minutes after the decision until the recorded consolidation horizon, less 5 minutes of their replacements',
  'difference in cost: the difference of the costs of launches less that of what moves saved. The hours of launches end where recorded moves removed the nodes, so a move that the variant does not make leaves nodes that run on',
  'searches that moved nothing are not recorded, so moves that only the variant would have found in them are missing',
] as const;

/** Instead of figures that would all be 0. */
const NOTHING = 'There is nothing to compare: no launch that counts, and no search for moves.';

function signed(amount: number): string {
  return amount > 0 ? `+${amount}` : String(amount);
}

function sides({ recorded, variant, difference }: Backtest, currency: Currency) {
  const more = (amount: number): string =>
    `${amount >= 0.005 ? '+' : ''}${amountText(amount, currency)}`;
  const usd = (of: (side: Side) => number): readonly string[] => [
    amountText(of(recorded), currency),
    amountText(of(variant), currency),
    more(of(difference)),
  ];
  const count = (of: (side: Side) => number): readonly string[] => [
    String(of(recorded)),
    String(of(variant)),
    signed(of(difference)),
  ];
  return aligned([
    ['', 'RECORDED', 'VARIANT', 'DIFFERENCE'],
    ['Difference in cost', '', '', more(difference.netUsd)],
    ['  cost of launches', ...usd((each) => each.usd)],
    ['  saved by moves', ...usd(({ movesSavedUsd }) => movesSavedUsd)],
    ['Nodes launched', ...count(({ nodes }) => nodes)],
    ['Nodes removed by moves', ...count(({ nodesRemoved }) => nodesRemoved)],
    ['Pods moved', ...count(({ evictions }) => evictions)],
  ]);
}

function differing(launches: readonly LaunchRow[], currency: Currency): readonly string[] {
  const order = launches
    .filter(({ isCompared, recorded, variant }) => isCompared && recorded.usd !== variant.usd)
    .sort((a, b) => {
      const by = (each: LaunchRow): number => Math.abs(each.variant.usd - each.recorded.usd);
      return by(b) - by(a) || a.atMs - b.atMs;
    });
  if (order.length === 0) return [];
  const rows = order
    .slice(0, SHOWN_MAX)
    .map(({ atMs, recorded, variant, hours }) => [
      timeText(atMs),
      String(recorded.nodes),
      money(recorded.usdPerHour, currency, 4),
      String(variant.nodes),
      money(variant.usdPerHour, currency, 4),
      hours.toFixed(1),
      amountText(variant.usd - recorded.usd, currency),
    ]);
  const head = ['AT', 'NODES', '$/H', 'VARIANT NODES', 'VARIANT $/H', 'HOURS', 'DIFFERENCE'];
  const more = order.length > SHOWN_MAX ? [`and ${order.length - SHOWN_MAX} more`] : [];
  return ['', 'Launches with the largest difference:', ...aligned([head, ...rows]), ...more];
}

function searchesText(searches: number): string {
  return `${counted(searches, 'recorded search')} for moves`;
}

/** A back-test as people read it. */
export function backtestText(tested: Backtest, subject: string, currency: Currency): string {
  const { launches, searches, searchesLeftOut } = tested;
  const isEmpty = searches === 0 && !launches.some(({ isCompared }) => isCompared);
  const left = launches.filter(({ isCompared }) => !isCompared).length;
  const again = counted(launches.length, 'recorded launch');
  const counts =
    searches === 0 && searchesLeftOut > 0 ? again : `${again} and ${searchesText(searches)}`;
  const lines = [
    `${counts}, decided again with ${subject}`,
    '',
    ...(isEmpty ? [NOTHING] : sides(tested, currency)),
    ...(left > 0 ? [`${left} of ${launches.length} recorded launches not compared`] : []),
    ...(searchesLeftOut > 0
      ? [`${searchesText(searchesLeftOut)} left out: the rules plan launches only`]
      : []),
    ...differing(launches, currency),
    '',
    'How the figures are made:',
    ...METHOD.map((each) => `- ${each}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
