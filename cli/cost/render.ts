import { pageUrl } from '../../shared/contract/pages.ts';
import { HOURS_A_MONTH } from '../../shared/core/duration.ts';
import { table } from '../simulate/table.ts';
import { count, type Part, type Reaction } from './bill.ts';
import type { Cost } from './model.ts';
import { PRICES_DATE } from './prices.ts';

/** What is shown: a column for each reaction. */
export interface Shown {
  readonly region: string;
  readonly nodes: number;
  readonly pods: number;
  readonly costs: readonly (readonly [Reaction, Cost])[];
  readonly alternatives: readonly Part[];
  /** Of the catalog from which EC2's prices are. */
  readonly ec2PricesDate: string;
}

export function dollars(usd: number): string {
  const [whole = '', cents = ''] = usd.toFixed(2).split('.');
  return `$${count(Number(whole))}.${cents}`;
}

/** A part with its amount in every column; the formula is that of the first one that has any. */
function rows({ costs }: Shown): readonly (readonly string[])[] {
  const [first] = costs;
  return (first?.[1].parts ?? []).map(({ name, formula }) => {
    const amounts = costs.map(([, cost]) => cost.parts.find((part) => part.name === name));
    return [name, ...amounts.map((part) => dollars(part?.usd ?? 0)), formula];
  });
}

function sums({ costs }: Shown): readonly (readonly string[])[] {
  return [
    ['together', ...costs.map(([, { usd }]) => dollars(usd)), ''],
    [
      'with an unused free tier',
      ...costs.map(([, { usd, freeTierUsd }]) => dollars(usd - freeTierUsd)),
      '',
    ],
  ];
}

function heading({ region, nodes, pods, ec2PricesDate }: Shown): string {
  return (
    `${count(nodes)} nodes and ${count(pods)} pods in ${region}, a month of ${HOURS_A_MONTH} hours; list ` +
    `prices of ${PRICES_DATE}, of EC2 of ${ec2PricesDate}`
  );
}

export function renderCost(shown: Shown): string {
  const header = ['PART', ...shown.costs.map(([reaction]) => reaction.toUpperCase()), 'FORMULA'];
  const other = shown.alternatives.map(({ name, usd, formula }) => [name, dollars(usd), formula]);
  return [
    heading(shown),
    '',
    table(header, [...rows(shown), ...sums(shown)], '  '),
    '',
    table(['INSTEAD', 'A MONTH', 'FORMULA'], other, '  '),
    '',
    'The seconds of the formulas are measured or estimated; the formula with your own is in the last',
    `row of the dashboard. ${pageUrl('cost.md')}`,
    '',
  ].join('\n');
}

/** The same tables for docs/cost.md. */
export function renderMarkdown(shown: Shown): string {
  const columns = shown.costs.map(([reaction]) => `\`${reaction}\``);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = (cells: readonly string[]): string => `|${cells.map(() => '---').join('|')}|`;
  const header = ['part', ...columns, 'formula'];
  const bold = sums(shown).map((row) => row.map((cell) => (cell === '' ? '' : `**${cell}**`)));
  const other = shown.alternatives.map(({ name, usd, formula }) => [name, dollars(usd), formula]);
  return [
    `${heading(shown)}.`,
    '',
    line(header),
    rule(header),
    ...[...rows(shown), ...bold].map(line),
    '',
    line(['instead', 'a month', 'formula']),
    rule(['', '', '']),
    ...other.map(line),
    '',
  ].join('\n');
}
