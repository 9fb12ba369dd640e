import { type Json, objectAt, textAt, valueAt } from '../../shared/sim/json.ts';
import { type Manifest, nameOf } from '../manifests.ts';

/** How many pods a program wants at least and at most of a workload. */
interface Range {
  readonly target: Json;
  readonly least: number;
  readonly most: number;
}

function count(object: Json, field: string, otherwise: number): number {
  const value = valueAt(object, 'spec', field);
  return typeof value === 'number' ? value : otherwise;
}

/** By kind: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/, https://keda.sh/docs/latest/reference/scaledobject-spec/ */
const RANGES: ReadonlyMap<unknown, (object: Json) => Range> = new Map([
  [
    'HorizontalPodAutoscaler',
    (object: Json) => ({
      target: objectAt(object, 'spec', 'scaleTargetRef'),
      least: count(object, 'minReplicas', 1),
      most: count(object, 'maxReplicas', Infinity),
    }),
  ],
  [
    'ScaledObject',
    (object: Json) => ({
      target: { kind: 'Deployment', ...objectAt(object, 'spec', 'scaleTargetRef') },
      least: count(object, 'minReplicaCount', 0),
      most: count(object, 'maxReplicaCount', 100),
    }),
  ],
]);

/** Whether a manifest is of an autoscaler that {@link scaled} heeds. */
export function isAutoscaler(object: Json): boolean {
  return RANGES.has(object['kind']);
}

function isTarget(object: Json, autoscaler: Json, target: Json): boolean {
  const namespace = (each: Json) => textAt(each, 'metadata', 'namespace') ?? 'default';
  return (
    object['kind'] === target['kind'] &&
    textAt(object, 'metadata', 'name') === target['name'] &&
    namespace(object) === namespace(autoscaler)
  );
}

/**
 * Workloads with as many pods as their autoscaler keeps at least, and at most; a note for each that
 * says otherwise. One of 0 replicas stays: that turns its autoscaler off.
 */
export function scaled(
  used: readonly Manifest[],
  autoscalers: readonly Manifest[],
): { readonly used: readonly Manifest[]; readonly notes: readonly string[] } {
  const notes: string[] = [];
  const of = (manifest: Manifest): Manifest => {
    const { object } = manifest;
    const said = count(object, 'replicas', 1);
    for (const autoscaler of said === 0 ? [] : autoscalers) {
      const range = RANGES.get(autoscaler.object['kind'])?.(autoscaler.object);
      if (range === undefined || !isTarget(object, autoscaler.object, range.target)) continue;
      const replicas = Math.min(Math.max(said, range.least), range.most);
      if (replicas === said) continue;
      const bound = replicas > said ? 'at least' : 'at most';
      const counted = `${replicas} pods of ${nameOf(object)} count, and not ${said}`;
      notes.push(`${autoscaler.place()}: keeps ${bound} ${replicas}: ${counted}`);
      return {
        ...manifest,
        object: { ...object, spec: { ...objectAt(object, 'spec'), replicas } },
      };
    }
    return manifest;
  };
  return { used: used.map(of), notes };
}
