import { type Currency, money } from '../../shared/core/model/currency.ts';
import { timeText } from '../decisions/render.ts';
import { table } from '../simulate/table.ts';
import type { Ledger } from './ledger.ts';
import { MOVE_OUTCOMES, type MoveOutcome } from './ledger-records.ts';

/** Entries that are shown; the document has all. */
const SHOWN_MAX = 10;

/** Lines whose columns are aligned; the first one is the head. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const [head = [], ...rest] = rows;
  return table(head, rest).split('\n');
}

/** An amount to the cent, in the currency of the region. */
export function amountText(amount: number, currency: Currency): string {
  const rounded = Math.abs(amount) < 0.005 ? 0 : amount;
  return rounded < 0 ? `-${money(-rounded, currency, 2)}` : money(rounded, currency, 2);
}

function launchLines({ launches, currency }: Ledger): readonly string[] {
  const compared = launches.filter(({ savedUsd }) => savedUsd !== undefined);
  const order = compared.toSorted(
    (a, b) => Math.abs(b.savedUsd ?? 0) - Math.abs(a.savedUsd ?? 0) || a.atMs - b.atMs,
  );
  if (order.length === 0) return [];
  const rows = order
    .slice(0, SHOWN_MAX)
    .map((each) => [
      timeText(each.atMs),
      each.claims[0] ?? '',
      String(each.nodes),
      money(each.usdPerHour, currency, 4),
      String(each.firstFitNodes),
      money(each.firstFitUsdPerHour, currency, 4),
      each.hours.toFixed(1),
      amountText(each.savedUsd ?? 0, currency),
    ]);
  const head = ['AT', 'FIRST CLAIM', 'NODES', '$/H', 'FF NODES', 'FF $/H', 'HOURS', 'SAVED'];
  const more = order.length > SHOWN_MAX ? [`and ${order.length - SHOWN_MAX} more`] : [];
  return ['', 'Launches with the largest difference:', ...aligned([head, ...rows]), ...more];
}

function moveLines({ moves, currency }: Ledger): readonly string[] {
  if (moves.length === 0) return [];
  const count = (outcome: MoveOutcome): number =>
    moves.filter((each) => each.outcome === outcome).length;
  const counts = MOVE_OUTCOMES.filter((each) => count(each) > 0);
  const order = moves.toSorted((a, b) => b.savedUsd - a.savedUsd || a.atMs - b.atMs);
  const rows = order
    .slice(0, SHOWN_MAX)
    .map((each) => [
      timeText(each.atMs),
      each.claims.join(','),
      String(each.evictions),
      money(each.beforeUsdPerHour, currency, 4),
      money(each.afterUsdPerHour, currency, 4),
      each.outcome,
      amountText(each.savedUsd, currency),
    ]);
  const head = ['AT', 'NODECLAIMS', 'PODS MOVED', 'BEFORE $/H', 'AFTER $/H', 'OUTCOME', 'SAVED'];
  const more = order.length > SHOWN_MAX ? [`and ${order.length - SHOWN_MAX} more`] : [];
  return [
    '',
    `Consolidation: ${counts.map((each) => `${count(each)} ${each}`).join(', ')}`,
    ...aligned([head, ...rows]),
    ...more,
  ];
}

function endLines({ interruptions, ends }: Ledger): readonly string[] {
  const interrupted = interruptions.map(
    ({ nodePool, kind, nodes, hours }) =>
      `  ${nodes} in NodePool ${nodePool}: ${kind}, after ${hours.toFixed(1)} node hours`,
  );
  const others = ends.map(({ useCase, reason, nodes }) => `  ${nodes}: ${reason} (${useCase})`);
  return [
    ...(interrupted.length > 0 ? ['', 'Nodes that were interrupted:', ...interrupted] : []),
    ...(others.length > 0 ? ['', 'Nodes that were deleted:', ...others] : []),
  ];
}

/** How each figure is made; the document has the same. */
export const METHOD = [
  "launches: each recorded plan against the plan of Karpenter's documented first-fit rules for the same pods on the same snapshot, list prices, times the hours that the plan's nodes ran in this time (mean, weighted by price); also of nodes that were launched before it",
  'launches whose two plans place different numbers of pods are not counted',
  'consolidation: list price of the removed nodes less that of their replacements, from the termination of the last old node until the horizon of the move (consolidationHorizon, the horizon of its NodePool, or less where pods soon wanted the room again), less the price of the replacements until that termination; only moves that were decided in this time and carried out',
  'replacements: nodes that came in place of those that consolidation removed, at the list price of the plan, for all hours that they ran in this time, also after the horizon; also of moves before it',
  'cost of all nodes: of all recorded launches, compared or not, and of the replacements; nodes that a note names are not in it',
  'interruptions and other deletions: counted from the records; no saving is claimed for them',
] as const;

/** The ledger as people read it. */
export function ledgerText(ledger: Ledger): string {
  const { span, totals, launches, currency } = ledger;
  const skipped = launches.filter(({ savedUsd }) => savedUsd === undefined).length;
  const lines = [
    `From ${timeText(span.fromMs)} to ${timeText(span.toMs)}`,
    '',
    ...aligned([
      ['Saved', amountText(totals.savedUsd, currency)],
      ['  by launches', amountText(totals.launchesSavedUsd, currency)],
      ['  by consolidation', amountText(totals.movesSavedUsd, currency)],
      ['Nodes that ran', String(totals.nodesRan)],
      ['  launched in this time', String(totals.nodesLaunched)],
      ['  compared', String(totals.nodesCompared)],
      ['    their cost', amountText(totals.usd, currency)],
      ['    first fit', amountText(totals.firstFitUsd, currency)],
      ['  replacements', String(totals.nodesReplacing)],
      ['    their cost', amountText(totals.replacementsUsd, currency)],
      ['Cost of all nodes', amountText(totals.costUsd, currency)],
      ['Pods moved', String(totals.evictions)],
    ]),
    ...(skipped > 0 ? [`${skipped} of ${launches.length} recorded launches not compared`] : []),
    ...ledger.notes.map((each) => `note: ${each}`),
    ...launchLines(ledger),
    ...moveLines(ledger),
    ...endLines(ledger),
    '',
    'How the figures are made:',
    ...METHOD.map((each) => `- ${each}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
