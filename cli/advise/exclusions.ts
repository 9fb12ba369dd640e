import {
  ARCH,
  CAPACITY_TYPE,
  INSTANCE_LABELS,
  INSTANCE_TYPE,
  ZONE,
  ZONE_ID,
} from '../../shared/core/model/labels.ts';
import type { PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { RequirementExpression } from '../../shared/core/model/requirement.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { counted } from '../words.ts';
import type { Advice, AdviceKind } from './advice.ts';
import { chosenOf, isExcluded, launchesText, requirementText } from './offerings.ts';
import { type Changed, type Replanned, withPool } from './replanned.ts';

/** Requirements of a NodePool that exclude something of one kind. */
interface Exclusion {
  readonly kind: AdviceKind;
  readonly dropped: readonly RequirementExpression[];
}

const TYPE_KEYS: ReadonlySet<string> = new Set([INSTANCE_TYPE, ...Object.values(INSTANCE_LABELS)]);

/** What people should know before they allow it. */
const REMARKS: Partial<Readonly<Record<AdviceKind, string>>> = {
  'capacity-types': 'Spot instances can be interrupted with a warning of two minutes.',
  architecture: 'The snapshot does not say whether the images of the pods are built for arm64.',
};

/** Requirements about types: each key alone, and all of them. */
function typeExclusions(all: readonly RequirementExpression[]): readonly Exclusion[] {
  const own = all.filter(({ key }) => TYPE_KEYS.has(key));
  const keys = [...new Set(own.map(({ key }) => key))].sort();
  const alone = keys.map((name) => own.filter(({ key }) => key === name));
  const together = keys.length > 1 ? [own] : [];
  return [...alone, ...together].map((dropped) => ({ kind: 'types', dropped }));
}

function exclusionsOf({ template }: NodePool): readonly Exclusion[] {
  const all = template.requirements;
  const of = (kind: AdviceKind, ...keys: readonly string[]): Exclusion => {
    return { kind, dropped: all.filter(({ key }) => keys.includes(key)) };
  };
  return [
    ...typeExclusions(all),
    of('zones', ZONE, ZONE_ID),
    of('capacity-types', CAPACITY_TYPE),
    of('architecture', ARCH),
  ];
}

/** Whether there is an offering that only these requirements keep the NodePool from. */
function hasMore(snapshot: ClusterSnapshot, pool: NodePool, { dropped }: Exclusion): boolean {
  const others = pool.template.requirements.filter((each) => !dropped.includes(each));
  return (snapshot.instanceTypes.get(pool.name) ?? []).some((type) =>
    type.offerings.some(
      (offering) =>
        offering.available &&
        isExcluded(dropped, type, offering) &&
        !isExcluded(others, type, offering),
    ),
  );
}

/** Architectures of the types that the NodePool allows: other types are no other architecture. */
function architectures(snapshot: ClusterSnapshot, pool: NodePool): readonly string[] {
  const types = snapshot.instanceTypes.get(pool.name) ?? [];
  const allowed = types.filter((type) =>
    type.offerings.some((each) => !isExcluded(pool.template.requirements, type, each)),
  );
  return [...new Set(allowed.flatMap(({ labels }) => labels[ARCH] ?? []))].sort();
}

/** The NodePool without the requirements. */
function relaxed(
  snapshot: ClusterSnapshot,
  pool: NodePool,
  { kind, dropped }: Exclusion,
): NodePool {
  const rest = pool.template.requirements.filter((each) => !dropped.includes(each));
  const values = kind === 'types' ? architectures(snapshot, pool) : [];
  const kept: readonly RequirementExpression[] =
    values.length > 0 ? [{ key: ARCH, operator: 'In', values }] : [];
  return { ...pool, template: { ...pool.template, requirements: [...rest, ...kept] } };
}

/** The nodes of a plan that the NodePool could not have had. */
function fresh(
  snapshot: ClusterSnapshot,
  pool: NodePool,
  { dropped }: Exclusion,
  { claims }: Changed,
) {
  return claims.filter((claim) => {
    const chosen = chosenOf(snapshot, claim);
    if (claim.nodePool !== pool.name || chosen === undefined) return false;
    return isExcluded(dropped, chosen.type, chosen.offering);
  });
}

/** Types of this category earn CPU credits while they idle. */
const BURSTABLE = 't';
const BURSTABLE_REMARK =
  'Some of these types are burstable: more CPU than their baseline is slowed or costs extra.';

function remarksOn(
  { snapshot }: Replanned,
  { kind }: Exclusion,
  added: readonly PlannedNodeClaim[],
): readonly string[] {
  const isBurstable = added.some((claim) =>
    chosenOf(snapshot, claim)?.type.labels[INSTANCE_LABELS.category]?.includes(BURSTABLE),
  );
  const remark = REMARKS[kind];
  return [
    ...(remark === undefined ? [] : [remark]),
    ...(kind === 'types' && isBurstable ? [BURSTABLE_REMARK] : []),
  ];
}

function adviceOn(
  replanned: Replanned,
  pool: NodePool,
  exclusion: Exclusion,
): (Advice & { readonly dropped: number }) | undefined {
  const { kind, dropped } = exclusion;
  if (dropped.length === 0 || !hasMore(replanned.snapshot, pool, exclusion)) return undefined;
  const found = replanned.saving((snapshot) =>
    withPool(snapshot, pool.name, (each) => relaxed(snapshot, each, exclusion)),
  );
  if (found === undefined) return undefined;
  const added = fresh(replanned.snapshot, pool, exclusion, found);
  if (added.length === 0) return undefined;
  const { before, after, usdPerMonth } = found;
  const texts = dropped.map(requirementText).join(' and ');
  const evidence = [
    `Planned anew, the pods run on ${counted(after.nodes, 'node')}, of which the NodePool ` +
      `excludes ${added.length.toLocaleString('en')} today: ${launchesText(added)}.`,
    ...remarksOn(replanned, exclusion, added),
  ];
  const change = `Remove or widen the requirement ${texts}.`;
  const object = `NodePool/${pool.name}`;
  const basis = 'planned-anew';
  const amounts = { usdPerMonth, basis, before, after } as const;
  return { kind, object, change, ...amounts, evidence, dropped: dropped.length };
}

/** What NodePools exclude that would be cheaper; of each kind the change that saves most. */
export function exclusionAdvice(
  replanned: Replanned,
  say: (what: string) => void,
): readonly Advice[] {
  const { nodePools } = replanned.snapshot;
  return nodePools
    .filter(({ replicas }) => replicas === undefined)
    .flatMap((pool) => {
      const found = exclusionsOf(pool).flatMap((each) => {
        say(`NodePool ${pool.name}: ${each.kind}`);
        return adviceOn(replanned, pool, each) ?? [];
      });
      return [...Map.groupBy(found, ({ kind }) => kind).values()].flatMap((own) => {
        const [best] = own.toSorted(
          (a, b) => b.usdPerMonth - a.usdPerMonth || a.dropped - b.dropped,
        );
        if (best === undefined) return [];
        const { dropped: _, ...advice } = best;
        return [advice];
      });
    });
}
