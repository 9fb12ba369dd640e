import type { GroupCaps } from '../../limit-groups/limit-groups.ts';
import { missing } from '../../missing.ts';
import type { Offering } from '../../model/instance-type.ts';
import { ownValue } from '../../model/labels.ts';
import type { NodePool } from '../../model/provisioning.ts';
import { amountOf, type Resources } from '../../model/resources.ts';
import type { Requirements } from '../../requirements/value-set.ts';
import {
  type Domain,
  Domains,
  domainAllows,
  domainLabel,
  isDomainKey,
  isOffered,
  type PoolVariant,
  poolAllows,
  type TypeVariant,
  typeAllows,
  typeLabel,
  usableResources,
} from './launch-space.ts';
import { type NodeRule, ruleAllowsLaunch, taintsAllowed } from './node-rules.ts';

/** One thing that can be launched: a type at a price in a place, for a pool. */
export interface LaunchOption {
  readonly pool: PoolVariant;
  readonly type: TypeVariant;
  readonly domain: Domain;
  readonly offering: Offering;
  readonly price: number;
  /** Per resource of the problem, DaemonSets already taken off. */
  readonly free: Float64Array;
  readonly group: LaunchGroup;
}

/** Launch options that no rule and no topology key of the problem can tell apart. */
export interface LaunchGroup {
  readonly id: number;
  readonly pool: PoolVariant;
  readonly type: TypeVariant;
  readonly domain: Domain;
  /** By rule id: 1 where the rule allows these launch options. */
  readonly allowed: Uint8Array;
  /** Every launch option, cheapest first. */
  readonly all: LaunchOption[];
  /** Only those that no other is better than, cheapest first. */
  readonly paretoFront: readonly LaunchOption[];
}

/** What a DaemonSet takes on each node that its rule allows. */
export interface DaemonLoad {
  readonly rule: NodeRule;
  /** Per resource of the problem. */
  readonly requests: Float64Array;
  /** Everything it requests. */
  readonly total: Resources;
}

export interface LaunchOptionInput {
  readonly pools: readonly PoolVariant[];
  readonly rules: readonly NodeRule[];
  readonly conjunctions: readonly Requirements[];
  readonly daemons: readonly DaemonLoad[];
  /** Names of the problem's resources; a name with the prefix `attach:` is a volume count. */
  readonly resources: readonly string[];
  /** Topology keys, the hostname apart: groups never mix their values. */
  readonly topologyKeys: readonly string[];
  readonly reservedCapacity: boolean;
  readonly groupCaps: readonly Pick<GroupCaps, 'group' | 'pools' | 'caps'>[];
}

/** Three of them make up a number that is still exact: more than a problem ever has. */
const SIGNATURES_MAX = 2 ** 17;

export const ATTACH_PREFIX = 'attach:';

/** Stands for "no limit known": larger than any count of volumes. */
export const UNLIMITED = 1e9;

function freeOf(
  amounts: Resources,
  limits: Readonly<Record<string, number>> | undefined,
  resources: readonly string[],
): Float64Array {
  return Float64Array.from(resources, (name) =>
    name.startsWith(ATTACH_PREFIX)
      ? (limits?.[name.slice(ATTACH_PREFIX.length)] ?? UNLIMITED)
      : amountOf(amounts, name),
  );
}

/** Interns texts as small numbers. */
class Numbering {
  private readonly numbers = new Map<string, number>();

  of(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    const added = this.numbers.size;
    this.numbers.set(text, added);
    return added;
  }
}

/** Limit groups that count the pool's nodes. */
function capsOf({ groupCaps }: Pick<LaunchOptionInput, 'groupCaps'>, pool: NodePool) {
  return groupCaps.filter(({ pools }) => pools.includes(pool.name));
}

/** Pools that are never interchangeable, because something is counted per pool. */
function isCountedByPool(pool: NodePool): boolean {
  return (
    Object.keys(pool.limits).length > 0 ||
    pool.template.requirements.some((each) => each.minValues !== undefined)
  );
}

class LaunchOptionBuilder {
  readonly groups: LaunchGroup[] = [];
  private readonly domains = new Domains();
  private readonly groupOf = new Map<number, LaunchGroup>();
  private readonly typeSignature = new Map<TypeVariant, number>();
  private readonly domainSignature = new Map<Domain, number>();
  private readonly signatures = new Numbering();
  private readonly poolSignature = new Map<number, number>();
  private readonly descriptions = new Map<object, number>();
  private readonly freeByType = new Map<string, Float64Array | undefined>();
  private readonly typeIds = new Map<object, number>();
  private readonly sortedOfferings = new Map<object, readonly Offering[]>();
  private readonly labelKeys: readonly string[];
  private readonly input: LaunchOptionInput;
  private readonly daemonsSeeDomains: boolean;

