import { groupRooms } from '../../limit-groups/group-room.ts';
import { missing } from '../../missing.ts';
import type { Pod } from '../../model/pod.ts';
import { amountOf } from '../../model/resources.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { Classifier, classesOf, onlyRequired, resourceNames } from './classes.ts';
import { effectiveDaemonSets } from './daemon-sets.ts';
import { type Demand, demandOf } from './demand.ts';
import { ATTACH_PREFIX } from './launch-options.ts';
import { isDomainKey } from './launch-space.ts';
import { launchesOf } from './launches.ts';
import { nodeTermsOf } from './node-terms.ts';
import { type PodIndex, podIndexOf } from './pod-index.ts';
import { roomOfPreemptors } from './preemptions.ts';
import type { Problem } from './problem.ts';
import { PodSelectors } from './selectors.ts';
import { daemonTolerations, type StateNode, stateNodes } from './state-node.ts';
import {
  isHostKey,
  markSelf,
  NO_TOPOLOGY,
  requiredOf,
  type TopologyTerms,
  topologyTermsOf,
} from './topology-terms.ts';
import { VolumeIndex } from './volumes.ts';

function topologyKeysOf(all: readonly TopologyTerms[]): readonly string[] {
  const keys = new Set<string>();
  for (const { spreads, affinity, antiAffinity } of all) {
    for (const { key } of [...spreads, ...affinity, ...antiAffinity]) {
      if (!isHostKey(key)) keys.add(key);
    }
  }
  return [...keys].sort();
}

/**
 * Labels of the nodes on which pods run that others have to be near, those of offerings apart: a
 * new node may need them.
 */
function peerLabels(
  classes: Problem['classes'],
  running: Problem['running'],
): readonly (readonly [string, string])[] {
  const keysOf = new Map<number, Set<string>>();
  for (const { topology } of classes) {
    for (const { key, selector } of requiredOf(topology.affinity)) {
      if (isDomainKey(key)) continue;
      keysOf.set(selector.id, (keysOf.get(selector.id) ?? new Set()).add(key));
    }
  }
  if (keysOf.size === 0) return [];
  const labels = new Map<string, readonly [string, string]>();
  for (const { node, matching } of running) {
    for (const key of matching.flatMap((id) => [...(keysOf.get(id) ?? [])])) {
      const value = node.label(key);
      if (value !== undefined) labels.set(`${key}=${value}`, [key, value]);
    }
  }
  return [...labels].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, label]) => label);
}

/** What running pods, and those that are as good as running, demand of the pods to be placed. */
function termsOf(
  tied: ReadonlyMap<number, Pod>,
  { pods }: ClusterSnapshot,
  { preempting }: Demand,
  selectors: PodSelectors,
  stays: (pod: Pod) => boolean,
): ReadonlyMap<Pod, TopologyTerms> {
  const running = [...tied]
    .map(([place, narrowed]) => [pods[place] ?? missing(place), narrowed] as const)
    .filter(([pod]) => stays(pod));
  const all = [...running, ...preempting.map((pod) => [pod, pod] as const)];
  return new Map(all.map(([pod, narrowed]) => [pod, topologyTermsOf(narrowed, selectors)]));
}

/** Reads a snapshot (its instance types already overlaid) into a problem. */
export function compileProblem(snapshot: ClusterSnapshot, settings: SchedulingSettings): Problem {
  const nodes = stateNodes(snapshot);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const leaving = nodes.filter((node) => node.isLeaving);
  const demand = demandOf(snapshot, leaving);
  const index = podIndexOf(snapshot.pods);
  const selectors = new PodSelectors(snapshot.namespaces, [...index.namespaces].sort());
  const volumeIndex = new VolumeIndex(snapshot);
  const classifier = new Classifier(volumeIndex, selectors);
  classifier.addAll(demand.pods, snapshot);
  const { drafts, rules } = classifier;
  const daemonSets = [...effectiveDaemonSets(snapshot)].sort((a, b) => compareNames(a, b));
  const resources = resourceNames(drafts, daemonSets);
  const stays = (pod: Pod) => byName.has(pod.nodeName ?? '') && !demand.moving.has(pod);
  const tied = index.terms.about(demand.pods, selectors);
  const terms = termsOf(tied, snapshot, demand, selectors, stays);
  const respects = settings.preferencePolicy === 'Respect';
  const classes = classesOf(drafts, resources, selectors, rules, respects);
  const daemons = daemonSets.map((each) => ({
    rule: rules.intern(nodeTermsOf(each.podSpec), daemonTolerations(each)),
    requests: Float64Array.from(resources, (name) => amountOf(each.podSpec.requests, name)),
    total: each.podSpec.requests,
    ports: each.podSpec.hostPorts,
  }));
  const topologyKeys = topologyKeysOf([
    ...classes.map((each) => each.topology),
    ...[...terms.values()].map(onlyRequired),
  ]);
  // kube-scheduler counts pods for which it makes room as if they ran there already.
  const noticed = index.noticed(selectors, tied.keys()).filter(stays);
  const running = [...noticed, ...demand.preempting].map((pod) => {
    const matching = selectors.matching(pod.namespace, pod.labels);
    const name = pod.nodeName ?? pod.nominatedNodeName ?? '';
    const node = byName.get(name) ?? missing(name);
    const own = terms.get(pod);
    return { pod, node, topology: own ? markSelf(own, matching) : NO_TOPOLOGY, matching };
  });
  const { reservedCapacity } = settings;
  const { groupCaps = [] } = snapshot;
  const peers = peerLabels(classes, running);
  const rest = { daemons, resources, topologyKeys, reservedCapacity, groupCaps };
  const { pools, groups } = launchesOf(snapshot, rules, rest, peers);
  return {
    settings,
    demand,
    resources,
    classes,
    running,
    staying: stayingOn(byName, new Set(leaving.map(({ name }) => name)), index, stays),
    keptForPreemptors: roomOfPreemptors(demand.preempting, index.onNodes),
    nodes: nodes.filter((node) => !node.isLeaving),
    limited: nodes.filter((node) => node.isLimited),
    closed: new Set(nodes.filter(({ name }) => snapshot.closedNodes?.has(name) === true)),
    pools,
    groups,
    usable: new Set(
      groups.filter(({ allowed }) => classes.some(({ rule }) => allowed[rule.id] === 1)),
    ),
    limitGroups: groupRooms(snapshot),
    daemons,
    daemonPorts: daemons.filter((each) => each.ports.length > 0),
    selectors,
    runningAttachments: attachmentsOf(index.withVolumes.filter(stays), byName, volumeIndex),
    unplaceable: classifier.unplaceable,
  };
}

function stayingOn(
  byName: ReadonlyMap<string, StateNode>,
  leaving: ReadonlySet<string>,
  { onNodes }: PodIndex,
  stays: (pod: Pod) => boolean,
): ReadonlyMap<StateNode, readonly Pod[]> {
  const staying = new Map<StateNode, readonly Pod[]>();
  for (const [name, node] of byName) {
    const pods = onNodes.get(name);
    if (pods !== undefined) staying.set(node, leaving.has(name) ? pods.filter(stays) : pods);
  }
  return staying;
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
