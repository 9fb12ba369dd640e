import {
  launchPlanOf,
  type ReadOffering,
} from '../../../shared/core/model/annotations/launch-plan.ts';
import { type Currency, currencyOf, money } from '../../../shared/core/model/currency.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  PRICE,
  PRICE_OVERLAY_APPLIED,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';

/** As all commands count a month. */
const HOURS_A_MONTH = 730;

/** What an hour of a node costs. */
export interface Price {
  readonly amount: number;
  readonly currency: Currency;
  /** `launched`: of the instance at its launch; `planned`: of the offering that the plan chose. */
  readonly basis: 'launched' | 'planned';
  readonly isOverlaid: boolean;
}

/** What the runner-up of a plan would have been. */
export type RunnerUp =
  | { readonly kind: 'offering'; readonly offering: ReadOffering; readonly difference: number }
  /** No other offering had room for the pods. */
  | { readonly kind: 'none' }
  /** An older version, or Karpenter, wrote the NodeClaim. */
  | { readonly kind: 'not-recorded' };

/** Zones begin with their region. */
function currencyOfClaim(claim: NodeClaim): Currency {
  return currencyOf(claim.labels[ZONE] ?? launchPlanOf(claim)?.zone ?? '');
}

/** The price of the claim's node; undefined: nobody has noted it. */
export function priceOf(claim: NodeClaim): Price | undefined {
  const { annotations, providerId } = claim;
  const launched = Number.parseFloat(annotations[PRICE] ?? '');
  const planned = providerId === undefined ? launchPlanOf(claim)?.price : undefined;
  const amount = Number.isNaN(launched) ? planned : launched;
  if (amount === undefined) return undefined;
  return {
    amount,
    currency: currencyOfClaim(claim),
    basis: Number.isNaN(launched) ? 'planned' : 'launched',
    isOverlaid: annotations[PRICE_OVERLAY_APPLIED] === 'true',
  };
}

/** `$0.0725/h`. */
export function hourText(amount: number, currency: Currency): string {
  return `${money(amount, currency)}/h`;
}

/** `$52.93 a month`: 730 hours. */
export function monthText(amount: number, currency: Currency): string {
  return `${money(amount * HOURS_A_MONTH, currency, 2)} a month`;
}

/** The price with what it is the price of. */
export function priceText(price: Price | undefined): string {
  if (price === undefined) return 'not known: the NodeClaim has no annotation joiner.dev/price';
  const { amount, currency, basis, isOverlaid } = price;
  const when = basis === 'launched' ? 'at its launch' : 'as planned';
  const overlaid = isOverlaid ? ', after overlays' : '';
  return `${hourText(amount, currency)}, ${monthText(amount, currency)}, ${when}${overlaid}`;
}

/** `c7g.large on-demand in us-east-1a`; `?` for what is not known. */
export function offeringText({
  type,
  capacityType,
  zone,
}: Pick<ReadOffering, 'type' | 'capacityType' | 'zone'>): string {
  return `${type ?? '?'} ${capacityType ?? '?'} in ${zone ?? '?'}`;
}

/** What EC2 launched for the claim, by its labels; before the launch, what is planned. */
export function instanceOf(claim: NodeClaim): Pick<ReadOffering, 'type' | 'capacityType' | 'zone'> {
  const { labels } = claim;
  const plan = claim.providerId === undefined ? launchPlanOf(claim) : undefined;
  return {
    type: labels[INSTANCE_TYPE] ?? plan?.type,
    capacityType: labels[CAPACITY_TYPE] ?? plan?.capacityType,
    zone: labels[ZONE] ?? plan?.zone,
  };
}

/** The runner-up of the claim's plan, and how much more an hour of it would have cost. */
export function runnerUpOf(claim: NodeClaim): RunnerUp {
  const plan = launchPlanOf(claim);
  const next = plan?.runnerUp;
  if (next === 'none') return { kind: 'none' };
  if (plan?.price === undefined || next?.price === undefined) return { kind: 'not-recorded' };
  return { kind: 'offering', offering: next, difference: next.price - plan.price };
}

/** The runner-up in words. */
export function runnerUpText(claim: NodeClaim): string {
  const runnerUp = runnerUpOf(claim);
  if (runnerUp.kind === 'none') return 'none: no other offering had room for the pods';
  if (runnerUp.kind === 'not-recorded') return 'not recorded on the NodeClaim';
  const { offering, difference } = runnerUp;
  const currency = currencyOfClaim(claim);
  const price = offering.price ?? 0;
  const chosen = price - difference;
  const percent = chosen > 0 ? ` (${((100 * difference) / chosen).toFixed(1)} %)` : '';
  const more =
    difference > 0
      ? `${money(difference, currency)} more an hour${percent}`
      : 'the same cost; the name comes later in the alphabet';
  return `${offeringText(offering)} at ${hourText(price, currency)}: ${more}`;
}

/** What the plan chose, where EC2 launched another offering; undefined: it launched that one. */
export function plannedInstead(claim: NodeClaim): string | undefined {
  const plan = launchPlanOf(claim);
  if (plan === undefined || claim.providerId === undefined) return undefined;
  const planned = offeringText(plan);
  return planned === offeringText(instanceOf(claim)) ? undefined : planned;
}
