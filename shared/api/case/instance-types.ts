import type { InstanceType, Offering, Overhead } from '../../core/model/instance-type.ts';
import { normalizeLabelKey, REGION } from '../../core/model/labels.ts';
import { NO_RESOURCES, type Resources } from '../../core/model/resources.ts';
import { type Fields, type Reader, show } from '../read.ts';

/*
 * Read by hand, in one pass: the 800 types of a region have 50,000 values, and a cold process
 * spends three times as long on them when a schema looks at them first.
 */

const OVERHEAD = ['kubeReserved', 'systemReserved', 'evictionThreshold'] as const;
const CAPACITY_TYPES = ['on-demand', 'spot', 'reserved'] as const;
const RESERVATION_TYPES = ['default', 'capacity-block'] as const;

const OFFERING: ReadonlySet<string> = new Set([
  'zone',
  'zoneId',
  'capacityType',
  'price',
  'available',
  'reservationId',
  'reservationType',
  'reservationCapacity',
  'capacityOverride',
  'overheadOverride',
]);

const TYPE: ReadonlySet<string> = new Set([
  'name',
  'capacity',
  'overhead',
  'requirements',
  'offerings',
  'nodePools',
]);

/** An instance type, and the only NodePools that may use it; undefined = all. */
export interface ListedType {
  readonly type: InstanceType;
  readonly nodePools: readonly string[] | undefined;
}

function noteUnknown(read: Reader, fields: Fields, known: ReadonlySet<string>, path: string): void {
  for (const key of Object.keys(fields)) {
    if (known.has(key)) continue;
    read.noteUnknownField(path, key, [...known]);
  }
}

const NO_OVERHEAD: Overhead = {
  kubeReserved: NO_RESOURCES,
  systemReserved: NO_RESOURCES,
  evictionThreshold: NO_RESOURCES,
};

function readOverhead(read: Reader, value: unknown, path: string): Overhead {
  if (value === undefined) return NO_OVERHEAD;
  const fields = read.fields(value, path);
  noteUnknown(read, fields, new Set(OVERHEAD), path);
  return {
    kubeReserved: read.resources(fields['kubeReserved'], `${path}.kubeReserved`, 'up'),
    systemReserved: read.resources(fields['systemReserved'], `${path}.systemReserved`, 'up'),
    evictionThreshold: read.resources(
      fields['evictionThreshold'],
      `${path}.evictionThreshold`,
      'up',
    ),
  };
}

/** USD an hour. */
function readPrice(read: Reader, value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  if (value === undefined) read.note(path, 'is required');
  else read.note(path, `must be a number of at least 0, not ${show(value)}`);
  return 0;
}

function readReservation(read: Reader, fields: Fields, path: string): Offering['reservation'] {
  const id = read.text(fields['reservationId'], `${path}.reservationId`);
  const type = read.oneOf(fields['reservationType'], `${path}.reservationType`, RESERVATION_TYPES);
  const at = `${path}.reservationCapacity`;
  const capacity = read.integer(fields['reservationCapacity'], at, { least: 0 });
  return id === undefined ? undefined : { id, type: type ?? 'default', capacity: capacity ?? 0 };
}

function readOffering(read: Reader, value: unknown, path: string): Offering {
  const fields = read.fields(value, path);
  noteUnknown(read, fields, OFFERING, path);
  const price = readPrice(read, fields['price'], `${path}.price`);
  const typeAt = `${path}.capacityType`;
  const capacityType = read.oneOf(fields['capacityType'], typeAt, CAPACITY_TYPES);
  if (fields['capacityType'] === undefined) read.note(typeAt, 'is required');
  const { capacityOverride, overheadOverride } = fields;
  return {
    zone: read.requiredText(fields['zone'], `${path}.zone`),
    zoneId: read.text(fields['zoneId'], `${path}.zoneId`),
    capacityType: capacityType ?? 'on-demand',
    price,
    listPrice: price,
    priceOverlay: undefined,
    available: read.flag(fields['available'], `${path}.available`) ?? true,
    reservation: readReservation(read, fields, path),
    capacityOverride:
      capacityOverride === undefined
        ? undefined
        : read.resources(capacityOverride, `${path}.capacityOverride`, 'down'),
    overheadOverride:
      overheadOverride === undefined
        ? undefined
        : readOverhead(read, overheadOverride, `${path}.overheadOverride`),
  };
}

