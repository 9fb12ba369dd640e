import type { LabelSelector, TopologySpreadConstraint } from '../../shared/core/model/pod.ts';

/** Pods that are labelled `app: <name>`. */
export function ofApp(app: string): LabelSelector {
  return { matchLabels: { app }, matchExpressions: [] };
}

/** A hard spread of these pods with the defaults of the API server. */
export function spreadOver(
  topologyKey: string,
  labelSelector: LabelSelector,
  rest: Partial<TopologySpreadConstraint> = {},
): TopologySpreadConstraint {
  return {
    topologyKey,
    maxSkew: 1,
    minDomains: undefined,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector,
    matchLabelKeys: [],
    nodeAffinityPolicy: 'Honor',
    nodeTaintsPolicy: 'Ignore',
    ...rest,
  };
}

/** A term of an affinity or anti-affinity to pods of the same namespace. */
export function termOver(topologyKey: string, labelSelector: LabelSelector | undefined) {
  return {
    topologyKey,
    labelSelector,
    namespaces: [],
    namespaceSelector: undefined,
    matchLabelKeys: [],
    mismatchLabelKeys: [],
  };
}
