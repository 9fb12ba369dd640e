import { boundText, runnerUpKind } from '../model/facts.ts';
import type { Ladder, NodeModel, Scene } from '../model/model.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { count, namesText, type Prices } from './text.ts';

type Offer = Ladder['offers'][number];

/** Ladders that are on the page; every node's own is in its details. */
const LADDERS_MAX = 12;

function isOffer(offer: Offer, other: Pick<Offer, 'type' | 'zone' | 'capacityType'>): boolean {
  const { type, zone, capacityType } = other;
  return offer.type === type && offer.zone === zone && offer.capacityType === capacityType;
}

/** What overlays make of a list price: `+50 %`. */
export function effectText(listPrice: number, price: number): string {
  if (listPrice === 0) return '';
  const change = Math.round((price / listPrice - 1) * 1000) / 10;
  return `${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change)} %`;
}

function effect({ listPrice, price, overlay }: Offer): string {
  if (overlay === null && listPrice === price) return '';
  return listPrice === 0 ? (overlay ?? '') : effectText(listPrice, price);
}

/** From the list price to the price after overlays, on one axis for all offers. */
export function rungOf(listPrice: number, price: number, most: number): Markup {
  const at = (each: number): number => Math.round((each / most) * 9600) / 100 + 1;
  const moved =
    listPrice === price
      ? NOTHING
      : html`<line class="moved" x1="${at(listPrice)}%" x2="${at(price)}%" y1="8" y2="8"/><circle class="list" cx="${at(listPrice)}%" cy="8" r="4"/>`;
  return html`<svg class="rung" width="100%" height="16" aria-hidden="true"><line class="axis" x1="0" x2="100%" y1="8" y2="8"/>${moved}<circle class="adjusted" cx="${at(price)}%" cy="8" r="4.5"/></svg>`;
}

function kindText(offer: Offer, node: NodeModel): string {
  if (isOffer(offer, node)) return 'chosen';
  if (node.runnerUp !== null && isOffer(offer, node.runnerUp)) {
    return `runner-up, ${runnerUpKind(node, node.runnerUp)}: ${node.runnerUp.why}`;
  }
  return offer.available ? '' : 'unavailable: insufficient capacity';
}

function noteText(offer: Offer, node: NodeModel): string {
  const { samePriceIn } = offer;
  const also = samePriceIn.length === 0 ? '' : `same price in ${samePriceIn.join(', ')}`;
  return [kindText(offer, node), also].filter((each) => each !== '').join('; ');
}

/** What the rows of one ladder have in common. */
interface Columns {
  readonly prices: Prices;
  /** Highest price of all, where the axis ends. */
  readonly most: number;
  /** No column says nothing in every row. */
  readonly hasEffects: boolean;
  /** For the panel: where and what it is stands under the type. */
  readonly isNarrow: boolean;
}

/** A note of more than this many letters breaks, and keeps some width. */
const NOTE_SHORT = 24;

function pricesOf(offer: Offer, { prices, hasEffects, isNarrow }: Columns): Markup {
  if (!hasEffects) return html`<td class="number">${prices.perHour(offer.price)}</td>`;
  const overlay = isNarrow ? NOTHING : html`<td>${offer.overlay ?? ''}</td>`;
  return html`<td class="number">${prices.perHour(offer.listPrice)}</td><td class="number">${effect(offer)}</td>${overlay}<td class="number">${prices.perHour(offer.price)}</td>`;
}

function offerRow(offer: Offer, node: NodeModel, columns: Columns): Markup {
  const { most, isNarrow } = columns;
  const { type, capacityType, zone, available, overlay } = offer;
  const said = noteText(offer, node);
  const kind = /^(chosen|runner)/.exec(said)?.[0] ?? '';
  const mark = kind === 'chosen' ? '★ ' : kind === 'runner' ? '☆ ' : '';
  const row = `${kind}${available ? '' : ' barred'}`;
  const cells = pricesOf(offer, columns);
  if (isNarrow) {
    const notes = [said, overlay === null ? '' : `overlay ${overlay}`].filter(Boolean);
    const note =
      notes.length === 0 ? NOTHING : html`<small class="under">${notes.join('; ')}</small>`;
    return html`<tr class="${row}"><th scope="row">${mark}${type}<small class="under">${capacityType} · ${zone}</small>${note}</th>${cells}</tr>`;
  }
  const note = html`<td class="note${said.length > NOTE_SHORT ? ' long' : ''}">${said}</td>`;
  return html`<tr class="${row}"><th scope="row">${mark}${type}</th><td>${capacityType}</td><td>${zone}</td>${cells}<td class="chart">${rungOf(offer.listPrice, offer.price, most)}</td>${note}</tr>`;
}

