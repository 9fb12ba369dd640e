import {
  DescribeCapacityReservationsCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  type EC2Client,
  type CapacityReservation as Ec2Reservation,
  type Filter,
} from '@aws-sdk/client-ec2';
import type { SelectorTerm } from '../core/model/node-class.ts';
import type { Network } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import { allPages, type Calls } from './calls.ts';

type Found<Method extends keyof Network> = Awaited<ReturnType<Network[Method]>>;

export interface NetworkParts {
  readonly ec2: EC2Client;
  readonly calls: Calls;
}

/** `*` stands for any value, and then EC2 is asked for the key alone. */
export function tagFilters({ tags = {} }: SelectorTerm): Filter[] {
  return Object.entries(tags)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) =>
      value === '*' ? { Name: 'tag-key', Values: [key] } : { Name: `tag:${key}`, Values: [value] },
    );
}

/** Terms that only name something of one kind become one question; all others one each. */
function questions(
  terms: readonly SelectorTerm[],
  names: { readonly id: string; readonly name?: string },
): readonly Filter[][] {
  const ids = terms.flatMap((term) => term.id ?? []).sort();
  const { name: nameFilter } = names;
  const named = nameFilter === undefined ? [] : terms.flatMap((term) => term.name ?? []).sort();
  const byTags = terms.map(tagFilters).filter((filters) => filters.length > 0);
  return [
    ...(ids.length === 0 ? [] : [[{ Name: names.id, Values: ids }]]),
    ...(named.length === 0 ? [] : [[{ Name: nameFilter, Values: named }]]),
    ...byTags,
  ];
}

/** Each object once, by id. */
function distinct<Item extends { readonly id: string }>(items: readonly Item[]): readonly Item[] {
  const byId = new Map(items.map((each) => [each.id, each]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Nothing is launched into a capacity block from this long before its end: EC2 begins to terminate
 * its instances half an hour before.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
 */
const BLOCK_EXPIRING_MS = 40 * 60_000;

/** What selector terms find in the account's network. */
export class Ec2Network implements Network {
  private readonly parts: NetworkParts;

  constructor(parts: NetworkParts) {
    this.parts = parts;
  }

  async subnets(terms: readonly SelectorTerm[]): Promise<Found<'subnets'>> {
    const { ec2, calls } = this.parts;
    const found = await this.each(questions(terms, { id: 'subnet-id' }), async (Filters, token) => {
      const command = new DescribeSubnetsCommand({ Filters, NextToken: token });
      const page = await calls.run('ec2:DescribeSubnets', () => ec2.send(command));
      return { items: page.Subnets, next: page.NextToken };
    });
    return distinct(
      found.flatMap(({ SubnetId: id, AvailabilityZone: zone, ...subnet }) =>
        id === undefined || zone === undefined
          ? []
          : [
              {
                id,
                zone,
                zoneId: subnet.AvailabilityZoneId,
                freeAddresses: subnet.AvailableIpAddressCount ?? 0,
              },
            ],
      ),
    );
  }

  async securityGroups(terms: readonly SelectorTerm[]): Promise<Found<'securityGroups'>> {
    const { ec2, calls } = this.parts;
    const names = { id: 'group-id', name: 'group-name' };
    const found = await this.each(questions(terms, names), async (Filters, token) => {
      const command = new DescribeSecurityGroupsCommand({ Filters, NextToken: token });
      const page = await calls.run('ec2:DescribeSecurityGroups', () => ec2.send(command));
      return { items: page.SecurityGroups, next: page.NextToken };
    });
    return distinct(
      found.flatMap(({ GroupId: id, GroupName: name }) => (id === undefined ? [] : [{ id, name }])),
    );
  }

  async reservations(terms: readonly SelectorTerm[]): Promise<Found<'reservations'>> {
    const found: Ec2Reservation[] = [];
    const ids = [...new Set(terms.flatMap((term) => term.id ?? []))].sort();
    if (ids.length > 0) found.push(...(await this.reservationsNamed(ids)));
    for (const term of terms) {
      if (term.id !== undefined) continue;
      const { ownerID, instanceMatchCriteria: criteria } = term;
      const filters = [
        ...tagFilters(term),
        ...(ownerID === undefined ? [] : [{ Name: 'owner-id', Values: [ownerID] }]),
        ...(criteria === undefined
          ? []
          : [{ Name: 'instance-match-criteria', Values: [criteria] }]),
      ];
      if (filters.length > 0) found.push(...(await this.reservationsWith(undefined, filters)));
    }
    const nowMs = this.parts.calls.timing.nowMs();
    return distinct(found.flatMap((each) => reservationOf(each, nowMs)));
  }

  /** EC2 refuses the whole call where one is gone: then each is asked for alone. */
  private async reservationsNamed(ids: string[]): Promise<readonly Ec2Reservation[]> {
    try {
      return await this.reservationsWith(ids, []);
    } catch (error) {
      if (!(error instanceof PortError) || error.kind !== 'not-found') throw error;
      if (ids.length <= 1) return [];
    }
    const found: Ec2Reservation[] = [];
    for (const id of ids) found.push(...(await this.reservationsNamed([id])));
    return found;
  }

  private async reservationsWith(
    ids: string[] | undefined,
    filters: Filter[],
  ): Promise<readonly Ec2Reservation[]> {
    const { ec2, calls } = this.parts;
    const Filters = [...filters, { Name: 'state', Values: ['active'] }];
    return allPages(async (token) => {
      const command = new DescribeCapacityReservationsCommand({
        CapacityReservationIds: ids,
        Filters,
        NextToken: token,
      });
      const page = await calls.run('ec2:DescribeCapacityReservations', () => ec2.send(command));
      return { items: page.CapacityReservations, next: page.NextToken };
    });
  }

  private async each<Item>(
    all: readonly Filter[][],
    page: (
      filters: Filter[],
      token: string | undefined,
    ) => Promise<{
      readonly items: readonly Item[] | undefined;
      readonly next: string | undefined;
    }>,
  ): Promise<readonly Item[]> {
    const found: Item[] = [];
    for (const filters of all) found.push(...(await allPages((token) => page(filters, token))));
    return found;
  }
}

function reservationOf(
  each: Ec2Reservation,
  nowMs: number,
): readonly Found<'reservations'>[number][] {
  const { CapacityReservationId: id, AvailabilityZone: zone, InstanceType: instanceType } = each;
  if (id === undefined || zone === undefined || instanceType === undefined) return [];
  const isBlock = each.ReservationType === 'capacity-block';
  const endsAtMs = each.EndDate?.getTime();
  const isExpiring = isBlock && endsAtMs !== undefined && nowMs >= endsAtMs - BLOCK_EXPIRING_MS;
  return [
    {
      id,
      instanceType,
      zone,
      ownerID: each.OwnerId ?? '',
      instanceMatchCriteria: each.InstanceMatchCriteria === 'targeted' ? 'targeted' : 'open',
      reservationType: isBlock ? 'capacity-block' : 'default',
      interruptible: each.Interruptible ?? false,
      state: isExpiring ? 'expiring' : 'active',
      endsAtMs,
      available: each.AvailableInstanceCount ?? 0,
    },
  ];
}
