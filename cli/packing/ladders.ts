import { everyOption } from '../../shared/core/launch/overrides.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { Ladder, Offer } from './packing.ts';

/** Offers shown of those that were considered. */
const OFFERS_MAX = 10;

/** What ladders are told apart by, beside the types. */
export interface Asked extends Pick<NodeClaim, 'requirements' | 'requests'> {
  readonly nodePool: string;
  /** Kept on the ladder whatever they cost. */
  readonly shown: readonly Pick<Offer, 'type' | 'zone' | 'capacityType'>[];
}

function rung(type: InstanceType, { zone, capacityType, ...each }: InstanceType['offerings'][0]) {
  return {
    type: type.name,
    zone,
    capacityType,
    listPrice: each.listPrice,
    price: each.price,
    overlay: each.priceOverlay ?? null,
    available: each.available,
  };
}

type Rung = ReturnType<typeof rung>;

/** Where the same is sold at the same price, beside the offer's own zone. */
function samePriceIn(offer: Rung, all: readonly Rung[]): readonly string[] {
  const alike = all.filter(
    ({ type, capacityType, price, available, zone }) =>
      type === offer.type &&
      capacityType === offer.capacityType &&
      price === offer.price &&
      available &&
      zone !== offer.zone,
  );
  return [...new Set(alike.map(({ zone }) => zone))].sort();
}

function zonesOf(list: readonly { readonly zone: string }[]): readonly string[] {
  return [...new Set(list.map(({ zone }) => zone))].sort();
}

function compareOffers(a: Rung, b: Rung): number {
  const [left, right] = [a, b].map((each) => `${each.type} ${each.zone} ${each.capacityType}`);
  return a.price - b.price || ((left ?? '') < (right ?? '') ? -1 : 1);
}

/** Numbers what was compared; equal ladders are one. */
export class Ladders {
  readonly list: Ladder[] = [];
  readonly #known = new Map<string, number>();
  /** By types, then by what was asked. */
  readonly #asked = new Map<object, Map<string, number>>();

  indexOf(asked: Asked, types: readonly InstanceType[]): number {
    const byAsked = this.#asked.get(types) ?? new Map<string, number>();
    this.#asked.set(types, byAsked);
    const key = JSON.stringify(asked);
    const known = byAsked.get(key);
    if (known !== undefined) return known;
    const index = this.#numbered(this.#ladder(asked, types));
    byAsked.set(key, index);
    return index;
  }

  #numbered(ladder: Ladder): number {
    const text = JSON.stringify(ladder);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    this.#known.set(text, this.list.length);
    return this.list.push(ladder) - 1;
  }

  #ladder(asked: Asked, types: readonly InstanceType[]): Ladder {
    const { nodePool, shown } = asked;
    const all = everyOption(asked, types)
      .map(({ type, offering }) => rung(type, offering))
      .sort(compareOffers);
    const isShown = (offer: Rung): boolean =>
      shown.some(
        ({ type, zone, capacityType }) =>
          offer.type === type && offer.zone === zone && offer.capacityType === capacityType,
      );
    const met = new Set<string>();
    const best = all.filter((offer) => {
      const key = `${offer.type} ${offer.capacityType} ${offer.available}`;
      const isFirst = !met.has(key);
      met.add(key);
      return isFirst || isShown(offer);
    });
    const offers = best
      .filter((offer, at) => at < OFFERS_MAX || isShown(offer))
      .map((offer): Offer => ({ ...offer, samePriceIn: samePriceIn(offer, all) }));
    const names = new Set(all.map(({ type }) => type));
    const sold = zonesOf(types.flatMap((each) => (names.has(each.name) ? each.offerings : [])));
    const zones = zonesOf(all);
    const otherZones = sold.filter((zone) => !zones.includes(zone));
    return { nodePool, offers, considered: all.length, types: names.size, zones, otherZones };
  }
}
