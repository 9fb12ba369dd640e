import * as z from 'zod';
import type { DocumentKind } from './document.ts';

export interface Failures {
  /** Launches in a row that did not register. */
  readonly count: number;
  readonly lastAtMs: number;
}

/** By NodePool; a pool whose last launch registered is absent. */
export type Registrations = ReadonlyMap<string, Failures>;

export function withRegistration(
  before: Registrations,
  nodePool: string,
  registered: boolean,
  nowMs: number,
): Registrations {
  const known = before.get(nodePool);
  if (registered && known === undefined) return before;
  const others = [...before].filter(([name]) => name !== nodePool);
  if (registered) return new Map(others);
  return new Map([...others, [nodePool, { count: (known?.count ?? 0) + 1, lastAtMs: nowMs }]]);
}

const document = z.object({
  version: z.literal(1),
  pools: z.record(z.string(), z.object({ count: z.int().min(1), lastAtMs: z.number() })),
});

export const REGISTRATIONS: DocumentKind<Registrations> = {
  empty: new Map(),
  decode: (json) => {
    const { success, data } = document.safeParse(json);
    return success ? { state: new Map(Object.entries(data.pools)), rejected: 0 } : undefined;
  },
  encode: (state) => ({ version: 1, pools: Object.fromEntries(state) }),
};