  constructor(input: LaunchOptionInput) {
    this.input = input;
    const keys = new Set(input.conjunctions.flatMap((each) => [...each.keys()]));
    this.labelKeys = [...keys, ...input.topologyKeys].filter((key) => !isDomainKey(key));
    this.daemonsSeeDomains = input.daemons.some(({ rule }) =>
      rule.terms.some((term) => [...term.keys()].some(isDomainKey)),
    );
  }

  build(): readonly LaunchGroup[] {
    for (const pool of this.input.pools) this.addPool(pool);
    return this.groups.map((group) => {
      group.all.sort(compareOptions);
      const capped = capsOf(this.input, group.pool.pool).flatMap(({ caps }) => Object.keys(caps));
      return Object.assign(group, { paretoFront: paretoFrontOfGroup(group.all, capped) });
    });
  }

  private addPool(pool: PoolVariant): void {
    const allowedDomains = new Map<Domain, boolean>();
    for (const type of pool.types) {
      if (!typeAllows(pool.requirements, type)) continue;
      let daemons: string | undefined;
      for (const offering of this.offeringsOf(type)) {
        if (!isOffered(offering, this.input.reservedCapacity)) continue;
        const domain = this.domains.of(offering);
        let isAllowed = allowedDomains.get(domain);
        if (isAllowed === undefined) {
          isAllowed = domainAllows(pool.requirements, domain);
          allowedDomains.set(domain, isAllowed);
        }
        if (!isAllowed) continue;
        if (daemons === undefined || this.daemonsSeeDomains) {
          daemons = this.daemonsOn(pool, type, domain);
        }
        const free = this.freeOn(type, offering, daemons);
        if (free === undefined) continue;
        const group = this.group(pool, type, domain);
        group.all.push({ pool, type, domain, offering, price: offering.price, free, group });
      }
    }
  }

  /** The type's offerings in an order of their own, whatever the order of the input. */
  private offeringsOf({ type }: TypeVariant): readonly Offering[] {
    const known = this.sortedOfferings.get(type);
    if (known !== undefined) return known;
    const sorted = [...type.offerings].sort(compareOfferings);
    this.sortedOfferings.set(type, sorted);
    return sorted;
  }

  /**
   * Indexes of the DaemonSets that will run there, as a text: also of those that a label of the
   * type keeps away, as the node only has the label if one of its pods asks for it.
   */
  private daemonsOn(pool: PoolVariant, type: TypeVariant, domain: Domain): string {
    const { unasked } = type;
    const isUnaskedToo = unasked !== undefined && typeAllows(pool.requirements, unasked);
    const variants = isUnaskedToo ? [type, unasked] : [type];
    let text = '';
    for (const [index, { rule }] of this.input.daemons.entries()) {
      const runs = variants.some((each) => ruleAllowsLaunch(rule, pool, each, domain));
      if (runs) text += `${index},`;
    }
    return text;
  }

  private freeOn(type: TypeVariant, offering: Offering, daemons: string): Float64Array | undefined {
    const { capacityOverride, overheadOverride } = offering;
    const isPlain = capacityOverride === undefined && overheadOverride === undefined;
    let typeId = this.typeIds.get(isPlain ? type.type : offering);
    if (typeId === undefined) {
      typeId = this.typeIds.size;
      this.typeIds.set(isPlain ? type.type : offering, typeId);
    }
    const text = `${typeId}:${daemons}`;
    if (this.freeByType.has(text)) return this.freeByType.get(text);
    const free = this.computeFree(type, offering, daemons);
    this.freeByType.set(text, free);
    return free;
  }

  private computeFree(
    { type }: TypeVariant,
    offering: Offering,
    daemons: string,
  ): Float64Array | undefined {
    const amounts = usableResources(type, offering);
    if (amounts === undefined) return undefined;
    const free = freeOf(amounts, type.attachLimits, this.input.resources);
    for (const index of daemons.split(',')) {
      const load = index === '' ? undefined : this.input.daemons[Number(index)];
      if (load === undefined) continue;
      for (let r = 0; r < free.length; r++)
        free[r] = (free[r] ?? missing(r)) - (load.requests[r] ?? missing(r));
    }
    return free.some((amount) => amount < 0) ? undefined : free;
  }

  private group(pool: PoolVariant, type: TypeVariant, domain: Domain): LaunchGroup {
    const key =
      (this.signatureOfPool(pool, type) * SIGNATURES_MAX + this.signatureOfDomain(domain)) *
        SIGNATURES_MAX +
      this.signatureOfType(type);
    const known = this.groupOf.get(key);
    if (known !== undefined) return known;
    const allowed = Uint8Array.from(this.input.rules, (rule) =>
      ruleAllowsLaunch(rule, pool, type, domain) ? 1 : 0,
    );
    const added = { id: this.groups.length, pool, type, domain, allowed, all: [], paretoFront: [] };
    this.groups.push(added);
    this.groupOf.set(key, added);
    return added;
  }

