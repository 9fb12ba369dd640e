import * as z from 'zod';
import type { InstanceType, Offering, Overhead } from '../../core/model/instance-type.ts';
import { normalizeLabelKey } from '../../core/model/labels.ts';
import type { Resources } from '../../core/model/resources.ts';
import { resourceList, resourcesOf } from '../schema/parts.ts';

const overhead = z.strictObject({
  kubeReserved: resourceList.optional(),
  systemReserved: resourceList.optional(),
  evictionThreshold: resourceList.optional(),
});

const offering = z.strictObject({
  zone: z.string().min(1),
  zoneId: z.string().optional(),
  capacityType: z.enum(['on-demand', 'spot', 'reserved']),
  /** USD an hour. */
  price: z.number().nonnegative({ message: 'must be a price of at least 0' }),
  available: z.boolean().optional(),
  reservationId: z.string().optional(),
  reservationType: z.enum(['default', 'capacity-block']).optional(),
  reservationCapacity: z.int().min(0).optional(),
  capacityOverride: resourceList.optional(),
  overheadOverride: overhead.optional(),
});

export const instanceType = z.strictObject({
  name: z.string().min(1),
  capacity: resourceList,
  overhead: overhead.optional(),
  /** Null or empty: a node of the type never has the label. */
  requirements: z.record(z.string(), z.array(z.string()).nullable()).optional(),
  offerings: z.array(offering),
  nodePools: z.array(z.string()).optional(),
});

type RawInstanceType = z.output<typeof instanceType>;
type RawOffering = z.output<typeof offering>;

function overheadOf(raw: z.output<typeof overhead> = {}): Overhead {
  return {
    kubeReserved: resourcesOf(raw.kubeReserved, 'up'),
    systemReserved: resourcesOf(raw.systemReserved, 'up'),
    evictionThreshold: resourcesOf(raw.evictionThreshold, 'up'),
  };
}

function offeringOf(raw: RawOffering): Offering {
  const { zone, zoneId, capacityType, price, reservationId, overheadOverride } = raw;
  return {
    zone,
    zoneId,
    capacityType,
    price,
    listPrice: price,
    priceOverlay: undefined,
    available: raw.available ?? true,
    reservation:
      reservationId === undefined
        ? undefined
        : {
            id: reservationId,
            type: raw.reservationType ?? 'default',
            capacity: raw.reservationCapacity ?? 0,
          },
    capacityOverride:
      raw.capacityOverride === undefined ? undefined : capacityOf(raw.capacityOverride),
    overheadOverride: overheadOverride === undefined ? undefined : overheadOf(overheadOverride),
  };
}

function capacityOf(list: Readonly<Record<string, string | number>>): Resources {
  return resourcesOf(list, 'down');
}

function instanceTypeOf(raw: RawInstanceType): InstanceType {
  const labels = Object.entries(raw.requirements ?? {}).map(
    ([key, values]) =>
      [normalizeLabelKey(key), values === null || values.length === 0 ? null : values] as const,
  );
  return {
    name: raw.name,
    labels: Object.fromEntries(labels),
    capacity: capacityOf(raw.capacity),
    overhead: overheadOf(raw.overhead),
    offerings: raw.offerings.map(offeringOf),
    capacityOverlays: [],
    attachLimits: undefined,
  };
}

/** The types of each NodePool; pools that may use the same types share one list. */
export function typesByPool(
  raw: readonly RawInstanceType[],
  pools: readonly string[],
): ReadonlyMap<string, readonly InstanceType[]> {
  const types = raw.map((each) => ({ pools: each.nodePools, type: instanceTypeOf(each) }));
  const lists = new Map<string, readonly InstanceType[]>();
  return new Map(
    pools.map((pool) => {
      const usable = types.filter((each) => each.pools?.includes(pool) ?? true);
      const text = usable.map(({ type }) => type.name).join('\n');
      const list = lists.get(text) ?? usable.map(({ type }) => type);
      lists.set(text, list);
      return [pool, list] as const;
    }),
  );
}