/** Null or empty: a node of the type never has the label. */
function readLabels(read: Reader, value: unknown, path: string): InstanceType['labels'] {
  const labels: Record<string, readonly string[] | null> = {};
  for (const [key, values] of Object.entries(read.fields(value, path))) {
    const texts = read.texts(values, `${path}.${key}`);
    labels[normalizeLabelKey(key)] = texts.length === 0 ? null : texts;
  }
  return labels;
}

function readCapacity(read: Reader, value: unknown, path: string): Resources {
  if (value === undefined) read.note(path, 'is required');
  return read.resources(value, path, 'down');
}

/** Of `us-west-2a` or `us-west-2-lax-1a`; undefined: the zone is not named as AWS names zones. */
function regionOf(zone: string): string | undefined {
  return /^([a-z]+(?:-[a-z]+)+-\d+)(?:[a-z]|-[a-z]+-\d+[a-z])$/.exec(zone)?.[1];
}

/** Every node has the label of its region, and cases leave it out: their zones tell it. */
function regionLabel(offerings: readonly Offering[]): InstanceType['labels'] {
  const [region, ...others] = new Set(offerings.map(({ zone }) => regionOf(zone)));
  return region === undefined || others.length > 0 ? {} : { [REGION]: [region] };
}

function readType(read: Reader, value: unknown, path: string): ListedType {
  const fields = read.fields(value, path);
  noteUnknown(read, fields, TYPE, path);
  if (fields['offerings'] === undefined) read.note(`${path}.offerings`, 'is required');
  const listed = read.list(fields['offerings'], `${path}.offerings`);
  const offerings = listed.map((each, at) => readOffering(read, each, `${path}.offerings[${at}]`));
  const { nodePools } = fields;
  return {
    nodePools: nodePools === undefined ? undefined : read.texts(nodePools, `${path}.nodePools`),
    type: {
      name: read.requiredText(fields['name'], `${path}.name`),
      labels: {
        ...regionLabel(offerings),
        ...readLabels(read, fields['requirements'], `${path}.requirements`),
      },
      capacity: readCapacity(read, fields['capacity'], `${path}.capacity`),
      overhead: readOverhead(read, fields['overhead'], `${path}.overhead`),
      offerings,
      capacityOverlays: [],
      attachLimits: undefined,
    },
  };
}

export function readInstanceTypes(read: Reader, list: readonly unknown[]): readonly ListedType[] {
  const types = list.map((each, at) => readType(read, each, `instanceTypes[${at}]`));
  const places = new Map<string, number>();
  for (const [at, { type, nodePools }] of types.entries()) {
    for (const pool of nodePools ?? ['']) {
      const text = `${pool}\n${type.name}`;
      const first = places.get(text);
      if (first === undefined) places.set(text, at);
      else read.note(`instanceTypes[${at}].name`, `is that of instanceTypes[${first}], too`);
    }
  }
  return types;
}

/** The types of each NodePool; pools that may use the same types share one list. */
export function typesByPool(
  types: readonly ListedType[],
  pools: readonly string[],
): ReadonlyMap<string, readonly InstanceType[]> {
  const lists = new Map<string, readonly InstanceType[]>();
  return new Map(
    pools.map((pool) => {
      const usable = types.filter(({ nodePools }) => nodePools?.includes(pool) ?? true);
      const text = usable.map(({ type }) => type.name).join('\n');
      const list = lists.get(text) ?? usable.map(({ type }) => type);
      lists.set(text, list);
      return [pool, list] as const;
    }),
  );
}
