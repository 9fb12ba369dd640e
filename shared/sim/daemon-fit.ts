import { HOSTNAME } from '../core/model/labels.ts';
import { untoleratedTaint } from '../core/model/taint.ts';
import { daemonTolerations } from '../core/scheduling/problem/state-node.ts';
import type { ClusterState } from '../ports.ts';
import { matchesNodeTerms } from './scheduler/node-match.ts';
import type { KubeObject } from './store.ts';

/** Whether the DaemonSet controller puts a pod on the node: selectors and taints, not resources. */
export function daemonFits(state: ClusterState, set: KubeObject, node: KubeObject): boolean {
  const { objects } = state;
  const daemonSet = objects.daemonSets.find((each) => each.uid === set.metadata.uid);
  const target = objects.nodes.find((each) => each.name === node.metadata.name);
  if (daemonSet === undefined || target === undefined) return false;
  const labels = { [HOSTNAME]: target.name, ...target.labels };
  const view = { node: target, labels, pods: [], used: {} };
  if (!matchesNodeTerms(daemonSet.podSpec, view)) return false;
  return untoleratedTaint(daemonTolerations(daemonSet), target.taints) === undefined;
}
