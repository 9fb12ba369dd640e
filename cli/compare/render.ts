import { pageUrl } from '../../shared/contract/pages.ts';
import { priceText } from '../price-text.ts';
import { table } from '../simulate/table.ts';
import {
  type Comparison,
  KARPENTER_VERSION,
  type Kind,
  type Left,
  NEARLY_ALL,
  type Row,
} from './comparison.ts';
import type { Subject } from './subject.ts';

/** Kinds of nodes named in a row; JSON has all. */
const KINDS_MAX = 3;

/** `$12,345.67`. */
export function usd(amount: number, digits = 2): string {
  const [whole = '0', rest = ''] = priceText(Math.abs(amount), digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${amount < 0 ? '-' : ''}${grouped}${rest === '' ? '' : `.${rest}`}`;
}

function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** `3 more nodes`. */
function countText(count: number, comparative: string, noun: string): string {
  return `${count.toLocaleString('en-US')} ${comparative} ${noun}${count === 1 ? '' : 's'}`;
}

function kindText({ instanceType, capacityType, count }: Kind): string {
  const how = capacityType === 'on-demand' ? '' : ` ${capacityType}`;
  return `${count} × ${instanceType}${how}`;
}

function kindsText(kinds: readonly Kind[]): string {
  const named = kinds.slice(0, KINDS_MAX).map(kindText).join(', ');
  const more = kinds.slice(KINDS_MAX).reduce((sum, { count }) => sum + count, 0);
  return more > 0 ? `${named}, ${more} more` : named;
}

const HEADER = ['', '$/MONTH', '$/HOUR', 'NODES', 'PODS', 'UNPLACED'];

function cells(name: string, row: Row, isLive: boolean, seconds: string): readonly string[] {
  return [
    name,
    usd(row.usdPerMonth),
    usd(row.usdPerHour, 4),
    String(row.nodes),
    String(row.podsPlaced),
    String(row.podsLeft),
    ...(isLive ? [String(row.evictions)] : []),
    seconds,
    kindsText(row.instanceTypes),
  ];
}

/** Seconds as people read them: two digits that count. */
export function secondsText(seconds: number): string {
  return seconds < 0.1 ? `${seconds.toFixed(3)} s` : `${seconds.toFixed(2)} s`;
}

/** The sentence that says it. */
export function verdict({ difference, karpentersWay, joinersWay }: Comparison): string {
  const { usdPerMonth, percent, nodes } = difference;
  if (joinersWay.podsLeft !== karpentersWay.podsLeft) {
    const more = karpentersWay.podsLeft - joinersWay.podsLeft;
    const who = more > 0 ? 'Joiner places' : 'Karpenter’s rules place';
    const count = countText(Math.abs(more), 'more', 'pod');
    return `${who} ${count}: the prices are of different pods.`;
  }
  if (joinersWay.podsPlaced === 0) return 'Neither places a pod: there is nothing to compare.';
  const left = joinersWay.podsLeft;
  const without = left === 0 ? '' : ` ${plural(left, 'pod')} that neither places cost nothing yet.`;
  const count =
    nodes === 0
      ? 'as many nodes'
      : countText(Math.abs(nodes), nodes > 0 ? 'fewer' : 'more', 'node');
  if (Math.abs(usdPerMonth) < 0.005) return `Both cost the same, with ${count}.${without}`;
  const how = usdPerMonth > 0 ? 'less' : 'more';
  const share = Math.abs(percent);
  const text = share >= 10 ? share.toFixed(0) : share.toFixed(1);
  return `Joiner: ${usd(Math.abs(usdPerMonth))} a month ${how} (${text} %), with ${count}.${without}`;
}

/** What was played, so that nobody takes it for Karpenter itself. */
export function rulesOf(isLive: boolean): readonly string[] {
  return [
    `Karpenter's rules are the documented rules of Karpenter ${KARPENTER_VERSION}: pods sorted by size, each`,
    'on the first node with room, preferences relaxed one at a time, the cheapest offering launched.',
    "In 127 of 130 cases the cost is within 0.8 % of the cost of Karpenter's own scheduler, in the",
    `other three within 3.6 % (${pageUrl('compare.md')}).`,
    ...(isLive
      ? [
          'Both results are then consolidated until no further move is found. Budgets and',
          'consolidateAfter only delay moves, so they are ignored. In 60 of 60 clusters the rules give',
          "the same result as Karpenter's own consolidation.",
        ]
      : []),
  ];
}

