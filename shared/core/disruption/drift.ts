import { type Reason, reason } from '../explain/reason.ts';
import { canonicalText } from '../launch/canonical-text.ts';
import { imageFor } from '../launch/launch-request.ts';
import { sha256 } from '../launch/sha256.ts';
import { conditionOf, isTrue } from '../lifecycle/conditions.ts';
import type { InstanceType } from '../model/instance-type.ts';
import {
  ADOPTED_HASHES,
  INSTANCE_TYPE,
  type Labels,
  NODE_CLASS_HASH,
  NODE_CLASS_HASH_VERSION,
  NODE_POOL_HASH,
  NODE_POOL_HASH_VERSION,
  ownValue,
  RESERVATION_ID,
  SECURITY_GROUPS,
  SUBNET,
  ZONE,
} from '../model/labels.ts';
import type { NodeClass } from '../model/node-class.ts';
import type { NodeClaim, NodePool } from '../model/provisioning.ts';
import {
  allows,
  intersects,
  type Requirements,
  requirementsOf,
} from '../requirements/value-set.ts';

import { imageState } from './image-state.ts';

/** Why a node is not what its NodePool and its EC2NodeClass ask for now; Karpenter's names. */
export type DriftReason =
  | 'NodePoolDrifted'
  | 'RequirementsDrifted'
  | 'InstanceTypeNotFound'
  | 'NodeClassDrift'
  | 'AMIDrift'
  | 'SecurityGroupDrift'
  | 'SubnetDrift'
  | 'CapacityReservationDrift';

/** What the claims of a NodePool should be like now. */
export interface DriftParts {
  readonly pool: NodePool;
  readonly poolHash: string;
  /** Undefined: absent, on its way out or not ready. Then nothing is compared with it. */
  readonly nodeClass: NodeClass | undefined;
  readonly nodeClassHash: string;
  /** Whose hashes these are: those of another version are never compared. */
  readonly hashVersion: string;
  /** What the class can launch; empty: nobody knows. */
  readonly types: readonly InstanceType[];
  /** False: the catalog is old, and says nothing of types that it lacks. */
  readonly isCatalogCurrent: boolean;
}

/** The same, with what all claims of the pool are compared with in common. */
export interface DriftTarget extends DriftParts {
  readonly requirements: Requirements;
  readonly typeOf: ReadonlyMap<string, InstanceType>;
  /** Ids, sorted. */
  readonly groups: string;
  readonly subnets: ReadonlySet<string>;
  /** Names of states that a hash stands for. */
  readonly stateOf: Readonly<Record<'requirements' | 'groups' | 'subnets', string>>;
}

export interface Drift {
  readonly reason: DriftReason;
  /** In what way it differs. */
  readonly why: Reason;
  /**
   * What the claim lacks, as a name for the new state that one node has to try before the others
   * follow. Undefined: there is nothing new to try.
   */
  readonly state: string | undefined;
}

/** One thing that a claim can differ in. */
interface Check extends Drift {
  /** Stamped by adoption: what the node was launched with is not known. */
  readonly isAdopted?: boolean;
  /** Undefined: it cannot be told. */
  readonly isMet: boolean | undefined;
}

/** Prices and types may be late in a catalog: a young claim is not blamed for them. */
const TYPE_CHECK_AFTER_MS = 3_600_000;

const STATE_LENGTH = 12;

function short(value: unknown): string {
  return sha256(canonicalText(value)).slice(0, STATE_LENGTH);
}

function sorted(ids: readonly { readonly id: string }[]): readonly string[] {
  return ids.map(({ id }) => id).sort();
}

export function driftTarget(parts: DriftParts): DriftTarget {
  const { pool, nodeClass, types } = parts;
  const groups = sorted(nodeClass?.status.securityGroups ?? []).join(',');
  const subnets = sorted(nodeClass?.status.subnets ?? []);
  const ofClass = `EC2NodeClass/${nodeClass?.name ?? ''}`;
  const asked = short(pool.template.requirements);
  return {
    ...parts,
    requirements: requirementsOf(pool.template.requirements),
    typeOf: new Map(types.map((type) => [type.name, type])),
    groups,
    subnets: new Set(subnets),
    stateOf: {
      requirements: `NodePool/${pool.name} requirements ${asked}`,
      groups: `${ofClass} security groups ${short(groups)}`,
      subnets: `${ofClass} subnets ${short(subnets)}`,
    },
  };
}

/** The two hashes of a claim, as the annotation of adopted ones names them. */
type Hashed = 'nodepool' | 'ec2nodeclass';

const HASH_KEYS = {
  nodepool: { hash: NODE_POOL_HASH, version: NODE_POOL_HASH_VERSION },
  ec2nodeclass: { hash: NODE_CLASS_HASH, version: NODE_CLASS_HASH_VERSION },
} as const;

