import { CAPACITY_TYPE, ZONE } from '../model/labels.ts';
import type { HostPort, NodeSelectorTerm, Pod } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import type { Requirements } from '../requirements/value-set.ts';
import { ATTACH_PREFIX, buildColumns, type ColumnGroup, type DaemonLoad } from './columns.ts';
import { type Demand, demandOf } from './demand.ts';
import { type PoolVariant, poolVariants } from './launch-space.ts';
import { type NodeRule, NodeRules } from './node-rules.ts';
import { bothTerms, EVERY_NODE, type NodeTerms, nodeTermsOf, termsOf } from './node-terms.ts';
import { PodSelectors } from './selectors.ts';
import { daemonTolerations, type StateNode, stateNodes } from './state-node.ts';
import {
  hasTopology,
  isHostKey,
  markSelf,
  type TopologyTerms,
  topologyTermsOf,
} from './topology-terms.ts';
import { VolumeIndex, type VolumeNeeds } from './volumes.ts';

/**
 * Kinds of preferences, as they are weighed against cost: terms about the zone, terms about the
 * capacity type, other node affinity, PreferNoSchedule taints, and other terms about pods (most of
 * them by hostname).
 */
export const PREFERENCE_KINDS = ['zone', 'capacityType', 'node', 'taint', 'pods'] as const;

export type PreferenceKind = (typeof PREFERENCE_KINDS)[number];

/** The kind of a preference about other pods. */
export function podPreferenceKind(key: string): PreferenceKind {
  if (key === ZONE) return 'zone';
  return key === CAPACITY_TYPE ? 'capacityType' : 'pods';
}

/** A preference that one rule about the node expresses. */
export interface NodePreference {
  readonly kind: PreferenceKind;
  readonly weight: number;
  readonly rule: NodeRule;
}

/** Pods that are equal in everything that decides where they may run. */
export interface PodClass {
  readonly id: number;
  /** In the order of the demand. */
  readonly pods: readonly Pod[];
  readonly rule: NodeRule;
  /** The rule without the volumes' topology: what spread constraints count nodes by. */
  readonly affinityRule: NodeRule;
  /** Per resource of the problem. */
  readonly requests: Float64Array;
  readonly priority: number;
  readonly ports: readonly HostPort[];
  readonly topology: TopologyTerms;
  /** Ids of the selectors that count these pods. */
  readonly matching: readonly number[];
  /** Heaviest first. */
  readonly preferences: readonly NodePreference[];
  /** Everything that the pods would like, whether or not the settings respect it: what is scored. */
  readonly wished: {
    readonly preferences: readonly NodePreference[];
    readonly topology: TopologyTerms;
  };
  readonly volumes: VolumeNeeds;
}

/** A pod that runs, as far as pending pods can notice it. */
export interface RunningPod {
  readonly pod: Pod;
  readonly node: StateNode;
  readonly topology: TopologyTerms;
  readonly matching: readonly number[];
}

/** The scheduling problem with everything resolved, interned and counted. */
export interface Problem {
  readonly settings: SchedulingSettings;
  readonly demand: Demand;
  readonly resources: readonly string[];
  readonly classes: readonly PodClass[];
  readonly running: readonly RunningPod[];
  readonly nodes: readonly StateNode[];
  readonly pools: readonly PoolVariant[];
  readonly groups: readonly ColumnGroup[];
  readonly daemons: readonly DaemonLoad[];
  readonly daemonPorts: readonly { readonly rule: NodeRule; readonly ports: readonly HostPort[] }[];
  readonly selectors: PodSelectors;
  /** Volumes attached to nodes by running pods, by `attach:<driver>`. */
  readonly runningAttachments: ReadonlyMap<StateNode, ReadonlyMap<string, ReadonlySet<string>>>;
  /** Pods that no plan can place, and why. */
  readonly hopeless: ReadonlyMap<Pod, string>;
}

