import * as z from 'zod';
import {
  type FailedLaunch,
  type FailedLaunches,
  withFailedLaunch,
  withLaunchWay,
} from '../../core/launch/halted-pools.ts';
import type { DocumentKind } from './document.ts';

/** By NodePool; a pool whose last launch registered is absent. */
export type Registrations = ReadonlyMap<string, FailedLaunches>;

export function withRegistration(
  before: Registrations,
  nodePool: string,
  failed: FailedLaunch | undefined,
  nowMs: number,
): Registrations {
  const known = before.get(nodePool);
  if (failed === undefined && known === undefined) return before;
  const others = [...before].filter(([name]) => name !== nodePool);
  if (failed === undefined) return new Map(others);
  return new Map([...others, [nodePool, withFailedLaunch(known, failed, nowMs)]]);
}

export function withWay(
  before: Registrations,
  nodePool: string,
  way: string,
  nowMs: number,
): Registrations {
  const known = before.get(nodePool);
  if (known === undefined || known.way === way) return before;
  return new Map([...before, [nodePool, withLaunchWay(known, way, nowMs)]]);
}

const failed = z.object({
  count: z.int().min(1),
  lastAtMs: z.number(),
  // Older versions did not know it.
  tried: z.record(z.string(), z.number()).default({}),
  way: z.string().optional(),
  changedAtMs: z.number().optional(),
  cause: z.string().optional(),
});

const document = z.object({ version: z.literal(1), pools: z.record(z.string(), failed) });

function decoded({ tried, ...failed }: z.infer<typeof document>['pools'][string]): FailedLaunches {
  const entries = Object.entries(tried);
  return entries.length === 0 ? failed : { ...failed, tried: new Map(entries) };
}

function encoded({ tried, ...failed }: FailedLaunches): object {
  return tried === undefined ? failed : { ...failed, tried: Object.fromEntries(tried) };
}

export const REGISTRATIONS: DocumentKind<Registrations> = {
  empty: new Map(),
  decode: (json) => {
    const { success, data } = document.safeParse(json);
    if (!success) return undefined;
    const pools = Object.entries(data.pools);
    return { state: new Map(pools.map(([name, each]) => [name, decoded(each)])), rejected: 0 };
  },
  encode: (state) => ({
    version: 1,
    pools: Object.fromEntries([...state].map(([name, each]) => [name, encoded(each)])),
  }),
};