function adoptedOf({ annotations }: NodeClaim): readonly string[] {
  return annotations[ADOPTED_HASHES]?.split(',') ?? [];
}

/**
 * Of another tool or version a hash says nothing, unless the claim has drifted: nobody can tell
 * then that it has not any more, and it stays drifted, as in Karpenter.
 */
function checkHash(
  claim: NodeClaim,
  hashed: Hashed,
  { wanted, hashVersion }: { readonly wanted: string; readonly hashVersion: string },
): Pick<Check, 'isMet' | 'isAdopted'> {
  const keys = HASH_KEYS[hashed];
  const isComparable = claim.annotations[keys.version] === hashVersion || isTrue(claim, 'Drifted');
  return {
    isMet: isComparable ? claim.annotations[keys.hash] === wanted : undefined,
    isAdopted: adoptedOf(claim).includes(hashed),
  };
}

function checkPoolHash(claim: NodeClaim, target: DriftTarget): Check {
  const { pool, poolHash, hashVersion } = target;
  return {
    reason: 'NodePoolDrifted',
    why: reason('nodepool-template-changed', { nodePool: pool.name }),
    state: `NodePool/${pool.name} template ${poolHash}`,
    ...checkHash(claim, 'nodepool', { wanted: poolHash, hashVersion }),
  };
}

/**
 * Labels against the pool's requirements. A label that the node does not have (a key of the user's
 * with several values, for instance) counts as what the claim itself asks for.
 */
function unmetRequirement(claim: NodeClaim, { requirements }: DriftTarget): string | undefined {
  const asked = requirementsOf(claim.requirements);
  for (const [key, set] of requirements) {
    const label = ownValue(claim.labels, key);
    const own = asked.get(key);
    const isMet =
      label === undefined && own !== undefined ? intersects(own, set) : allows(set, label);
    if (!isMet) return key;
  }
  return undefined;
}

function checkRequirements(claim: NodeClaim, target: DriftTarget): Check {
  const { pool } = target;
  const key = unmetRequirement(claim, target);
  const value = key === undefined ? undefined : ownValue(claim.labels, key);
  return {
    reason: 'RequirementsDrifted',
    why: reason('requirements-changed', {
      nodePool: pool.name,
      key: key ?? '',
      value: value ?? '(absent)',
    }),
    state: target.stateOf.requirements,
    isMet: key === undefined,
  };
}

/**
 * Whether the type is sold in the claim's zone at all. That its capacity type has no price today is
 * no reason to replace a node that runs.
 */
function checkType(claim: NodeClaim, target: DriftTarget, nowMs: number): Check {
  const { types, typeOf, isCatalogCurrent } = target;
  const { [INSTANCE_TYPE]: name = '', [ZONE]: zone } = claim.labels;
  const type = typeOf.get(name);
  const isOld = nowMs - claim.createdAtMs >= TYPE_CHECK_AFTER_MS;
  const isKnown = isCatalogCurrent && types.length > 0 && isOld;
  return {
    reason: 'InstanceTypeNotFound',
    why: reason('instance-type-withdrawn', { instanceType: name, zone: zone ?? 'any zone' }),
    state: undefined,
    isMet: isKnown ? type?.offerings.some((each) => each.zone === zone) === true : undefined,
  };
}

function checkClassHash(claim: NodeClaim, target: DriftTarget, nodeClass: NodeClass): Check {
  const { nodeClassHash, hashVersion } = target;
  return {
    reason: 'NodeClassDrift',
    why: reason('nodeclass-changed', { nodeClass: nodeClass.name }),
    state: `EC2NodeClass/${nodeClass.name} spec ${nodeClassHash}`,
    ...checkHash(claim, 'ec2nodeclass', { wanted: nodeClassHash, hashVersion }),
  };
}

/** The type as the catalog has it, else as the claim's labels describe it. */
function labelsOf(labels: Labels, { typeOf }: DriftTarget): InstanceType['labels'] {
  const known = typeOf.get(labels[INSTANCE_TYPE] ?? '');
  if (known !== undefined) return known.labels;
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, [value]]));
}

/** A class that selects images, none of which is for the type, has drifted from it as well. */
function checkImage(claim: NodeClaim, target: DriftTarget, nodeClass: NodeClass): Check {
  const name = claim.labels[INSTANCE_TYPE] ?? '';
  const { images } = nodeClass.status;
  const image = imageFor(images, { name, labels: labelsOf(claim.labels, target) });
  const isKnown = images.length > 0 && claim.imageId !== undefined;
  const selected = image?.id ?? `no image for ${name}`;
  return {
    reason: 'AMIDrift',
    why: reason('image-changed', {
      nodeClass: nodeClass.name,
      selected,
      image: claim.imageId ?? '',
    }),
    state: image === undefined ? undefined : imageState(nodeClass.name, image.id),
    isMet: isKnown ? image?.id === claim.imageId : undefined,
  };
}