interface Draft {
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
class Classifier {
  readonly rules = new NodeRules();
  readonly drafts: Draft[] = [];
  readonly hopeless = new Map<Pod, string>();
  private readonly bySpec = new Map<object, Map<string, Draft>>();
  private readonly specRules = new Map<object, NodeTerms>();
  private readonly volumes: VolumeIndex;
  private readonly selectors: PodSelectors;

  constructor(volumes: VolumeIndex, selectors: PodSelectors) {
    this.volumes = volumes;
    this.selectors = selectors;
  }

  add(pod: Pod, order: number): void {
    if (pod.spec.hasResourceClaims) {
      this.hopeless.set(pod, 'dynamic resource claims are not supported');
      return;
    }
    let byText = this.bySpec.get(pod.spec);
    if (byText === undefined) {
      byText = new Map();
      this.bySpec.set(pod.spec, byText);
    }
    const volumes = this.volumes.needsOf(pod);
    if (volumes.problem !== undefined) {
      this.hopeless.set(pod, volumes.problem);
      return;
    }
    const text = `${pod.namespace}\n${JSON.stringify(pod.labels)}\n${volumeText(volumes)}`;
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

/** Names of everything that pending pods ask for, in alphabetical order. */
function resourceNames(drafts: readonly Draft[]): readonly string[] {
  const names = new Set<string>();
  const seen = new Set<object>();
  for (const { pods, volumes } of drafts) {
    for (const { driver } of volumes.attachments) names.add(ATTACH_PREFIX + driver);
    const spec = pods[0]?.spec;
    if (spec === undefined || seen.has(spec)) continue;
    seen.add(spec);
    for (const [name, amount] of Object.entries(spec.requests)) if (amount > 0) names.add(name);
  }
  return [...names].sort();
}

function requestsOf(draft: Draft, resources: readonly string[]): Float64Array {
  const requests = draft.pods[0]?.spec.requests ?? {};
  return Float64Array.from(resources, (name) =>
    name.startsWith(ATTACH_PREFIX)
      ? draft.volumes.attachments.filter((each) => ATTACH_PREFIX + each.driver === name).length
      : (requests[name] ?? 0),
  );
}

function keysInPlay(
  conjunctions: readonly Requirements[],
  topologyKeys: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = new Map<string, Set<string>>(topologyKeys.map((key) => [key, new Set<string>()]));
  for (const conjunction of conjunctions) {
    for (const [key, set] of conjunction) {
      const values = keys.get(key) ?? new Set<string>();
      if (!set.complement) for (const value of set.values) values.add(value);
      keys.set(key, values);
    }
  }
  return keys;
}

function topologyKeysOf(all: readonly TopologyTerms[]): readonly string[] {
  const keys = new Set<string>();
  for (const { spreads, affinity, antiAffinity } of all) {
    for (const { key } of [...spreads, ...affinity, ...antiAffinity]) {
      if (!isHostKey(key)) keys.add(key);
    }
  }
  return [...keys].sort();
}

type NamelessClass = Omit<PodClass, 'id' | 'pods'>;

function classOf(
  draft: Draft,
  resources: readonly string[],
  selectors: PodSelectors,
  rules: NodeRules,
  respects: boolean,
): NamelessClass {
  const pod = draft.pods[0] as Pod;
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
    wished: { preferences, topology },
    volumes: draft.volumes,
  };
}

/** All that tells a class from others. */
function classText({ requests, priority, matching, wished, ...rest }: NamelessClass): string {
  const { rule, affinityRule, ports, volumes } = rest;
  const { topology, preferences } = wished;
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
    JSON.stringify(ports),
    matching.join(),
    preferences.map((each) => `${each.kind}/${each.weight}/${each.rule.id}`).join(),
    spreads.join(),
    affinity(topology.affinity),
    affinity(topology.antiAffinity),
    volumeText(volumes),
  ].join('|');
}

/** Drafts that differ only in labels and fields that decide nothing become one class. */
function classesOf(
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
    pods.map((pod, index) => ({ pod, at: order[index] ?? 0 })),
  );
  return all.sort((a, b) => a.at - b.at).map(({ pod }) => pod);
}

