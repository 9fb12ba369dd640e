import { type Reason, reason } from '../../explain/reason.ts';
import { missing } from '../../missing.ts';
import type { DaemonSet } from '../../model/cluster.ts';
import { CAPACITY_TYPE, ZONE } from '../../model/labels.ts';
import { alikeText, type NodeSelectorTerm, type Pod } from '../../model/pod.ts';
import { amountOf } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { askingInVain, tooComplex } from './complexity.ts';
import { ATTACH_PREFIX } from './launch-options.ts';
import { type NodeRule, NodeRules } from './node-rules.ts';
import { bothTerms, EVERY_NODE, type NodeTerms, nodeTermsOf, termsOf } from './node-terms.ts';
import type { NodePreference, PodClass, PreferenceKind } from './problem.ts';
import type { PodSelectors } from './selectors.ts';
import { markSelf, type TopologyTerms, topologyTermsOf } from './topology-terms.ts';
import type { VolumeIndex, VolumeNeeds } from './volumes.ts';

/** Pods with one spec object, labels and namespace. */
export interface Draft {
  readonly pods: Pod[];
  /** The pods' places in the demand. */
  readonly order: number[];
  readonly rule: NodeRule;
  readonly affinityRule: NodeRule;
  readonly volumes: VolumeNeeds;
  readonly terms: TopologyTerms;
}

function nodePreferences(pod: Pod, rules: NodeRules): readonly NodePreference[] {
  const preferences = pod.spec.preferredNodeAffinity.flatMap(({ weight, term }) => {
    const terms = termsOf([term]);
    const kind = kindOfTerm(term);
    return terms.length === 0 ? [] : [{ kind, weight, rule: rules.intern(terms, undefined) }];
  });
  const soft: NodePreference = {
    kind: 'taint',
    weight: 100,
    rule: rules.intern(EVERY_NODE, pod.spec.tolerations, true),
  };
  return [...preferences, soft].sort((a, b) => b.weight - a.weight || a.rule.id - b.rule.id);
}

function kindOfTerm(term: NodeSelectorTerm): PreferenceKind {
  const keys = term.matchExpressions.map((each) => each.key);
  if (keys.includes(ZONE)) return 'zone';
  return keys.includes(CAPACITY_TYPE) ? 'capacityType' : 'node';
}

/** Groups the demand's pods; a shared spec object, equal labels and namespace make them equal. */
export class Classifier {
  readonly rules = new NodeRules();
  readonly drafts: Draft[] = [];
  readonly unplaceable = new Map<Pod, readonly Reason[]>();
  private readonly bySpec = new Map<object, Map<string, Draft>>();
  private readonly specRules = new Map<object, NodeTerms>();
  private readonly volumes: VolumeIndex;
  private readonly selectors: PodSelectors;

  constructor(volumes: VolumeIndex, selectors: PodSelectors) {
    this.volumes = volumes;
    this.selectors = selectors;
  }

  addAll(pods: readonly Pod[], snapshot: ClusterSnapshot): void {
    const refused = new Map([...askingInVain(pods, snapshot), ...tooComplex(pods)]);
    for (const [order, pod] of pods.entries()) {
      const why = refused.get(pod);
      if (why === undefined) this.add(pod, order);
      else this.unplaceable.set(pod, [why]);
    }
  }

  private add(pod: Pod, order: number): void {
    if (pod.spec.unreadable !== undefined) {
      this.unplaceable.set(pod, [reason('pod-unreadable', { fault: pod.spec.unreadable })]);
      return;
    }
    let byText = this.bySpec.get(pod.spec);
    if (byText === undefined) {
      byText = new Map();
      this.bySpec.set(pod.spec, byText);
    }
    const volumes = this.volumes.needsOf(pod);
    const claims = pod.spec.hasResourceClaims ? [reason('pod-with-resource-claims', {})] : [];
    const faults = [...claims, ...volumes.problems];
    if (faults.length > 0) {
      this.unplaceable.set(pod, faults);
      return;
    }
    const text = `${alikeText(pod)}\n${volumeText(volumes)}`;
    const known = byText.get(text);
    if (known !== undefined) {
      known.pods.push(pod);
      known.order.push(order);
      return;
    }
    const terms = this.termsOf(pod);
    const { tolerations } = pod.spec;
    const affinityRule = this.rules.intern(terms, tolerations);
    const draft: Draft = {
      pods: [pod],
      order: [order],
      rule:
        volumes.terms === EVERY_NODE
          ? affinityRule
          : this.rules.intern(bothTerms(terms, volumes.terms), tolerations),
      affinityRule,
      volumes,
      terms: topologyTermsOf(pod, this.selectors),
    };
    byText.set(text, draft);
    this.drafts.push(draft);
  }

  private termsOf(pod: Pod): NodeTerms {
    const known = this.specRules.get(pod.spec);
    if (known !== undefined) return known;
    const terms = nodeTermsOf(pod.spec);
    this.specRules.set(pod.spec, terms);
    return terms;
  }
}

