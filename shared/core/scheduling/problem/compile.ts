import type { Pod } from '../../model/pod.ts';
import { amountOf } from '../../model/resources.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { Classifier, classesOf, onlyRequired, resourceNames } from './classes.ts';
import { ATTACH_PREFIX } from './columns.ts';
import { effectiveDaemonSets } from './daemon-sets.ts';
import { demandOf } from './demand.ts';
import { launchesOf } from './launches.ts';
import { nodeTermsOf } from './node-terms.ts';
import type { Problem } from './problem.ts';
import { PodSelectors } from './selectors.ts';
import { daemonTolerations, type StateNode, stateNodes } from './state-node.ts';
import {
  hasTopology,
  isHostKey,
  markSelf,
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
  const daemonSets = [...effectiveDaemonSets(snapshot)].sort((a, b) => compareNames(a, b));
  const resources = resourceNames(drafts, daemonSets);
  const runningTerms = demand.running
    .filter((pod) => byName.has(pod.nodeName ?? ''))
    .map((pod) => ({ pod, terms: topologyTermsOf(pod, selectors) }));
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
    ...runningTerms.map(({ terms }) => onlyRequired(terms)),
  ]);
  const { reservedCapacity } = settings;
  const rest = { daemons, resources, topologyKeys, reservedCapacity };
  const { pools, groups } = launchesOf(snapshot, rules, rest);
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
