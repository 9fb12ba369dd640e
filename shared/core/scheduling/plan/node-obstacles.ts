import { type Reason, reason } from '../../explain/reason.ts';
import { missing } from '../../missing.ts';
import { HOSTNAME } from '../../model/labels.ts';
import { taintText, untoleratedTaints } from '../../model/taint.ts';
import { termsAllow } from '../problem/node-terms.ts';
import type { PodClass } from '../problem/problem.ts';
import { type HostRule, hostAllows } from '../search/host.ts';
import type { ExistingNode } from '../search/search-context.ts';
import type { SearchState } from '../search/search-state.ts';
import { affinityReason, commonOf } from './node-affinity.ts';
import { tooLarge } from './too-large.ts';
import { topologyRules } from './topology-rules.ts';

/** What keeps pods from existing nodes, and from how many of them. */
export interface NodeObstacle {
  readonly why: Reason;
  readonly nodes: number;
}

/** What is looked at: a class of pods among the nodes of a state. */
interface Look {
  readonly state: SearchState;
  readonly podClass: PodClass;
}

/** Of labels and taints, which the pods ask for by themselves. */
function ruleObstacles({ podClass }: Look, { node }: ExistingNode): readonly Reason[] {
  const { rule, affinityRule, volumes } = podClass;
  const { terms } = affinityRule;
  const inAll = [...commonOf(terms)].filter(([key, set]) => {
    return !termsAllow([new Map([[key, set]])], node.label);
  });
  const all = inAll.map(([key, set]) => affinityReason(key, set));
  if (terms.length === 0) all.push(reason('node-affinity-contradicts-itself', {}));
  else if (inAll.length === 0 && !termsAllow(terms, node.label)) {
    all.push(reason('node-affinity-terms', { terms: terms.length }));
  }
  if (!termsAllow(volumes.terms, node.label)) all.push(reason('volume-zones', {}));
  const taints = untoleratedTaints(rule.tolerations ?? [], node.taints);
  if (rule.tolerations !== undefined && taints.length > 0) {
    all.push(reason('taint-not-tolerated', { taints: taints.map(taintText).sort() }));
  }
  return all;
}

/** Of resources of which the node has less left than a pod requests. */
function roomObstacles({ state, podClass }: Look, { free }: ExistingNode): readonly Reason[] {
  return state.context.problem.resources.flatMap((name, r) => {
    const amount = podClass.requests[r] ?? missing(r);
    return amount === 0 || amount <= (free[r] ?? missing(r)) ? [] : [tooLarge(name, amount)];
  });
}

/** Each part of a host rule by itself. */
function hostParts(host: HostRule): readonly (readonly [Reason, HostRule])[] {
  const none: HostRule = { ...host, ports: [], avoids: [], avoidedBy: [], spreads: [], needs: [] };
  const { ports, avoids, avoidedBy, spreads, needs } = host;
  return [
    [reason('host-ports-in-use', {}), { ...none, ports }],
    [reason('pod-anti-affinity', { key: HOSTNAME }), { ...none, avoids }],
    [reason('anti-affinity-of-others', {}), { ...none, avoidedBy }],
    [reason('topology-spread', { key: HOSTNAME }), { ...none, spreads }],
    [reason('pod-affinity', { key: HOSTNAME }), { ...none, needs }],
  ];
}

/** Of the pods that are on the node or in its domains. */
function podObstacles({ state, podClass }: Look, node: ExistingNode): readonly Reason[] {
  const { host } = state.context.resolvedClasses[podClass.id] ?? missing(podClass.id);
  const onNode = hostParts(host).flatMap(([why, rule]) =>
    hostAllows(rule, node.host, state.totals) ? [] : [why],
  );
  const inDomains = topologyRules(state.topology, podClass).flatMap(({ why, allows }) =>
    allows(node.place) ? [] : [why],
  );
  return [...onNode, ...inDomains];
}

/**
 * All that keeps pods of the class from each existing node, in a state in which none of the class
 * is placed yet; what keeps them from the most nodes first. Nodes that could take them are in none.
 */
export function nodeObstacles(state: SearchState, podClass: PodClass): readonly NodeObstacle[] {
  const look = { state, podClass };
  const counted = new Map<string, NodeObstacle>();
  for (const node of state.existingNodes) {
    const all = [
      ...ruleObstacles(look, node),
      ...roomObstacles(look, node),
      ...podObstacles(look, node),
    ];
    const each = new Map(all.map((why) => [JSON.stringify(why), why] as const));
    for (const [text, why] of each) {
      counted.set(text, { why, nodes: (counted.get(text)?.nodes ?? 0) + 1 });
    }
  }
  return [...counted]
    .sort(([a, { nodes: of }], [b, { nodes }]) => nodes - of || (a < b ? -1 : 1))
    .map(([, obstacle]) => obstacle);
}