function onlyRequired(terms: TopologyTerms): TopologyTerms {
  return {
    spreads: terms.spreads.filter((each) => each.isHard),
    affinity: terms.affinity.filter((each) => each.weight === 0),
    antiAffinity: terms.antiAffinity.filter((each) => each.weight === 0),
  };
}

/** Reads a snapshot (its instance types already overlaid) into a problem. */
export function compileProblem(snapshot: ClusterSnapshot, settings: SchedulingSettings): Problem {
  const nodes = stateNodes(snapshot);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const leaving = new Set(nodes.filter((node) => node.isLeaving).map((node) => node.name));
  const demand = demandOf(snapshot, leaving);
  const namespaces = new Set(snapshot.pods.map((pod) => pod.namespace));
  const selectors = new PodSelectors(snapshot.namespaces, [...namespaces].sort());
  const volumeIndex = new VolumeIndex(snapshot);
  const classifier = new Classifier(volumeIndex, selectors);
  for (const [order, pod] of demand.pods.entries()) classifier.add(pod, order);
  const { drafts, rules } = classifier;
  const resources = resourceNames(drafts);
  const runningTerms = demand.running
    .filter((pod) => byName.has(pod.nodeName ?? ''))
    .map((pod) => ({ pod, terms: topologyTermsOf(pod, selectors) }));
  const respects = settings.preferencePolicy === 'Respect';
  const classes = classesOf(drafts, resources, selectors, rules, respects);
  const daemonSets = [...snapshot.daemonSets].sort((a, b) => compareNames(a, b));
  const daemons = daemonSets.map((each) => ({
    rule: rules.intern(nodeTermsOf(each.podSpec), daemonTolerations(each)),
    requests: Float64Array.from(resources, (name) => each.podSpec.requests[name] ?? 0),
    total: each.podSpec.requests,
    ports: each.podSpec.hostPorts,
  }));
  const topologyKeys = topologyKeysOf([
    ...classes.map((each) => each.topology),
    ...runningTerms.map(({ terms }) => onlyRequired(terms)),
  ]);
  const pools = poolVariants(
    snapshot.nodePools,
    snapshot.instanceTypes,
    keysInPlay(rules.conjunctions, topologyKeys),
  );
  const groups = buildColumns({
    pools,
    rules: rules.all,
    conjunctions: rules.conjunctions,
    daemons,
    resources,
    topologyKeys,
    reservedCapacity: settings.reservedCapacity,
  });
  return {
    settings,
    demand,
    resources,
    classes,
    running: runningTerms.map(({ pod, terms }) => {
      const matching = selectors.matching(pod.namespace, pod.labels);
      const node = byName.get(pod.nodeName ?? '') as StateNode;
      return {
        pod,
        node,
        topology: hasTopology(pod) ? markSelf(terms, matching) : terms,
        matching,
      };
    }),
    nodes: nodes.filter((node) => !node.isLeaving),
    pools,
    groups,
    daemons,
    daemonPorts: daemons.filter((each) => each.ports.length > 0),
    selectors,
    runningAttachments: attachmentsOf(demand.running, byName, volumeIndex),
    hopeless: classifier.hopeless,
  };
}

function attachmentsOf(
  running: readonly Pod[],
  nodes: ReadonlyMap<string, StateNode>,
  index: VolumeIndex,
): ReadonlyMap<StateNode, ReadonlyMap<string, ReadonlySet<string>>> {
  const attached = new Map<StateNode, Map<string, Set<string>>>();
  for (const pod of running) {
    const node = nodes.get(pod.nodeName ?? '');
    if (node === undefined || pod.spec.volumes.length === 0) continue;
    const byDriver = attached.get(node) ?? new Map<string, Set<string>>();
    attached.set(node, byDriver);
    for (const { driver, volume } of index.needsOf(pod).attachments) {
      const name = ATTACH_PREFIX + driver;
      byDriver.set(name, (byDriver.get(name) ?? new Set<string>()).add(volume));
    }
  }
  return attached;
}

function compareNames(
  a: { readonly namespace: string; readonly name: string },
  b: { readonly namespace: string; readonly name: string },
): number {
  return `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1;
}