  private signatureOfType(type: TypeVariant): number {
    const known = this.typeSignature.get(type);
    if (known !== undefined) return known;
    let text = `${this.described(type)}|`;
    for (const each of this.input.conjunctions) text += typeAllows(each, type) ? '1' : '0';
    for (const key of this.input.topologyKeys) {
      if (!isDomainKey(key)) text += `|${typeLabel(type, key) ?? ''}`;
    }
    const signature = this.signatures.of(`t${text}`);
    this.typeSignature.set(type, signature);
    return signature;
  }

  /**
   * Stands for which of the keys asked for the type describes; the pool answers for the others.
   * Pods may ask for thousands of keys: they are looked up once for a type, not for each option.
   */
  private described({ type }: TypeVariant): number {
    const known = this.descriptions.get(type);
    if (known !== undefined) return known;
    let text = '';
    for (const key of this.labelKeys) text += ownValue(type.labels, key) === undefined ? '0' : '1';
    const described = this.signatures.of(`k${text}`);
    this.descriptions.set(type, described);
    return described;
  }

  private signatureOfDomain(domain: Domain): number {
    const known = this.domainSignature.get(domain);
    if (known !== undefined) return known;
    let text = domain.reservationId ?? '';
    for (const each of this.input.conjunctions) text += domainAllows(each, domain) ? '1' : '0';
    for (const key of this.input.topologyKeys) {
      if (isDomainKey(key)) text += `|${domainLabel(domain, key) ?? ''}`;
    }
    const signature = this.signatures.of(`d${text}`);
    this.domainSignature.set(domain, signature);
    return signature;
  }

  private signatureOfPool(pool: PoolVariant, type: TypeVariant): number {
    const described = this.described(type);
    const key = pool.id * SIGNATURES_MAX + described;
    const known = this.poolSignature.get(key);
    if (known !== undefined) return known;
    let text = `${pool.pool.weight}|${isCountedByPool(pool.pool) ? pool.pool.name : ''}|`;
    text += `${JSON.stringify(capsOf(this.input, pool.pool).map((caps) => caps.group))}|`;
    for (const rule of this.input.rules) text += taintsAllowed(rule, pool.taints) ? '1' : '0';
    for (const each of this.input.conjunctions) text += poolAllows(each, pool, type) ? '1' : '0';
    for (const topologyKey of this.input.topologyKeys) {
      text += `|${pool.labels.get(topologyKey) ?? ''}`;
    }
    const signature = this.signatures.of(`p${described}|${text}`);
    this.poolSignature.set(key, signature);
    return signature;
  }
}

/**
 * The total order of launch options: price, then names, so that equal prices are told apart the
 * same way.
 */
export function compareOptions(a: LaunchOption, b: LaunchOption): number {
  return (
    a.price - b.price ||
    compareText(a.type.type.name, b.type.type.name) ||
    compareText(a.domain.zone, b.domain.zone) ||
    compareText(a.domain.capacityType, b.domain.capacityType) ||
    compareText(a.pool.pool.name, b.pool.pool.name) ||
    a.pool.id - b.pool.id
  );
}

function compareOfferings(a: Offering, b: Offering): number {
  return (
    compareText(a.zone, b.zone) ||
    compareText(a.capacityType, b.capacityType) ||
    compareText(a.reservation?.id ?? '', b.reservation?.id ?? '') ||
    a.price - b.price ||
    compareText(a.zoneId ?? '', b.zoneId ?? '')
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether `a` has as much room as `b`, and takes no more of what their pool limits. */
function dominates(a: LaunchOption, b: LaunchOption, limited: readonly string[]): boolean {
  for (let r = 0; r < a.free.length; r++) {
    if ((a.free[r] ?? missing(r)) < (b.free[r] ?? missing(r))) return false;
  }
  if (a.type === b.type) return true;
  const [more, less] = [a.type.type.capacity, b.type.type.capacity];
  return limited.every((name) => amountOf(more, name) <= amountOf(less, name));
}

/**
 * The launch options that have more room, or take less, than every cheaper (or equal, earlier) one;
 * all of one group and, where limits matter, of one pool. `capped` are resources that limit groups
 * count.
 */
export function paretoFrontOfGroup(
  sorted: readonly LaunchOption[],
  capped: readonly string[] = [],
): readonly LaunchOption[] {
  const paretoFront: LaunchOption[] = [];
  // Groups of pools with limits hold launch options of one pool only.
  const limited = [...Object.keys(sorted[0]?.pool.pool.limits ?? {}), ...capped];
  for (const option of sorted) {
    let isCovered = false;
    for (let index = paretoFront.length - 1; index >= 0 && !isCovered; index--) {
      isCovered = dominates(paretoFront[index] ?? missing(index), option, limited);
    }
    if (!isCovered) paretoFront.push(option);
  }
  return paretoFront;
}

/** All launch options worth launching, in groups; the order of the input does not matter. */
export function buildLaunchOptions(input: LaunchOptionInput): readonly LaunchGroup[] {
  return new LaunchOptionBuilder(input).build();
}
