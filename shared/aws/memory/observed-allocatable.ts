import * as z from 'zod';
import { type DocumentKind, readEntries } from './document.ts';

/** Memory that pods may use on a node of this type and image, as one reported it. */
export interface LearntAllocatable {
  readonly instanceType: string;
  /** With a mark of the user data that the image was started with, if it was. */
  readonly imageId: string;
  readonly memoryBytes: number;
  readonly atMs: number;
}

/** By type and image. */
export type Learnt = ReadonlyMap<string, LearntAllocatable>;

/** As long as Karpenter keeps it. */
const KEPT_MS = 60 * 24 * 3_600_000;
const ENTRIES_MAX = 5_000;
/** A value further than this share from the computed one is not believed. */
const BELIEVED = 0.2;

export function learntKey(instanceType: string, imageId: string): string {
  return `${instanceType}/${imageId}`;
}

/** The lowest value seen is kept: a plan must hold on every such node. */
export function withLearnt(before: Learnt, learnt: LearntAllocatable): Learnt {
  const key = learntKey(learnt.instanceType, learnt.imageId);
  const known = before.get(key);
  if (known !== undefined && known.memoryBytes <= learnt.memoryBytes) return before;
  const kept = [...before].filter(([, { atMs }]) => learnt.atMs < atMs + KEPT_MS);
  const newest = kept.sort(([, a], [, b]) => b.atMs - a.atMs).slice(0, ENTRIES_MAX - 1);
  return new Map([...newest, [key, learnt]]);
}

/** What all writers know together: the lowest value of each. */
export function mergedLearnt(states: readonly Learnt[]): Learnt {
  const merged = new Map<string, LearntAllocatable>();
  for (const [key, each] of states.flatMap((state) => [...state])) {
    const known = merged.get(key);
    if (known === undefined || each.memoryBytes < known.memoryBytes) merged.set(key, each);
  }
  return merged;
}

/** The learnt value within ±20 % of the computed one, else the computed one. Bytes. */
export function believedBytes(learntBytes: number | undefined, computedBytes: number): number {
  if (learntBytes === undefined) return computedBytes;
  const isBelieved = Math.abs(learntBytes - computedBytes) <= BELIEVED * computedBytes;
  return isBelieved ? learntBytes : computedBytes;
}

const document = z.object({
  version: z.literal(1),
  learnt: z.array(z.unknown()).max(ENTRIES_MAX),
});

const entry = z.object({
  instanceType: z.string().regex(/^[a-z0-9-]+\.[a-z0-9-]+$/),
  imageId: z.string().regex(/^ami-[0-9a-f]+(\/[0-9a-f]{12})?$/),
  memoryBytes: z.number().positive(),
  atMs: z.number(),
});

export const LEARNT: DocumentKind<Learnt> = {
  empty: new Map(),
  decode: (json, nowMs) => {
    const { success, data } = document.safeParse(json);
    if (!success) return undefined;
    const { entries, rejected } = readEntries(data.learnt, entry);
    const recent = entries.filter(({ atMs }) => nowMs < atMs + KEPT_MS);
    return {
      state: new Map(recent.map((each) => [learntKey(each.instanceType, each.imageId), each])),
      rejected,
    };
  },
  encode: (state) => ({ version: 1, learnt: [...state.values()] }),
};
