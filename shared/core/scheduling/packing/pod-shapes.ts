import type { PodBatch } from '../placing/assign.ts';
import type { PodClass } from '../problem/problem.ts';
import type { PodShape } from './pattern.ts';

/** Batches that fill nodes alike. */
export interface ShapePods {
  readonly shape: PodShape;
  readonly batches: readonly PodBatch[];
  /** Where the next node starts to draw, so that all batches get their turn. */
  next: number;
}

/** How a class's pods keep apart from each other on a node. */
interface Separation {
  /** Pods of the class on one node at most. */
  readonly most: number;
  /** By selector: which part of a node's room for the pods that it means one pod takes. */
  readonly shares: ReadonlyMap<number, number>;
}

function separationOf({ resolved: { host } }: PodBatch): Separation {
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

/** Pods that request the same have one. */
export function shapeTextOf({ requests }: Pick<PodClass, 'requests'>): string {
  return requests.join();
}

/** How many pods request the same, by {@link shapeTextOf}. */
export function countByShape(
  groups: readonly { readonly podClass: PodClass; readonly count: number }[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { podClass, count } of groups) {
    const text = shapeTextOf(podClass);
    counts.set(text, (counts.get(text) ?? 0) + count);
  }
  return counts;
}

/** Selectors that keep pods of several shapes apart: those with one shape are told by `most`. */
function sharedSelectors(batches: readonly PodBatch[]): readonly number[] {
  const shapes = new Map<number, Set<string>>();
  for (const batch of batches) {
    const text = shapeTextOf(batch.resolved.podClass);
    for (const selector of separationOf(batch).shares.keys()) {
      const known = shapes.get(selector) ?? new Set<string>();
      shapes.set(selector, known.add(text));
    }
  }
  return [...shapes]
    .filter(([, texts]) => texts.size > 1)
    .map(([selector]) => selector)
    .sort((a, b) => a - b);
}

function withShares(batch: PodBatch, shares: Separation['shares'], shared: readonly number[]) {
  const { requests } = batch.resolved.podClass;
  if (shared.length === 0) return requests;
  return Float64Array.from([...requests, ...shared.map((id) => shares.get(id) ?? 0)]);
}

/** Numbers sets of groups; equal sets have one number. */
export class AllowedNumbers {
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
 * Batches with equal requests and places form one shape. Where each service's pods keep apart from
 * each other only, a node may hold as many more as there are such services.
 */
export function shapePodsOf(batches: readonly PodBatch[]): readonly ShapePods[] {
  const numbers = new AllowedNumbers();
  const shared = sharedSelectors(batches);
  const drafts = new Map<
    string,
    { first: PodBatch; requests: Float64Array; batches: PodBatch[] }
  >();
  const kinds = new Map<string, Map<string, number>>();
  for (const batch of batches) {
    const { most, shares } = separationOf(batch);
    const requests = withShares(batch, shares, shared);
    const ports =
      batch.resolved.host.ports.length > 0 ? JSON.stringify(batch.resolved.host.ports) : '';
    const isBound = shared.some((id) => shares.has(id)) || ports !== '';
    const perNode = isBound ? most : most < Number.POSITIVE_INFINITY;
    const text = [requests.join(), numbers.of(batch.allowed), perNode, ports].join('|');
    const known = drafts.get(text);
    if (known !== undefined) known.batches.push(batch);
    else drafts.set(text, { first: batch, requests, batches: [batch] });
    const kind = isBound ? '' : [...shares.keys()].join();
    const mosts = kinds.get(text) ?? new Map<string, number>();
    kinds.set(text, mosts.set(kind, Math.max(most, mosts.get(kind) ?? 0)));
  }
  return [...drafts].map(([text, { first, requests, batches: own }], id) => {
    const perNode = [...(kinds.get(text)?.values() ?? [])].reduce((sum, each) => sum + each, 0);
    return { shape: { id, requests, allowed: first.allowed, perNode }, batches: own, next: 0 };
  });
}
