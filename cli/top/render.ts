import { age } from '../../shared/core/duration.ts';
import { priceText } from '../price-text.ts';
import { table } from '../simulate/table.ts';
import { type NodeRow, shareOf, type Total, totalPrice, type Use } from './rows.ts';

const GIB = 2 ** 30;

function percent(use: Use): string {
  return `${Math.round(100 * shareOf(use))}%`;
}

function cores(use: Use): string {
  if (use.allocatable === 0) return '-';
  const text = (milli: number): string => (milli / 1000).toFixed(1);
  return `${text(use.requested)}/${text(use.allocatable)} ${percent(use)}`;
}

function gibibytes(use: Use): string {
  if (use.allocatable === 0) return '-';
  const text = (bytes: number): string => (bytes / GIB).toFixed(1);
  return `${text(use.requested)}/${text(use.allocatable)}Gi ${percent(use)}`;
}

function priced(total: Total): string {
  const more = total.unpriced > 0 ? ` (+${total.unpriced} of unknown price)` : '';
  return `${priceText(totalPrice(total))}${more}`;
}

const NODES = [
  ...['NODE', 'NODECLAIM', 'NODEPOOL', 'TYPE', 'CAPACITY', 'ZONE', 'PRICE/H'],
  ...['CPU', 'MEMORY', 'PODS', 'AGE', 'STATE'],
];
/** What `-o wide` adds. */
const WIDE = ['ARCH', 'IMAGE', 'INSTANCE'];

function nodeTable(rows: readonly NodeRow[], isWide: boolean): string {
  const cells = rows.map((row) => [
    row.node ?? '-',
    row.nodeClaim ?? '-',
    row.nodePool ?? '-',
    row.instanceType ?? '-',
    row.capacityType ?? '-',
    row.zone ?? '-',
    priceText(row.pricePerHour ?? null),
    cores(row.cpu),
    gibibytes(row.memory),
    String(row.pods),
    age(row.ageSeconds),
    row.state.join(','),
    ...(isWide ? [row.architecture ?? '-', row.imageId ?? '-', row.instanceId ?? '-'] : []),
  ]);
  return table(isWide ? [...NODES, ...WIDE] : NODES, cells);
}

function totalTable(byPool: readonly Total[], all: Total): string {
  const row = (name: string, total: Total): readonly string[] => [
    name,
    String(total.nodes),
    priced(total),
    cores(total.cpu),
    gibibytes(total.memory),
  ];
  const rows = byPool.map((total) => row(total.nodePool ?? '(others)', total));
  const last = byPool.length > 1 ? [row('all', all)] : [];
  return table(['NODEPOOL', 'NODES', 'PRICE/H', 'CPU', 'MEMORY'], [...rows, ...last]);
}

/** Nodes, and what they come to, for people. */
export function renderTop(
  rows: readonly NodeRow[],
  totals: { readonly byPool: readonly Total[]; readonly all: Total },
  isWide = false,
): string {
  if (rows.length === 0) return 'No nodes.';
  return `${nodeTable(rows, isWide)}\n\n${totalTable(totals.byPool, totals.all)}`;
}