function volumeText(volumes: VolumeNeeds): string {
  if (volumes.attachments.length === 0 && volumes.terms === EVERY_NODE) return '';
  const terms = volumes.terms.map((term) =>
    [...term].map(([key, set]) => [key, set.complement, [...set.values].sort()]),
  );
  return JSON.stringify([terms, volumes.attachments.map((each) => each.driver).sort()]);
}

/** Names of everything that pending pods and DaemonSets ask for, in alphabetical order. */
export function resourceNames(
  drafts: readonly Draft[],
  daemonSets: readonly DaemonSet[],
): readonly string[] {
  const names = new Set<string>();
  const seen = new Set<object>();
  for (const { pods, volumes } of drafts) {
    for (const { driver } of volumes.attachments) names.add(ATTACH_PREFIX + driver);
    const spec = pods[0]?.spec;
    if (spec === undefined || seen.has(spec)) continue;
    seen.add(spec);
    for (const [name, amount] of Object.entries(spec.requests)) if (amount > 0) names.add(name);
  }
  for (const { podSpec } of daemonSets) {
    for (const [name, amount] of Object.entries(podSpec.requests)) if (amount > 0) names.add(name);
  }
  return [...names].sort();
}

function requestsOf(draft: Draft, resources: readonly string[]): Float64Array {
  const requests = draft.pods[0]?.spec.requests ?? {};
  return Float64Array.from(resources, (name) =>
    name.startsWith(ATTACH_PREFIX)
      ? draft.volumes.attachments.filter((each) => ATTACH_PREFIX + each.driver === name).length
      : amountOf(requests, name),
  );
}

type NamelessClass = Omit<PodClass, 'id' | 'pods'>;

function classOf(
  draft: Draft,
  resources: readonly string[],
  selectors: PodSelectors,
  rules: NodeRules,
  respects: boolean,
): NamelessClass {
  const pod = draft.pods[0] ?? missing(0);
  const matching = selectors.matching(pod.namespace, pod.labels);
  const preferences = nodePreferences(pod, rules);
  const topology = markSelf(draft.terms, matching);
  return {
    rule: draft.rule,
    affinityRule: draft.affinityRule,
    requests: requestsOf(draft, resources),
    priority: pod.spec.priority,
    ports: pod.spec.hostPorts,
    topology: respects ? topology : onlyRequired(topology),
    matching,
    preferences: respects ? preferences : [],
    scored: { preferences, topology },
    volumes: draft.volumes,
  };
}

/** All that tells a class from others. */
function classText({ requests, priority, matching, scored, ...rest }: NamelessClass): string {
  const { rule, affinityRule, ports, volumes } = rest;
  const { topology, preferences } = scored;
  const affinity = (terms: TopologyTerms['affinity']) =>
    terms.map(({ key, selector, weight }) => `${key}/${selector.id}/${weight}`).join();
  const spreads = topology.spreads.map(
    ({ key, selector, maxSkew, minDomains, isHard, honorAffinity, honorTaints }) =>
      [key, selector.id, maxSkew, minDomains ?? '', isHard, honorAffinity, honorTaints].join('/'),
  );
  return [
    rule.id,
    affinityRule.id,
    requests.join(),
    priority,
    ports
      .map((port) => JSON.stringify(port))
      .sort()
      .join(),
    matching.join(),
    preferences.map((each) => `${each.kind}/${each.weight}/${each.rule.id}`).join(),
    spreads.join(),
    affinity(topology.affinity),
    affinity(topology.antiAffinity),
    volumeText(volumes),
  ].join('|');
}

/** Drafts that differ only in labels and fields that decide nothing become one class. */
export function classesOf(
  drafts: readonly Draft[],
  resources: readonly string[],
  selectors: PodSelectors,
  rules: NodeRules,
  respects: boolean,
): readonly PodClass[] {
  const merged = new Map<string, { readonly draft: NamelessClass; readonly from: Draft[] }>();
  for (const draft of drafts) {
    const added = classOf(draft, resources, selectors, rules, respects);
    const text = classText(added);
    const known = merged.get(text);
    if (known === undefined) merged.set(text, { draft: added, from: [draft] });
    else known.from.push(draft);
  }
  return [...merged.values()].map(({ draft, from }, id) => ({
    ...draft,
    id,
    pods: podsOf(from),
  }));
}

/** The drafts' pods in the order of the demand. */
function podsOf(drafts: readonly Draft[]): readonly Pod[] {
  const [only] = drafts;
  if (drafts.length === 1 && only !== undefined) return only.pods;
  const all = drafts.flatMap(({ pods, order }) =>
    pods.map((pod, index) => ({ pod, at: order[index] ?? missing(index) })),
  );
  return all.sort((a, b) => a.at - b.at).map(({ pod }) => pod);
}

/** The terms that are rules, not preferences. */
export function onlyRequired(terms: TopologyTerms): TopologyTerms {
  return {
    spreads: terms.spreads.filter((each) => each.isHard),
    affinity: terms.affinity.filter((each) => each.weight === 0),
    antiAffinity: terms.antiAffinity.filter((each) => each.weight === 0),
  };
}
