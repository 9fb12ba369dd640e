import { allowsSome, typeValues } from '../../shared/core/instance-types/type-requirements.ts';
import type { InstanceType, Offering } from '../../shared/core/model/instance-type.ts';
import { CAPACITY_TYPE, ZONE, ZONE_ID } from '../../shared/core/model/labels.ts';
import type { PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import type { RequirementExpression } from '../../shared/core/model/requirement.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { requirementsOf } from '../../shared/core/requirements/value-set.ts';

type Place = Pick<Offering, 'zone' | 'zoneId' | 'capacityType'>;

function valuesOf(type: InstanceType, place: Place, key: string): readonly string[] | undefined {
  if (key === ZONE) return [place.zone];
  if (key === ZONE_ID) return place.zoneId === undefined ? undefined : [place.zoneId];
  if (key === CAPACITY_TYPE) return [place.capacityType];
  return typeValues(type, key);
}

/** Whether the requirements exclude a node of the type there; what it does not describe is open. */
export function isExcluded(
  expressions: readonly RequirementExpression[],
  type: InstanceType,
  place: Place,
): boolean {
  return [...requirementsOf(expressions)].some(([key, set]) => {
    const values = valuesOf(type, place, key);
    return values !== undefined && !allowsSome(set, values);
  });
}

/** The claim's instance type and offering as they were chosen. */
export function chosenOf(
  { instanceTypes }: ClusterSnapshot,
  { nodePool, chosen }: PlannedNodeClaim,
): { readonly type: InstanceType; readonly offering: Offering } | undefined {
  const type = instanceTypes.get(nodePool)?.find(({ name }) => name === chosen.type);
  const offering = type?.offerings.find(
    (each) =>
      each.zone === chosen.zone &&
      each.capacityType === chosen.capacityType &&
      each.reservation?.id === chosen.reservationId,
  );
  return type === undefined || offering === undefined ? undefined : { type, offering };
}

/** `karpenter.sh/capacity-type In [on-demand]`, as people read a requirement. */
export function requirementText({ key, operator, values }: RequirementExpression): string {
  if (operator === 'Exists' || operator === 'DoesNotExist') return `${key} ${operator}`;
  const all = operator === 'In' || operator === 'NotIn' ? `[${values.join(', ')}]` : values[0];
  return `${key} ${operator} ${all ?? ''}`;
}

/** `2 × m6g.large spot in us-east-1a`, the most first. */
export function launchesText(claims: readonly PlannedNodeClaim[]): string {
  const texts = claims.map(
    ({ chosen }) => `${chosen.type} ${chosen.capacityType} in ${chosen.zone}`,
  );
  const counts = [...Map.groupBy(texts, (text) => text)].map(([text, own]) => ({
    text,
    count: own.length,
  }));
  const SHOWN = 3;
  const order = counts.sort((a, b) => b.count - a.count || (a.text < b.text ? -1 : 1));
  const shown = order
    .slice(0, SHOWN)
    .map(({ text, count }) => `${count.toLocaleString('en')} × ${text}`);
  return order.length > SHOWN ? `${shown.join(', ')} and others` : shown.join(', ');
}
