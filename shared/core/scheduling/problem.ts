import { CAPACITY_TYPE, ZONE } from '../model/labels.ts';
import type { HostPort, Pod } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import type { Requirements } from '../requirements/value-set.ts';
import { Classifier, classesOf, onlyRequired, resourceNames } from './classes.ts';
import { ATTACH_PREFIX, buildColumns, type ColumnGroup, type DaemonLoad } from './columns.ts';
import { type Demand, demandOf } from './demand.ts';
import { type PoolVariant, poolVariants } from './launch-space.ts';
import { PoolLaunches } from './min-values.ts';
import type { NodeRule } from './node-rules.ts';
import { nodeTermsOf } from './node-terms.ts';
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
  readonly launches: PoolLaunches;
  readonly daemons: readonly DaemonLoad[];
  readonly daemonPorts: readonly { readonly rule: NodeRule; readonly ports: readonly HostPort[] }[];
  readonly selectors: PodSelectors;
  /** Volumes attached to nodes by running pods, by `attach:<driver>`. */
  readonly runningAttachments: ReadonlyMap<StateNode, ReadonlyMap<string, ReadonlySet<string>>>;
  /** Pods that no plan can place, and why. */
  readonly hopeless: ReadonlyMap<Pod, string>;
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
    launches: new PoolLaunches(groups),
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
