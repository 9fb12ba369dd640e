import type { Launch } from '../../shared/preview/launches.ts';
import type { Preview } from '../../shared/preview/preview.ts';
import type { Remark, Removal } from '../../shared/preview/removals.ts';
import { priceText } from '../price-text.ts';
import { table } from '../simulate/table.ts';

/** Reasons and events shown; JSON has them all. */
const LINES_MAX = 20;

const LAUNCH_HEADER = ['COUNT', 'NODEPOOL', 'TYPE', 'ZONE', 'CAPACITY', 'PRICE/H', 'PODS', 'WHY'];

/** Equal nodes are one row: their number, the price of one, and the pods of all. */
function launchTable(launches: readonly Launch[]): string {
  const kinds = Map.groupBy(launches, ({ nodePool, chosen, why }) =>
    JSON.stringify([nodePool, chosen, why]),
  );
  const rows = [...kinds.values()].map((alike) => {
    const [first] = alike;
    const { chosen } = first ?? {};
    return [
      String(alike.length),
      first?.nodePool ?? '',
      chosen?.type ?? '-',
      chosen?.zone ?? '-',
      chosen?.capacityType ?? '-',
      priceText(chosen?.listPrice ?? null),
      String(alike.reduce((sum, { pods }) => sum + pods.length, 0)),
      first?.why ?? '',
    ];
  });
  return table(LAUNCH_HEADER, rows, '  ');
}

const REMOVAL_HEADER = ['NODECLAIM', ...LAUNCH_HEADER.slice(1)];

function removalTable(removals: readonly Removal[]): string {
  const rows = removals.map((removal) => [
    removal.nodeClaim,
    removal.nodePool,
    removal.instanceType ?? '-',
    removal.zone ?? '-',
    removal.capacityType ?? '-',
    priceText(removal.pricePerHour ?? null),
    String(removal.pods),
    removal.why,
  ]);
  return table(REMOVAL_HEADER, rows, '  ');
}

function cut(lines: readonly string[]): readonly string[] {
  const more = lines.length - LINES_MAX;
  return more > 0 ? [...lines.slice(0, LINES_MAX), `  and ${more} more`] : lines;
}

/** What is said of several objects is said once. */
function grouped(entries: readonly Remark[]): readonly string[] {
  return [...Map.groupBy(entries, ({ message }) => message)].map(([message, list]) => {
    const more = list.length > 1 ? ` and ${list.length - 1} more` : '';
    return `  ${list[0]?.object ?? ''}${more}: ${message}`;
  });
}

function line({ object, message }: Remark): string {
  return `  ${object}: ${message}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title}\n${cut(lines).join('\n')}`];
}

/** One preview for people. */
export function renderPreview(preview: Preview): string {
  const { launches, removals, plan, drifted, leaving, held, pricePerHour, failures } = preview;
  const replaced = removals.filter(({ action }) => action === 'replace');
  const removed = removals.filter(({ action }) => action === 'remove');
  const isIdle = launches.length + removals.length === 0;
  const unplaced = [...plan.unplaced].map(([object, { message }]) => ({ object, message }));
  const drift = drifted.map(({ nodeClaim, reason, message }) => ({
    object: nodeClaim,
    message: message === '' ? reason : `${reason}, ${message}`,
  }));
  const moved = plan.existing.map(({ node, pods }) => ({
    object: node,
    message: `${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}`,
  }));
  const going = leaving.map(({ nodeClaim: object, why: message }) => ({ object, message }));
  const { now, after, unpriced } = pricePerHour;
  const more = unpriced > 0 ? `, and ${unpriced} nodes of unknown price` : '';
  return [
    ...(isIdle ? ['Nothing to launch or to remove.'] : []),
    ...(launches.length === 0 ? [] : [`To launch\n${launchTable(launches)}`]),
    ...(removed.length === 0 ? [] : [`To remove\n${removalTable(removed)}`]),
    ...(replaced.length === 0
      ? []
      : [`To remove once their replacements are ready\n${removalTable(replaced)}`]),
    ...section('Nodes there are that get pods', moved.map(line)),
    ...section('Pods that stay pending', grouped(unplaced)),
    ...section('Under way', grouped(going)),
    ...section('Drifted', grouped(drift)),
    ...section('Held back', grouped(held)),
    ...section('Not done', grouped(failures)),
    `${priceText(now)}/h now, ${priceText(after)}/h after${more}`,
  ].join('\n\n');
}

/** How the answer differs, in a line. */
export function renderDifference(before: Preview, after: Preview): string {
  const counted = (a: number, b: number, noun: string): string => `${noun} ${a} → ${b}`;
  const price = Number((after.pricePerHour.after - before.pricePerHour.after).toFixed(4));
  return [
    'DIFFERENCE',
    [
      counted(before.launches.length, after.launches.length, 'to launch'),
      counted(before.removals.length, after.removals.length, 'to remove'),
      counted(before.drifted.length, after.drifted.length, 'drifted'),
      counted(before.plan.unplaced.size, after.plan.unplaced.size, 'pods left pending'),
      `${price < 0 ? '-' : '+'}${priceText(Math.abs(price))}/h`,
    ].join(', '),
  ].join('\n');
}
