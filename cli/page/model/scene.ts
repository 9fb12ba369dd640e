import { missing } from '../../../shared/core/missing.ts';
import { parseResources } from '../../../shared/core/quantity.ts';
import { isJson, type Json, objectAt } from '../../../shared/sim/json.ts';
import type { PackedNode, PackedWorkload, Packing } from '../../packing/packing.ts';
import { plannedText } from './facts.ts';
import type { Amounts, NodeModel, Scene, WorkloadModel } from './model.ts';
import { NO_POOL } from './use.ts';

/** Not drawn: every pod has one, and few nodes run out of them. */
const UNDRAWN: ReadonlySet<string> = new Set(['pods', 'ephemeral-storage']);

/** The packing under this key of what a command prints; undefined: there is none. */
export function packingAt(json: Json, ...path: readonly string[]): Packing | undefined {
  const found = objectAt(json, ...path);
  // Printed by this very version.
  return Array.isArray(found['nodes']) ? (found as unknown as Packing) : undefined;
}

function amounts(texts: Readonly<Record<string, string>>): Amounts {
  return parseResources(isJson(texts) ? texts : {}).resources;
}

/** Colours by the cpu that a workload asks for in all packings, so that the largest differ most. */
export function coloursOf(packings: readonly Packing[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const { workloads, nodes } of packings) {
    const cpus = workloads.map(({ requests }) => amounts(requests)['cpu'] ?? 0);
    for (const { pods } of nodes) {
      for (const [index, pod] of pods) {
        const workload = workloads[index];
        if (workload === undefined || workload.kind === 'DaemonSet') continue;
        const name = nameOf(workload);
        weights.set(
          name,
          (weights.get(name) ?? 0) + pod * Math.max(1, cpus[index] ?? missing(index)),
        );
      }
    }
  }
  const order = [...weights].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return new Map(order.map(([name], at) => [name, at]));
}

function nameOf({ namespace, kind, name }: PackedWorkload): string {
  return `${namespace}/${kind}/${name}`;
}

function workloadModel(
  workload: PackedWorkload,
  colours: ReadonlyMap<string, number>,
): WorkloadModel {
  const { namespace, name, kind, requests } = workload;
  return {
    label: `${namespace}/${name}`,
    kind,
    requests: amounts(requests),
    colour: colours.get(nameOf(workload)),
  };
}

function nodeModel(node: PackedNode): NodeModel {
  const { name, listPrice, price, overlays, state, pods, ladder, runnerUp, life } = node;
  return {
    name,
    claim: node.nodeClaim === null || node.nodeClaim === name ? '' : node.nodeClaim,
    pool: node.nodePool ?? NO_POOL,
    type: node.instanceType ?? 'unknown type',
    zone: node.zone ?? '–',
    capacityType: node.capacityType ?? '–',
    listPrice,
    price,
    overlays,
    overlaid: amounts(node.overlaid),
    state,
    allocatable: amounts(node.allocatable),
    reserved: amounts(node.reserved),
    pods,
    ladder,
    runnerUp,
    why: plannedText(node.why ?? ''),
    went: '',
    life,
  };
}

/** Cpu and memory, then what else pods ask for. */
function drawn(workloads: readonly WorkloadModel[]): readonly string[] {
  const others = workloads.flatMap(({ requests }) =>
    Object.keys(requests).filter((name) => (requests[name] ?? 0) > 0 && !UNDRAWN.has(name)),
  );
  const rest = new Set(others.filter((name) => name !== 'cpu' && name !== 'memory'));
  return ['cpu', 'memory', ...[...rest].sort()];
}

export function sceneOf(
  title: string,
  packing: Packing,
  colours: ReadonlyMap<string, number>,
): Scene {
  const workloads = packing.workloads.map((each) => workloadModel(each, colours));
  return {
    title,
    workloads,
    ladders: packing.ladders,
    nodes: packing.nodes.map(nodeModel),
    resources: drawn(workloads),
  };
}
