import type { ClaimTerms, Decision, NodeTerms, PodTerms } from '../plan/decision.ts';
import { priceText } from '../price-text.ts';

/** Sums of prices differ in their last digits. */
const PRICE_MIN = 1e-9;

/** Names shown of a list that is too long to print. */
const NAMES_MAX = 5;

/** Names with commas, and how many more there are. */
export function listed(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return `${names.slice(0, NAMES_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

type Requirement = ClaimTerms['requirements'][number];

/** Whether a node that is as the requirement says now is also as was approved. */
function isWithin(approved: Requirement | undefined, now: Requirement | undefined): boolean {
  if (JSON.stringify(approved) === JSON.stringify(now)) return true;
  if (approved?.operator !== 'In' || now?.operator !== 'In') return false;
  const known = new Set(approved.values);
  return approved.minValues === now.minValues && now.values.every((each) => known.has(each));
}

function requirementChanges(approved: ClaimTerms, now: ClaimTerms): readonly string[] {
  const keys = new Set([...approved.requirements, ...now.requirements].map(({ key }) => key));
  return [...keys].flatMap((key) => {
    const of = (terms: ClaimTerms) => terms.requirements.filter((each) => each.key === key);
    const [before, after] = [of(approved), of(now)];
    const isSame =
      before.length === after.length && before.every((each, at) => isWithin(each, after[at]));
    if (isSame) return [];
    const news = after.flatMap(({ values }) => values);
    const known = new Set(before.flatMap(({ values }) => values));
    const added = news.filter((value) => !known.has(value));
    return [
      added.length > 0
        ? `its NodeClaim would also allow ${key} ${listed(added)}`
        : `its NodeClaim has other requirements for ${key}`,
    ];
  });
}

/** What of a claim has to be as it was approved, with the words for it. */
const FIELDS: readonly (readonly [keyof ClaimTerms, string])[] = [
  ['nodePool', 'has another NodePool'],
  ['nodeClass', 'has another EC2NodeClass'],
  ['nodeClassHash', 'would use another spec of its EC2NodeClass'],
  ['images', 'would use other images'],
  ['requests', 'has other requests'],
  ['labels', 'has other labels'],
  ['annotations', 'has other annotations'],
  ['taints', 'has other taints'],
  ['startupTaints', 'has other startup taints'],
  ['expireAfterSeconds', 'has another expireAfter'],
  ['terminationGracePeriodSeconds', 'has another terminationGracePeriod'],
];

/** JSON in one order of keys. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** What is dearer than was approved, or may be; what is cheaper is no change. */
function priceChanges(
  approved: ClaimTerms['chosen'],
  now: ClaimTerms['chosen'],
): readonly string[] {
  if (now === null) {
    return approved === null ? [] : ['its instance type is no longer known'];
  }
  const costs = `the price is now ${priceText(now.pricePerHour)}/h (${now.type} in ${now.zone})`;
  if (approved === null) return [`${costs}; none was approved`];
  const isDearer = now.pricePerHour > approved.pricePerHour + PRICE_MIN;
  return isDearer ? [`${costs}; approved: ${priceText(approved.pricePerHour)}/h`] : [];
}

/** What makes a claim another one than was approved, or a dearer one; cheaper ones are the same. */
export function claimChanges(approved: ClaimTerms, now: ClaimTerms): readonly string[] {
  const fields = FIELDS.filter(([field]) => sorted(approved[field]) !== sorted(now[field]));
  return [
    ...fields.map(([, words]) => `its NodeClaim ${words}`),
    ...requirementChanges(approved, now),
    ...priceChanges(approved.chosen, now.chosen),
  ];
}

function podChanges(where: string, before: readonly PodTerms[], now: readonly PodTerms[]) {
  const missing = (a: readonly PodTerms[], b: readonly PodTerms[]): readonly string[] => {
    const uids = new Set(b.map(({ uid }) => uid));
    return a.filter(({ uid }) => !uids.has(uid)).map(({ pod }) => pod);
  };
  const [gone, come] = [missing(before, now), missing(now, before)];
  return [
    ...(gone.length === 0 ? [] : [`${where}pods gone: ${listed(gone)}`]),
    ...(come.length === 0 ? [] : [`${where}new pods: ${listed(come)}`]),
  ];
}

/** Pods that have come to a node or have gone from it since. */
export function nodeChanges(approved: NodeTerms, now: NodeTerms | undefined): readonly string[] {
  const { nodeClaim, pods } = approved;
  return now === undefined ? [] : podChanges(`NodeClaim ${nodeClaim}: `, pods, now.pods);
}

/** Why a decision that is made again is not the one that was approved. */
export function decisionChanges(approved: Decision, now: Decision): readonly string[] {
  const { claims, nodes } = approved;
  const byUid = new Map(now.nodes.map((node) => [node.uid, node]));
  const others = now.nodes.filter(({ uid }) => !nodes.some((each) => each.uid === uid));
  const lost = nodes.filter(({ uid }) => !byUid.has(uid));
  return [
    ...podChanges('', approved.pods, now.pods),
    ...nodes.flatMap((node) => nodeChanges(node, byUid.get(node.uid))),
    ...others.map(({ nodeClaim }) => `NodeClaim ${nodeClaim} would be disrupted too`),
    ...lost.map(({ nodeClaim }) => `NodeClaim ${nodeClaim} would no longer be disrupted`),
    ...(claims.length === now.claims.length
      ? claims.flatMap((claim, at) => {
          const other = now.claims[at];
          return other === undefined ? [] : claimChanges(claim, other);
        })
      : [`it would create ${now.claims.length} NodeClaims; approved: ${claims.length}`]),
  ];
}