function firstText({ preferringWay }: Comparison): string {
  if (preferringWay === undefined) return '';
  return `; with preferences first ${(100 * preferringWay.preferencesMet).toFixed(0)} %`;
}

/** What else has to be known of the figures. */
export function remarksOn(comparison: Comparison): readonly string[] {
  const { now, karpentersWay, joinersWay } = comparison;
  const { preferencesMet } = joinersWay;
  const unpriced = now?.nodesUnpriced ?? 0;
  const spent = [
    ...(karpentersWay.isExhausted ? [] : ["Karpenter's rules"]),
    ...(joinersWay.isExhausted ? [] : ['Joiner']),
  ];
  return [
    ...(preferencesMet === undefined || preferencesMet > NEARLY_ALL
      ? []
      : [
          `Joiner meets ${(100 * preferencesMet).toFixed(0)} % of the preferences by weight: the rest ` +
            'would cost more than they are worth (settings preferenceWorthZone, preferenceWorthOther)' +
            firstText(comparison),
        ]),
    ...(unpriced > 0
      ? [`the price of ${plural(unpriced, 'node')} is unknown and not included in the sums`]
      : []),
    ...(spent.length > 0
      ? [`${spent.join(' and ')}: a greater --plans-max could find more moves`]
      : []),
  ];
}

/** The ways beside each other. */
export function comparisonTable(
  { now, karpentersWay, joinersWay, preferringWay }: Comparison,
  isLive: boolean,
  indent = '',
): string {
  const header = [...HEADER, ...(isLive ? ['EVICTIONS'] : []), 'DECIDED IN', 'INSTANCES'];
  const rows = [
    ...(now === undefined ? [] : [cells('runs now', now, isLive, '')]),
    cells("Karpenter's rules", karpentersWay, isLive, ''),
    cells('Joiner', joinersWay, isLive, secondsText(joinersWay.decideSeconds)),
    ...(preferringWay === undefined
      ? []
      : [cells('Joiner, preferences first', preferringWay, isLive, '')]),
  ];
  return table(header, rows, indent);
}

/** What cannot be undercut, where it was asked for. */
function boundLines({ bound }: Comparison): readonly string[] {
  if (bound === undefined) return [];
  const { usdPerHour, gapPercent, weaker } = bound;
  const least = `No plan costs less than ${usd(usdPerHour, 4)} an hour`;
  const gap =
    gapPercent === undefined
      ? ''
      : `: Joiner is at most ${gapPercent.toFixed(1)} % above the minimum`;
  return [`${least}${gap}.${weaker ? ' The bound counts sums of resources alone.' : ''}`];
}

/** Names of pods in one line; JSON has all. */
const PODS_NAMED_MAX = 3;

function leftLine({ why, pods }: Left): string {
  const named = pods.slice(0, PODS_NAMED_MAX).join(', ');
  const more = pods.length - PODS_NAMED_MAX;
  return `  ${named}${more > 0 ? ` and ${more} more` : ''}: ${why}`;
}

/** The pods that Joiner leaves pending, by what keeps them. */
function leftLines({ joinersWay }: Comparison): readonly string[] {
  const { left } = joinersWay;
  return left.length === 0 ? [] : ['', 'Pods that stay pending', ...left.map(leftLine)];
}

/** What is compared. */
function subjectText({ podsRunning, podsWaiting }: Comparison, subject: Subject): string {
  const { snapshot, region } = subject;
  const running = podsRunning > 0 ? [`${plural(podsRunning, 'pod')} running`] : [];
  const waiting = `${plural(podsWaiting, 'pod')} waiting`;
  const pods = [...running, `${waiting}${addedText(subject)}`].join(', ');
  return `${pods}, ${plural(snapshot.nodePools.length, 'NodePool')} in ${region}`;
}

function addedText({ added }: Subject): string {
  return added === 0 ? '' : `, ${added} of them CoreDNS`;
}

export function renderComparison(subject: Subject, comparison: Comparison): string {
  const { isLive, source, notes } = subject;
  const said = [...notes, ...remarksOn(comparison)].map((each) => `note: ${each}`);
  return [
    subjectText(comparison, subject),
    source.split(' (')[0] ?? source,
    '',
    comparisonTable(comparison, isLive),
    '',
    verdict(comparison),
    ...boundLines(comparison),
    ...leftLines(comparison),
    ...(said.length > 0 ? ['', ...said] : []),
    '',
    ...rulesOf(isLive),
    '',
  ].join('\n');
}
