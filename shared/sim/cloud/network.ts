import { canonicalText } from '../../core/launch/canonical-text.ts';
import { sha256 } from '../../core/launch/sha256.ts';
import type {
  NodeClass,
  SecurityGroup,
  SelectorTerm,
  Subnet,
} from '../../core/model/node-class.ts';
import type { Network, Profiles } from '../../ports.ts';
import type { Found } from './found.ts';
import type { SimulatedReservations } from './reservations.ts';

/** Addresses of a /19 less the five that AWS keeps. */
const FREE_ADDRESSES = 8187;

export interface Zone {
  readonly zone: string;
  readonly zoneId: string;
}

function fakeId(prefix: string, ...parts: readonly string[]): string {
  return `${prefix}-${sha256(parts.join('/')).slice(0, 17)}`;
}

function isWellFormed(id: string, prefix: string): boolean {
  return new RegExp(`^${prefix}-[0-9a-f]{8,17}$`).test(id);
}

/** What real classes have found by their terms. */
interface FoundNetwork {
  readonly subnets: Found<Subnet>;
  readonly securityGroups: Found<SecurityGroup>;
}

const NOTHING_FOUND: FoundNetwork = { subnets: new Map(), securityGroups: new Map() };

/**
 * What a real class has found by the same terms; otherwise one private subnet (/19) in each zone
 * and one security group, matched by any tag or name.
 */
export class SimulatedNetwork implements Network {
  private readonly zones: readonly Zone[];
  private readonly cluster: string;
  private readonly usedBySubnet: (subnet: string) => number;
  private readonly found: FoundNetwork;
  private readonly reserved: SimulatedReservations | undefined;

  constructor(
    cluster: string,
    zones: readonly Zone[],
    used: (subnet: string) => number,
    found = NOTHING_FOUND,
    reserved?: SimulatedReservations,
  ) {
    this.found = found;
    this.reserved = reserved;
    this.cluster = cluster;
    this.zones = [...zones].sort((a, b) => (a.zone < b.zone ? -1 : 1));
    this.usedBySubnet = used;
  }

  async subnets(terms: readonly SelectorTerm[]): ReturnType<Network['subnets']> {
    const found = this.found.subnets.get(canonicalText(terms));
    if (found !== undefined) return found.map((each) => this.withFree(each));
    const ids = terms.flatMap((term) => (term.id === undefined ? [] : [term.id]));
    const named = [...new Set(ids)].sort().filter((id) => isWellFormed(id, 'subnet'));
    const chosen = named.map((id, index) => ({ id, place: this.zones[index % this.zones.length] }));
    const own = terms.some((term) => term.id === undefined)
      ? this.zones.map((place) => ({ id: fakeId('subnet', this.cluster, place.zone), place }))
      : [];
    return [...chosen, ...own].flatMap(({ id, place }) =>
      place === undefined ? [] : [this.withFree({ id, ...place })],
    );
  }

  private withFree(subnet: Subnet) {
    return { ...subnet, freeAddresses: FREE_ADDRESSES - this.usedBySubnet(subnet.id) };
  }

  async securityGroups(terms: readonly SelectorTerm[]): ReturnType<Network['securityGroups']> {
    const found = this.found.securityGroups.get(canonicalText(terms));
    if (found !== undefined) return found;
    const ids = terms.flatMap((term) => (term.id === undefined ? [] : [term.id]));
    const named = [...new Set(ids)].sort().filter((id) => isWellFormed(id, 'sg'));
    const own = terms.some((term) => term.id === undefined)
      ? [{ id: fakeId('sg', this.cluster), name: `${this.cluster}-nodes` }]
      : [];
    return [...named.map((id) => ({ id, name: undefined })), ...own];
  }

  async reservations(terms: readonly SelectorTerm[]): ReturnType<Network['reservations']> {
    return (await this.reserved?.matching(terms)) ?? [];
  }
}

/** Every role exists. */
export class SimulatedProfiles implements Profiles {
  private readonly cluster: string;

  constructor(cluster: string) {
    this.cluster = cluster;
  }

  async ensure(nodeClass: NodeClass): Promise<string> {
    const { role = '', instanceProfile } = nodeClass;
    if (instanceProfile !== undefined) return instanceProfile;
    return `${this.cluster}_${sha256(`${nodeClass.name}/${role}`).slice(0, 20)}`;
  }

  async remove(): Promise<void> {}
}
