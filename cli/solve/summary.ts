import { currencyOf, money } from '../../shared/core/model/currency.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import type { Bound } from '../bound/bound.ts';
import { counted } from '../words.ts';

/** What a summary is about: nothing in it depends on what the plan cost to find. */
export interface Summarised {
  readonly plan: Pick<
    Plan,
    'newNodeClaims' | 'existing' | 'unplaced' | 'pricePerHour' | 'listPricePerHour'
  >;
  /** Undefined: none was asked for. */
  readonly bound: Bound | undefined;
  readonly overlays: readonly { readonly ready: boolean }[];
  readonly isStrict: boolean;
}

type Price = (amount: number) => string;

/** Cases have no region: what they are billed in follows from a zone. */
function priceIn({ newNodeClaims }: Summarised['plan']): Price {
  const currency = currencyOf(newNodeClaims[0]?.chosen.zone ?? '');
  return (amount) => `${money(amount, currency)}/h`;
}

/** List prices are what AWS bills; those after overlays are what the bound is compared with. */
function costText({ pricePerHour, listPricePerHour }: Summarised['plan'], price: Price): string {
  const [list, own] = [price(listPricePerHour), price(pricePerHour)];
  return list === own ? list : `${list} (${own} after overlays)`;
}

function boundText({ pricePerHour, gapPercent, weaker }: Bound, price: Price): string {
  const gap = gapPercent === undefined ? '' : `${gapPercent.toFixed(1)} % above `;
  const how = weaker ? ' (of sums of resources alone)' : '';
  return `${gap}the lower bound${gap === '' ? ' is' : ''} ${price(pricePerHour)}${how}`;
}

/** What `--strict` counts as an error; empty: nothing. */
export function undone({
  plan,
  overlays,
}: Pick<Summarised, 'plan' | 'overlays'>): readonly string[] {
  const left = plan.unplaced.size;
  const unready = overlays.filter(({ ready }) => !ready).length;
  return [
    ...(left === 0 ? [] : [`${counted(left, 'pod')} left unplaced`]),
    ...(unready === 0 ? [] : [`${counted(unready, 'NodeOverlay')} not ready`]),
  ];
}

/** A plan in a line for people, and in a second one what it leaves undone. */
export function summaryText(subject: Summarised): string {
  const { plan, bound, isStrict } = subject;
  const { newNodeClaims, existing, unplaced } = plan;
  const price = priceIn(plan);
  const placed = [...newNodeClaims, ...existing].reduce((sum, { pods }) => sum + pods.length, 0);
  const all = counted(placed + unplaced.size, 'pod');
  const parts = [
    counted(newNodeClaims.length, 'new node'),
    costText(plan, price),
    `${placed.toLocaleString('en')} of ${all} placed`,
    ...(bound === undefined ? [] : [boundText(bound, price)]),
  ];
  const faults = undone(subject).join(', ');
  const exit = isStrict ? 'exit code 1 (--strict)' : '--strict makes this exit code 1';
  return `${parts.join(', ')}\n${faults === '' ? '' : `${faults}: ${exit}\n`}`;
}