/** Compared as a set, as Karpenter does: a group more or less is a difference. */
function checkGroups(claim: NodeClaim, target: DriftTarget, nodeClass: NodeClass): Check {
  const { groups, stateOf } = target;
  const had = claim.annotations[SECURITY_GROUPS];
  return {
    reason: 'SecurityGroupDrift',
    why: reason('security-groups-changed', { nodeClass: nodeClass.name, had: had ?? '' }),
    state: stateOf.groups,
    isMet: had === undefined || groups === '' ? undefined : had === groups,
  };
}

function checkSubnet(claim: NodeClaim, target: DriftTarget, nodeClass: NodeClass): Check {
  const { subnets, stateOf } = target;
  const had = claim.annotations[SUBNET];
  return {
    reason: 'SubnetDrift',
    why: reason('subnet-deselected', { nodeClass: nodeClass.name, subnet: had ?? '' }),
    state: stateOf.subnets,
    isMet: had === undefined || subnets.size === 0 ? undefined : subnets.has(had),
  };
}

function checkReservation(claim: NodeClaim, nodeClass: NodeClass): Check {
  const id = claim.labels[RESERVATION_ID];
  const known = sorted(nodeClass.status.capacityReservations);
  return {
    reason: 'CapacityReservationDrift',
    why: reason('reservation-deselected', { nodeClass: nodeClass.name, reservation: id ?? '' }),
    state: undefined,
    // One that has ended is taken off its claims, which run on as on-demand.
    isMet: id === undefined || known.includes(id),
  };
}

/** In the order in which the first that is not met gives the reason. */
function checksOf(claim: NodeClaim, target: DriftTarget, nowMs: number): readonly Check[] {
  const { nodeClass } = target;
  const ofPool = [checkPoolHash(claim, target), checkRequirements(claim, target)];
  if (nodeClass === undefined) return ofPool;
  return [
    ...ofPool,
    checkType(claim, target, nowMs),
    checkClassHash(claim, target, nodeClass),
    checkImage(claim, target, nodeClass),
    checkGroups(claim, target, nodeClass),
    checkSubnet(claim, target, nodeClass),
    checkReservation(claim, nodeClass),
  ];
}

/** What came of comparing a claim. */
export interface Comparison {
  /** All that it differs in; the first gives the reason. Empty: it is as it should be. */
  readonly drifts: readonly Drift[];
  /** What its node has tried, should it be initialised. */
  readonly states: readonly string[];
  /** Whether nobody can tell now if that is still so what it says of itself: that it has drifted. */
  readonly isUndecided: boolean;
}

export function compared(claim: NodeClaim, target: DriftTarget, nowMs: number): Comparison {
  const checks = checksOf(claim, target, nowMs);
  const said = isTrue(claim, 'Drifted') ? conditionOf(claim, 'Drifted')?.reason : undefined;
  return {
    isUndecided: checks.some((each) => each.reason === said && each.isMet === undefined),
    drifts: checks
      .filter(({ isMet }) => isMet === false)
      .map(({ reason: kind, why, state }) => ({ reason: kind, why, state })),
    states: checks.flatMap(({ isMet, isAdopted, state }) =>
      isMet === true && isAdopted !== true && state !== undefined ? [state] : [],
    ),
  };
}

/**
 * Annotations of a claim that another tool, or an older Joiner, has written: adopted as current.
 * One that has drifted keeps its hash under our version, so that it stays drifted.
 */
export function adoptionStamps(claim: NodeClaim, target: DriftTarget): Labels {
  const { poolHash, nodeClass, nodeClassHash, hashVersion } = target;
  const wanted = { nodepool: poolHash, ec2nodeclass: nodeClassHash };
  const all: readonly Hashed[] =
    nodeClass === undefined ? ['nodepool'] : ['nodepool', 'ec2nodeclass'];
  const foreign = all.filter((each) => claim.annotations[HASH_KEYS[each].version] !== hashVersion);
  const versions = foreign.map((each) => [HASH_KEYS[each].version, hashVersion] as const);
  if (foreign.length === 0 || isTrue(claim, 'Drifted')) return Object.fromEntries(versions);
  const hashes = foreign.map((each) => [HASH_KEYS[each].hash, wanted[each]] as const);
  const adopted = [...new Set([...adoptedOf(claim), ...foreign])].sort().join(',');
  return Object.fromEntries([...versions, ...hashes, [ADOPTED_HASHES, adopted]]);
}
