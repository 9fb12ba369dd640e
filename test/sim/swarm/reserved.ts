import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import { CAPACITY_TYPE, RESERVATION_ID } from '../../../shared/core/model/labels.ts';
import { BLOCK_TERMINATES_MS } from '../../../shared/sim/cloud/reservations.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { type Json, listAt, objectAt } from '../../../shared/sim/json.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { one } from './one.ts';
import type { Reserved, Setting } from './setting.ts';

const MINUTE = 60_000;
/** How long before its instances end a Capacity Block is known to be about to end. */
export const BLOCK_NOTICE_MS = 10 * MINUTE;
/** By then everyone knows that a block is about to end. */
export const KNOWN_MS = 5 * MINUTE;

/** With a generator of its own, so that everything else of a seed stays as it is. */
export function drawReserved(random: Prng): readonly Reserved[] {
  return Array.from({ length: random.between(1, 3) }, (_, at) => {
    const instances = random.between(1, 4);
    const isBlock = random.next() < 0.45;
    // The instances of a block go half an hour before it ends.
    const endsAtMinute = isBlock ? random.between(38, 70) : random.between(6, 40);
    const ends = isBlock || random.next() < 0.3;
    const isCancelled = random.next() < 0.25;
    const cancelledAtMinute = random.between(4, 28);
    return {
      terms: {
        id: `cr-${String(at + 1).padStart(17, '0')}`,
        instanceType: one(random, ['c7g.large', 'c7g.xlarge', 'c6a.xlarge', 'm7g.2xlarge']),
        zone: one(random, ['us-east-1a', 'us-east-1b', 'us-east-1c']),
        instances,
        reservationType: isBlock ? 'capacity-block' : 'default',
        tags: { team: 'all' },
        endsAtMs: ends ? WORLD_START_MS + endsAtMinute * MINUTE : undefined,
      },
      cancelledAtMinute: isCancelled && !isBlock ? cancelledAtMinute : undefined,
      others: {
        instances: one(random, [0, 0, 1, instances]),
        fromMinute: random.between(0, 20),
        minutes: random.between(2, 15),
      },
    };
  });
}

/** The setting in which every EC2NodeClass finds what is reserved and NodePools may use it. */
export function withReserved(setting: Setting, reserved: readonly Reserved[]): Setting {
  const nodeClass = {
    ...setting.nodeClass,
    spec: {
      ...objectAt(setting.nodeClass, 'spec'),
      capacityReservationSelectorTerms: [{ tags: { team: 'all' } }],
    },
  };
  const using =
    (pool: Setting['pool']): Setting['pool'] =>
    (fields) =>
      withReservedType(pool(fields));
  return {
    ...setting,
    nodeClass,
    reserved,
    pool: using(setting.pool),
    others: setting.others.map((each) => ({ ...each, pool: using(each.pool) })),
    manifests: setting.manifests.map((each) => {
      if (each['kind'] === 'EC2NodeClass') return nodeClass;
      return each['kind'] === 'NodePool' ? withReservedType(each) : each;
    }),
  };
}

function withReservedType(pool: Json): Json {
  const spec = objectAt(pool, 'spec');
  const template = objectAt(spec, 'template');
  const own = objectAt(template, 'spec');
  const requirements = listAt(own, 'requirements').map((each) => {
    const { key, values } = each as { readonly key: string; readonly values: readonly string[] };
    if (key !== CAPACITY_TYPE || values.includes('reserved')) return each;
    return { ...(each as Json), values: ['reserved', ...values] };
  });
  return { ...pool, spec: { ...spec, template: { ...template, spec: { ...own, requirements } } } };
}

/** What becomes of the reservations. */
export function planReserved(
  world: World,
  reserved: readonly Reserved[],
  on: {
    readonly mark: (what: string) => void;
    readonly problem: (problem: string) => void;
  },
): void {
  const { timeline, compute } = world;
  const at = (minute: number, act: () => void): void =>
    timeline.at(WORLD_START_MS + minute * MINUTE, act);
  for (const { terms, cancelledAtMinute, others } of reserved) {
    const { id, reservationType, endsAtMs } = terms;
    const { fromMinute, minutes, instances } = others;
    at(fromMinute, () => compute.reservations.setOthers(id, instances));
    at(fromMinute + minutes, () => compute.reservations.setOthers(id, 0));
    if (cancelledAtMinute !== undefined) {
      at(cancelledAtMinute, () => {
        compute.endReservation(id);
        on.mark('reservation cancelled');
      });
    }
    if (endsAtMs === undefined) continue;
    timeline.at(endsAtMs, () => on.mark('reservation ended'));
    if (reservationType !== 'capacity-block') continue;
    timeline.at(endsAtMs - BLOCK_TERMINATES_MS - 1, () => {
      for (const each of leftInBlock(world, id)) on.problem(each);
    });
  }
}

/** Nodes are drained before EC2 ends their instances; a young one may be of before it was known. */
function leftInBlock({ store, compute, timeline }: World, id: string): readonly string[] {
  const { nodeClaims } = readState(store).objects;
  return nodeClaims.flatMap(({ name, providerId, deletedAtMs }) => {
    const machine = compute.machines.get(instanceIdOf(providerId) ?? '');
    const isOld = machine && timeline.nowMs() - machine.launchedAtMs > KNOWN_MS;
    const isLeft = machine?.reservationId === id && deletedAtMs === undefined && isOld;
    return isLeft ? [`NodeClaim ${name} is not drained at the end of Capacity Block ${id}`] : [];
  });
}

/** At rest: NodeClaims and nodes that stay and say another way of paying than their instance has. */
export function paidOtherwise({ store, compute }: World): readonly string[] {
  const { nodeClaims, nodes } = readState(store).objects;
  const going = nodeClaims.filter(({ deletedAtMs }) => deletedAtMs !== undefined);
  const isGoing = new Set(going.map(({ providerId }) => providerId));
  return [...nodeClaims, ...nodes].flatMap(({ name, providerId, labels }) => {
    const machine = compute.machines.get(instanceIdOf(providerId) ?? '');
    if (machine === undefined || isGoing.has(providerId)) return [];
    const said = `${labels[CAPACITY_TYPE]} ${labels[RESERVATION_ID]}`;
    const paid = `${machine.capacityType} ${machine.reservationId}`;
    return said === paid ? [] : [`${name} says ${said}, and its instance is ${paid}`];
  });
}

/** When the last of them has ended that ends; a block is over when it begins to be terminated. */
export function reservedEndMs(reserved: readonly Reserved[]): number {
  return Math.max(WORLD_START_MS, ...reserved.map(({ terms }) => terms.endsAtMs ?? 0));
}
