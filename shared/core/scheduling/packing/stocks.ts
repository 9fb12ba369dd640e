import type { Item } from '../placing/assign.ts';
import type { Bucket } from './fill.ts';

/** Items that fill nodes alike. */
export interface Stock {
  readonly bucket: Bucket;
  readonly items: readonly Item[];
  /** Where the next node starts to draw, so that all items get their turn. */
  next: number;
}

/** How a class's pods keep apart from each other on a node. */
interface Apartness {
  /** Pods of the class on one node at most. */
  readonly most: number;
  /** By selector: which part of a node's room for the pods that it means one pod takes. */
  readonly shares: ReadonlyMap<number, number>;
}

function apartnessOf({ view: { host } }: Item): Apartness {
  const shares = new Map<number, number>();
  if (host.isFree) return { most: Number.POSITIVE_INFINITY, shares };
  for (const id of host.avoids) if (host.counted.includes(id)) shares.set(id, 1);
  for (const { selector, most } of host.spreads) {
    if (!host.counted.includes(selector)) continue;
    shares.set(selector, Math.max(1 / (most + 1), shares.get(selector) ?? 0));
  }
  const least = Math.max(0, ...shares.values());
  if (host.ports.length > 0) return { most: 1, shares };
  return { most: least === 0 ? Number.POSITIVE_INFINITY : Math.round(1 / least), shares };
}

/** Selectors that keep pods of several shapes apart: those with one shape are told by `most`. */
function sharedSelectors(items: readonly Item[]): readonly number[] {
  const shapes = new Map<number, Set<string>>();
  for (const item of items) {
    const text = item.view.podClass.requests.join();
    for (const selector of apartnessOf(item).shares.keys()) {
      const known = shapes.get(selector) ?? new Set<string>();
      shapes.set(selector, known.add(text));
    }
  }
  return [...shapes]
    .filter(([, texts]) => texts.size > 1)
    .map(([selector]) => selector)
    .sort((a, b) => a - b);
}

function withShares(item: Item, shares: Apartness['shares'], shared: readonly number[]) {
  const { requests } = item.view.podClass;
  if (shared.length === 0) return requests;
  return Float64Array.from([...requests, ...shared.map((id) => shares.get(id) ?? 0)]);
}

/** Numbers sets of groups; equal sets have one number. */
class AllowedNumbers {
  private readonly ofArray = new Map<Uint8Array, number>();
  private readonly ofText = new Map<string, number>();

  of(allowed: Uint8Array): number {
    const known = this.ofArray.get(allowed);
    if (known !== undefined) return known;
    const text = allowed.join('');
    const number = this.ofText.get(text) ?? this.ofText.size;
    this.ofText.set(text, number);
    this.ofArray.set(allowed, number);
    return number;
  }
}

/**
 * Items with equal requests and places form one stock. Where each service's pods keep apart from
 * each other only, a node may hold as many more as there are such services.
 */
export function stocksOf(items: readonly Item[]): readonly Stock[] {
  const numbers = new AllowedNumbers();
  const shared = sharedSelectors(items);
  const drafts = new Map<string, { first: Item; requests: Float64Array; items: Item[] }>();
  const kinds = new Map<string, Map<string, number>>();
  for (const item of items) {
    const { most, shares } = apartnessOf(item);
    const requests = withShares(item, shares, shared);
    const ports = item.view.host.ports.length > 0 ? JSON.stringify(item.view.host.ports) : '';
    const isBound = shared.some((id) => shares.has(id)) || ports !== '';
    const text = `${requests.join()}|${numbers.of(item.allowed)}|${isBound ? most : most < Number.POSITIVE_INFINITY}|${ports}`;
    const known = drafts.get(text);
    if (known !== undefined) known.items.push(item);
    else drafts.set(text, { first: item, requests, items: [item] });
    const kind = isBound ? '' : [...shares.keys()].join();
    const mosts = kinds.get(text) ?? new Map<string, number>();
    kinds.set(text, mosts.set(kind, Math.max(most, mosts.get(kind) ?? 0)));
  }
  return [...drafts].map(([text, { first, requests, items: own }], id) => {
    const perNode = [...(kinds.get(text)?.values() ?? [])].reduce((sum, each) => sum + each, 0);
    return { bucket: { id, requests, allowed: first.allowed, perNode }, items: own, next: 0 };
  });
}
