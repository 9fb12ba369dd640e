import { dollars, table } from '../simulate/table.ts';
import type { Launch, Preview, Removal } from './preview.ts';

/** Reasons and events shown; JSON has them all. */
const LINES_MAX = 20;

function launchRow({ nodeClaim, nodePool, chosen, pods, replaces, why }: Launch) {
  const what = replaces === undefined ? '+' : `+ for ${replaces}`;
  return [
    what,
    nodeClaim,
    nodePool,
    chosen?.type ?? '-',
    chosen?.zone ?? '-',
    chosen?.capacityType ?? '-',
    dollars(chosen?.listPrice ?? null),
    String(pods.length),
    why,
  ];
}

function removalRow(removal: Removal) {
  const { nodeClaim, nodePool, instanceType, zone, capacityType, pricePerHour, pods } = removal;
  return [
    removal.action === 'remove' ? '-' : '- later',
    nodeClaim,
    nodePool,
    instanceType ?? '-',
    zone ?? '-',
    capacityType ?? '-',
    dollars(pricePerHour ?? null),
    String(pods),
    removal.why,
  ];
}

const HEADER = ['', 'NODECLAIM', 'NODEPOOL', 'TYPE', 'ZONE', 'CAPACITY', 'PRICE/H', 'PODS', 'WHY'];

function cut(lines: readonly string[]): readonly string[] {
  const more = lines.length - LINES_MAX;
  return more > 0 ? [...lines.slice(0, LINES_MAX), `  and ${more} more`] : lines;
}

interface Entry {
  readonly object: string;
  readonly message: string;
}

/** What is said of several objects is said once. */
function grouped(entries: readonly Entry[]): readonly string[] {
  return [...Map.groupBy(entries, ({ message }) => message)].map(([message, list]) => {
    const more = list.length > 1 ? ` and ${list.length - 1} more` : '';
    return `  ${list[0]?.object ?? ''}${more}: ${message}`;
  });
}

function line({ object, message }: Entry): string {
  return `  ${object}: ${message}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title}\n${cut(lines).join('\n')}`];
}

/** One preview for people. */
export function renderPreview(preview: Preview): string {
  const { launches, removals, plan, drifted, held, pricePerHour, failures } = preview;
  const rows = [...launches.map(launchRow), ...removals.map(removalRow)];
  const unplaced = [...plan.unplaced].map(([object, { message }]) => ({ object, message }));
  const drift = drifted.map(({ nodeClaim, reason, message }) => ({
    object: nodeClaim,
    message: message === '' ? reason : `${reason}, ${message}`,
  }));
  const moved = plan.existing.map(({ node, pods }) => ({
    object: node,
    message: `${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}`,
  }));
  const { now, after } = pricePerHour;
  return [
    rows.length === 0 ? 'Nothing to launch or to remove.' : table(HEADER, rows),
    ...section('Nodes there are that get pods', moved.map(line)),
    ...section('Pods that stay pending', grouped(unplaced)),
    ...section('Drifted', grouped(drift)),
    ...section('Held back', grouped(held)),
    ...section('Not done', grouped(failures)),
    `${dollars(now)}/h now, ${dollars(after)}/h after`,
  ].join('\n\n');
}

/** How the answer differs, in a line. */
export function renderDifference(before: Preview, after: Preview): string {
  const counted = (a: number, b: number, noun: string): string => `${noun} ${a} → ${b}`;
  const price = after.pricePerHour.after - before.pricePerHour.after;
  return [
    'DIFFERENCE',
    [
      counted(before.launches.length, after.launches.length, 'to launch'),
      counted(before.removals.length, after.removals.length, 'to remove'),
      counted(before.drifted.length, after.drifted.length, 'drifted'),
      counted(before.plan.unplaced.size, after.plan.unplaced.size, 'pods left pending'),
      `${price < 0 ? '-' : '+'}${dollars(Math.abs(price))}/h`,
    ].join(', '),
  ].join('\n');
}
