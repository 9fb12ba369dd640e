import { type Reason, reason } from '../../explain/reason.ts';
import type { PodClass } from '../problem/problem.ts';
import { requiredOf } from '../problem/topology-terms.ts';
import type { Place, Topology } from '../search/topology.ts';

/** A required term about other pods, by itself. */
export interface TopologyRule {
  readonly why: Reason;
  readonly allows: (place: Place) => boolean;
}

/** Each required term of the class about other pods, hostnames apart, as a rule of its own. */
export function topologyRules(topology: Topology, podClass: PodClass): readonly TopologyRule[] {
  const affinity = requiredOf(podClass.topology.affinity);
  return [
    ...topology.requiredSpreads(podClass).map(
      (each): TopologyRule => ({
        why: reason('topology-spread', { key: each.term.key }),
        allows: (place) => topology.allowsSpread(each, place),
      }),
    ),
    ...affinity.map(
      (each): TopologyRule => ({
        why: reason('pod-affinity', { key: each.key }),
        allows: (place) => topology.allowsAffinityTerm(affinity, each, place),
      }),
    ),
    ...requiredOf(podClass.topology.antiAffinity).map(
      (each): TopologyRule => ({
        why: reason('pod-anti-affinity', { key: each.key }),
        allows: (place) => topology.allowsAntiAffinityTerm(each, place),
      }),
    ),
    {
      why: reason('anti-affinity-of-others', {}),
      allows: (place) => topology.allowedByOthers(podClass, place),
    },
  ];
}
