import type { PriceChange } from '../model/model.ts';
import { effectText, rungOf } from './ladder.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { count, type Prices } from './text.ts';

/** Rows of a table on the page; what is printed as JSON has them all. */
const ROWS_MAX = 300;

/** Instance types of a family that are changed alike. */
interface Family {
  readonly name: string;
  readonly first: PriceChange;
  readonly all: readonly PriceChange[];
}

function familiesOf(changes: readonly PriceChange[]): readonly Family[] {
  const byFamily = Map.groupBy(changes, (each) =>
    JSON.stringify([
      each.type.split('.')[0],
      each.capacityType,
      effectText(each.listPrice, each.price),
      each.capacity,
    ]),
  );
  return [...byFamily.values()].flatMap((all): readonly Family[] => {
    const [first] = all;
    return first === undefined ? [] : [{ name: first.type.split('.')[0] ?? '', first, all }];
  });
}

/** `$0.0960`, or from the lowest to the highest. */
function rangeText(amounts: readonly number[], prices: Prices): string {
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  const low = prices.perHour(least);
  const high = prices.perHour(most);
  return low === high ? low : `${low} to ${high}`;
}

/** Amounts of one NodePool's tables. */
interface Columns {
  readonly prices: Prices;
  /** Where the axis ends. */
  readonly most: number;
  /** No column says nothing in every row. */
  readonly hasCapacity: boolean;
}

function capacityCell({ capacity }: PriceChange, { hasCapacity }: Columns): Markup {
  return hasCapacity ? html`<td>${capacity}</td>` : NOTHING;
}

function familyRow({ name, first, all }: Family, columns: Columns): Markup {
  const { prices, most } = columns;
  const list = all.map(({ listPrice }) => listPrice);
  const now = all.map(({ price }) => price);
  return html`<tr><th scope="row">${name}</th><td class="number">${all.length}</td><td>${first.capacityType}</td><td class="number">${rangeText(list, prices)}</td><td class="number">${effectText(first.listPrice, first.price)}</td><td class="number">${rangeText(now, prices)}</td><td class="chart">${rungOf(Math.max(...list), Math.max(...now), most)}</td>${capacityCell(first, columns)}</tr>`;
}

function typeRow(each: PriceChange, columns: Columns): Markup {
  const { prices, most } = columns;
  const { type, capacityType, listPrice, price } = each;
  return html`<tr><th scope="row">${type}</th><td>${capacityType}</td><td class="number">${prices.perHour(listPrice)}</td><td class="number">${effectText(listPrice, price)}</td><td class="number">${prices.perHour(price)}</td><td class="chart">${rungOf(listPrice, price, most)}</td>${capacityCell(each, columns)}</tr>`;
}

function scrolled(label: string, table: Markup): Markup {
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}">${table}</div>`;
}

function priceHeads({ hasCapacity }: Columns): Markup {
  const capacity = hasCapacity ? html`<th scope="col">Capacity set</th>` : NOTHING;
  return html`<th scope="col">Capacity type</th><th scope="col" class="number">List/h</th><th scope="col" class="number">Effect</th><th scope="col" class="number">Price/h</th><th scope="col" class="chart">On one axis</th>${capacity}`;
}

/** The sizes that are names, the smallest first: before all that have a number. */
const SIZES = ['nano', 'micro', 'small', 'medium', 'large', 'xlarge'];

/** `xlarge` before `2xlarge`, bare metal last. */
function sizeOf(type: string): number {
  const size = type.split('.')[1] ?? '';
  const times = /^(\d+)xlarge/.exec(size)?.[1];
  if (times !== undefined) return SIZES.length + Number(times);
  const at = SIZES.indexOf(size);
  return at >= 0 ? at : Number.MAX_SAFE_INTEGER;
}

/** By family, and in it by size. */
function bySize(a: PriceChange, b: PriceChange): number {
  const [family, other] = [a.type, b.type].map((type) => type.split('.')[0] ?? '');
  if (family !== other) return (family ?? '') < (other ?? '') ? -1 : 1;
  return sizeOf(a.type) - sizeOf(b.type) || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0);
}

function poolPart(pool: string, changes: readonly PriceChange[], prices: Prices): Markup {
  const own = changes.toSorted(bySize);
  const most = Math.max(1e-9, ...own.flatMap(({ listPrice, price }) => [listPrice, price]));
  const columns = { prices, most, hasCapacity: own.some(({ capacity }) => capacity !== '') };
  const families = familiesOf(own);
  const rows = families.slice(0, ROWS_MAX).map((each) => familyRow(each, columns));
  const types = own.slice(0, ROWS_MAX).map((each) => typeRow(each, columns));
  const more = own.length - ROWS_MAX;
  const cut =
    more > 0
      ? html`<p class="none">${count(more, 'more row')} are in what -o json prints.</p>`
      : NOTHING;
  const heads = priceHeads(columns);
  const said = html`<p class="sum">By family, the lowest price over the zones. ○ list price, ● after NodeOverlays, of the dearest type, from 0 to ${prices.perHour(most)} an hour.</p>`;
  const byFamily = html`<table class="ladder"><thead><tr><th scope="col">Family</th><th scope="col" class="number">Types</th>${heads}</tr></thead><tbody>${rows}</tbody></table>`;
  const byType = html`<table class="ladder"><thead><tr><th scope="col">Instance type</th>${heads}</tr></thead><tbody>${types}</tbody></table>`;
  return html`<h3>NodePool ${pool}</h3>${said}${scrolled(`Families of NodePool ${pool}`, byFamily)}<details class="words"><summary>Every instance type of NodePool ${pool}</summary>${scrolled(`Instance types of NodePool ${pool}`, byType)}${cut}</details>`;
}

/** Prices before and after NodeOverlays, NodePool by NodePool. */
export function priceChangeTables(changes: readonly PriceChange[], prices: Prices): Markup {
  if (changes.length === 0) {
    return html`<p class="none">No NodeOverlay changes an instance type that was asked for.</p>`;
  }
  const byPool = Map.groupBy(changes, ({ pool }) => pool);
  return html`${[...byPool].map(([pool, own]) => poolPart(pool, own, prices))}`;
}