function captionText(ladder: Ladder): string {
  const { offers, considered, types } = ladder;
  const all = `${count(considered, 'offering')} of the ${count(types, 'instance type')} that the NodeClaim lists`;
  const shown =
    offers.length < considered
      ? `${offers.length} of ${all}: the cheapest of each type and capacity type; unavailable ones have rows of their own.`
      : `The ${all}.`;
  const bound = boundText(ladder);
  return bound === '' ? shown : `${shown} Zones: ${bound}.`;
}

function priceHeads({ hasEffects, isNarrow }: Columns): Markup {
  const price = html`<th scope="col" class="number">Price/h</th>`;
  if (!hasEffects) return price;
  const overlay = isNarrow ? NOTHING : html`<th scope="col">Overlay</th>`;
  return html`<th scope="col" class="number">List/h</th><th scope="col" class="number">Effect</th>${overlay}${price}`;
}

/**
 * The offerings that were compared for a node, cheapest first. What is said of them stands before
 * the box that scrolls sideways.
 */
export function ladderTable(
  ladder: Ladder,
  node: NodeModel,
  prices: Prices,
  title: string,
  isNarrow = false,
): Markup {
  const { offers } = ladder;
  const most = Math.max(1e-9, ...offers.flatMap(({ listPrice, price }) => [listPrice, price]));
  const hasEffects = offers.some((offer) => effect(offer) !== '' || offer.overlay !== null);
  const columns = { prices, most, hasEffects, isNarrow };
  const rows = offers.map((offer) => offerRow(offer, node, columns));
  const heads = isNarrow
    ? html`<th scope="col">Offering</th>${priceHeads(columns)}`
    : html`<th scope="col">Instance type</th><th scope="col">Capacity</th><th scope="col">Zone</th>${priceHeads(columns)}<th scope="col" class="chart">On one axis</th><th scope="col">Note</th>`;
  const dots = hasEffects ? '○ list price, ● after overlays' : '● price';
  const axis = isNarrow ? '' : ` ${dots}, from 0 to ${prices.perHour(most)} an hour.`;
  return html`<p class="sum">${captionText(ladder)}${axis}</p><div class="scroll" role="region" tabindex="0" aria-label="${title}"><table class="ladder"><thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** Nodes that were bought as one kind from the same offerings; those that have gone are of them. */
function boughtAlike(scene: Scene): readonly (readonly [NodeModel, ...NodeModel[]])[] {
  const nodes = scene.nodes.filter(({ ladder }) => ladder !== null);
  const alike = Map.groupBy(nodes, ({ pool, type, capacityType, ladder }) =>
    JSON.stringify([pool, type, capacityType, ladder]),
  );
  return [...alike.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  );
}

/** A ladder for each kind of node that was bought, the kind that costs most first. */
export function ladders(scene: Scene, prices: Prices): Markup {
  const costOf = (nodes: readonly NodeModel[]) => nodes.length * (nodes[0]?.listPrice ?? 0);
  const bought = boughtAlike(scene).toSorted((a, b) => costOf(b) - costOf(a));
  if (bought.length === 0) return html`<p class="none">No node is bought here.</p>`;
  const parts = bought.slice(0, LADDERS_MAX).flatMap((nodes, at) => {
    const [first] = nodes;
    const ladder = scene.ladders[first.ladder ?? -1];
    if (ladder === undefined) return [];
    const summary = `${count(nodes.length, 'node')} ${first.type} ${first.capacityType} of NodePool ${first.pool}: ${namesText(nodes.map(({ name, life }) => (life?.gone == null ? name : `${name} (gone)`)))}`;
    return [
      html`<details${at === 0 ? html` open` : NOTHING}><summary>${summary}</summary>${ladderTable(ladder, first, prices, `Offerings for ${summary}`)}</details>`,
    ];
  });
  const more = bought.length - LADDERS_MAX;
  const rest =
    more > 0
      ? html`<p class="none">${more} more kinds of nodes: choose one in the picture to see its ladder.</p>`
      : NOTHING;
  return html`${parts}${rest}`;
}
