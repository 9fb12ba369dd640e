import { type Currency, money } from '../../shared/core/model/currency.ts';
import type { ShadowReport, Side } from './model.ts';
import { CAVEAT, METHOD } from './report.ts';

type Cells = readonly [name: string, karpenter: string, joiner: string];

function rowsOf({ figures: { karpenter, joiner }, currency }: ShadowReport): readonly Cells[] {
  const row = (name: string, text: (side: Side) => string): Cells => [
    name,
    text(karpenter),
    text(joiner),
  ];
  const price = (amount: number): string => money(amount, currency, 4);
  return [
    row('nodes launched', (side) => String(side.nodesLaunched)),
    row('  price an hour', (side) => price(side.launchedUsdPerHour)),
    row('nodes removed', (side) => String(side.nodesRemoved)),
    row('  price an hour', (side) => price(side.removedUsdPerHour)),
    row('evictions', (side) => String(side.evictions)),
    row('all nodes, an hour (mean)', (side) => price(side.meanUsdPerHour)),
    row('pending, pod-seconds', (side) => String(Math.round(side.pendingSeconds))),
  ];
}

function aligned(rows: readonly Cells[]): string {
  const widths = [0, 1, 2].map((at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows
    .map(([name, ...cells]) => {
      const padded = cells.map((cell, at) => cell.padStart(widths[at + 1] ?? 0));
      return `${[name.padEnd(widths[0] ?? 0), ...padded].join('  ')}\n`;
    })
    .join('');
}

/** A node's type and place, as far as they are known. */
export function machineText(
  {
    instanceType,
    zone,
    capacityType,
    usdPerHour,
  }: Pick<
    ShadowReport['launches'][number],
    'instanceType' | 'zone' | 'capacityType' | 'usdPerHour'
  >,
  currency: Currency,
): string {
  const price = usdPerHour === null ? 'price not known' : money(usdPerHour, currency, 4);
  return [instanceType ?? 'any type', capacityType, zone, price]
    .filter((each) => each !== null)
    .join(' ');
}

/** What a node is for, as far as it is known; with two spaces before it. */
function purposeText({ pods, replaces, returned }: ShadowReport['launches'][number]): string {
  if (returned !== null) return `  ${returned} again, which a plan had removed`;
  if (pods.length > 0) return `  for ${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}`;
  return replaces.length > 0 ? `  in place of ${replaces.join(', ')}` : '';
}

/** The report for people. */
export function shadowText(report: ShadowReport): string {
  const { cluster, from, to, observations, launches, removals, notes, currency } = report;
  const table = aligned([['', 'Karpenter', 'Joiner'], ...rowsOf(report)]);
  const launched = launches.map(
    (each) =>
      `${each.at}  ${each.by.padEnd(9)}  ${each.nodePool}  ${machineText(each, currency)}` +
      `${purposeText(each)}\n`,
  );
  const removed = removals.map(({ at, by, nodeClaim, usdPerHour, evictions, why }) => {
    const price = usdPerHour === null ? 'price not known' : money(usdPerHour, currency, 4);
    const moved = `${evictions} ${evictions === 1 ? 'eviction' : 'evictions'}`;
    const cells = [at, by.padEnd(9), nodeClaim, price, moved, ...(why === null ? [] : [why])];
    return `${cells.join('  ')}\n`;
  });
  return [
    `${cluster}\n${from} to ${to}, ${observations} observations\n`,
    ...(notes.length === 0 ? [] : [notes.map((each) => `note: ${each}\n`).join('')]),
    table,
    `${CAVEAT}\n`,
    ...(launched.length === 0 ? [] : [`LAUNCHES\n${launched.join('')}`]),
    ...(removed.length === 0 ? [] : [`REMOVALS\n${removed.join('')}`]),
    `How the figures are made:\n${METHOD.filter((each) => each !== CAVEAT)
      .map((each) => `- ${each}\n`)
      .join('')}`,
  ].join('\n');
}
