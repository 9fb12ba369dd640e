import { type Reason, reason } from '../../explain/reason.ts';
import { missing } from '../../missing.ts';
import {
  alikeText,
  type LabelSelector,
  type NodeSelectorTerm,
  type Pod,
  type PodSpec,
} from '../../model/pod.ts';
import type { Resources } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';

/** Pods that ask for no more than this are always planned; few ask for half of it. */
const ORDINARY_MAX = 100;
/** So much a plan takes of pods that ask for more, together: each demand costs time and memory. */
const TOTAL_MAX = 5_000;
/** Of these a thousand cost as little as ten others. */
const CHEAP = 100;
/** Names of resources that a plan knows although nothing offers them. */
const UNOFFERED_MAX = 2_000;

function keysOf(terms: readonly NodeSelectorTerm[]): number {
  return terms.reduce(
    (sum, { matchExpressions, matchFields }) =>
      sum + 1 + matchExpressions.length + matchFields.length,
    0,
  );
}

function valuesOf(terms: readonly NodeSelectorTerm[]): number {
  return terms
    .flatMap(({ matchExpressions }) => matchExpressions)
    .reduce((sum, { values }) => sum + values.length, 0);
}

function selectorDemands(selector: LabelSelector | undefined): number {
  if (selector === undefined) return 1;
  const { matchLabels, matchExpressions } = selector;
  return 1 + Object.keys(matchLabels).length + matchExpressions.length;
}

/** How much a pod asks for: labels of nodes, terms, resources, and demands on other pods. */
export function demandsOf(spec: PodSpec): number {
  const preferred = spec.preferredNodeAffinity.map(({ term }) => term);
  const terms = [...(spec.requiredNodeAffinity ?? []), ...preferred];
  const soft = [...spec.preferredPodAffinity, ...spec.preferredPodAntiAffinity];
  const near = [...spec.podAffinity, ...spec.podAntiAffinity, ...soft.map(({ term }) => term)];
  const others = [
    ...spec.topologySpread.map((each) => selectorDemands(each.labelSelector)),
    ...near.map((each) => selectorDemands(each.labelSelector)),
  ];
  const cheap = spec.hostPorts.length + spec.tolerations.length + valuesOf(terms);
  return (
    Object.keys(spec.nodeSelector).length +
    keysOf(terms) +
    others.reduce((sum, each) => sum + each, 0) +
    Object.keys(spec.requests).length +
    spec.volumes.length +
    Math.floor(cheap / CHEAP)
  );
}

/**
 * Pods that a plan does not take, because they ask for too much: whoever may create pods could
 * hold up everybody's nodes with a few that each ask for thousands of labels. Those that ask for
 * least are taken first, so that none of them keeps an ordinary pod waiting.
 */
export function tooComplex(pods: readonly Pod[]): ReadonlyMap<Pod, Reason> {
  const demandsBySpec = new Map<PodSpec, number>();
  const complex = new Map<PodSpec, Map<string, Pod[]>>();
  for (const pod of pods) {
    const demands = demandsBySpec.get(pod.spec) ?? demandsOf(pod.spec);
    demandsBySpec.set(pod.spec, demands);
    if (demands <= ORDINARY_MAX) continue;
    const equal = complex.get(pod.spec) ?? new Map<string, Pod[]>();
    complex.set(pod.spec, equal);
    const text = alikeText(pod);
    const same = equal.get(text);
    if (same === undefined) equal.set(text, [pod]);
    else same.push(pod);
  }
  const refused = new Map<Pod, Reason>();
  let total = 0;
  const demandsOfSpec = (spec: PodSpec): number => demandsBySpec.get(spec) ?? 0;
  // Between equals the order of the pods decides.
  const sorted = [...complex].sort(([a], [b]) => demandsOfSpec(a) - demandsOfSpec(b));
  for (const [spec, equal] of sorted) {
    const demands = demandsOfSpec(spec);
    for (const same of equal.values()) {
      total += demands;
      if (total <= TOTAL_MAX) continue;
      const why = reason('pod-too-complex', { demands, ordinary: ORDINARY_MAX, most: TOTAL_MAX });
      for (const pod of same) refused.set(pod, why);
    }
  }
  return refused;
}

/** Names of all that instance types and nodes offer. */
function offeredNames({ instanceTypes, nodes }: ClusterSnapshot): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (resources: Resources = {}): void => {
    for (const name of Object.keys(resources)) names.add(name);
  };
  for (const { capacity, offerings } of new Set([...instanceTypes.values()].flat())) {
    add(capacity);
    for (const { capacityOverride } of offerings) add(capacityOverride);
  }
  for (const { allocatable } of nodes) add(allocatable);
  return names;
}

const requestedBy = ({ requests }: PodSpec): readonly (readonly [string, number])[] =>
  Object.entries(requests).filter(([, amount]) => amount > 0);

/**
 * Pods that a plan does not take, because they request resources of too many names that nothing
 * offers: every name makes every class of pods larger, and none of these pods gets a node. The
 * names that are requested first are planned, so that all that keeps a pod waiting is said.
 */
export function askingInVain(
  pods: readonly Pod[],
  snapshot: ClusterSnapshot,
): ReadonlyMap<Pod, Reason> {
  const specs = new Set(pods.map(({ spec }) => spec));
  const all = new Set<string>();
  for (const spec of specs) for (const [name] of requestedBy(spec)) all.add(name);
  if (all.size <= UNOFFERED_MAX) return new Map();
  const offered = offeredNames(snapshot);
  const known = new Set<string>();
  const vain = new Map<PodSpec, Reason>();
  for (const spec of specs) {
    const unoffered = requestedBy(spec).filter(([name]) => !offered.has(name) && !known.has(name));
    if (known.size + unoffered.length <= UNOFFERED_MAX) {
      for (const [name] of unoffered) known.add(name);
      continue;
    }
    const [resource] = unoffered[0] ?? missing(0);
    vain.set(spec, reason('resources-not-offered', { resource, most: UNOFFERED_MAX }));
  }
  return new Map(
    pods.flatMap((pod) => {
      const why = vain.get(pod.spec);
      return why === undefined ? [] : [[pod, why] as const];
    }),
  );
}
