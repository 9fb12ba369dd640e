import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { Preview } from '../../shared/preview/preview.ts';
import {
  type Choice,
  choiceOf,
  type Planning,
  type PodExplanation,
  placeOf,
  type Surroundings,
} from './pod.ts';

/** Whose pods can be explained together. */
export type WorkloadKind =
  | 'Deployment'
  | 'ReplicaSet'
  | 'StatefulSet'
  | 'DaemonSet'
  | 'Job'
  | 'CronJob';

/** Kinds whose pods belong to objects that they make: these have their name and a suffix. */
const MAKERS: Readonly<Record<string, { readonly made: string; readonly suffix: RegExp }>> = {
  Deployment: { made: 'ReplicaSet', suffix: /-[a-z0-9]+$/ },
  CronJob: { made: 'Job', suffix: /-\d+$/ },
};

/** The name of the workload of the kind that the pod belongs to; undefined: of none. */
export function workloadOf({ controller }: Pod, kind: WorkloadKind): string | undefined {
  if (controller?.kind === kind) return controller.name;
  const maker = MAKERS[kind];
  if (controller === undefined || maker === undefined || controller.kind !== maker.made) {
    return undefined;
  }
  const name = controller.name.replace(maker.suffix, '');
  return name === controller.name ? undefined : name;
}

/** A workload by its kind, its namespace and its name. */
export interface Workload {
  readonly workload: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** The choice is that of its first pod that has none, else of its first. */
export interface WorkloadExplanation extends Workload, Choice {
  /** In the order of their names. */
  readonly pods: readonly Omit<PodExplanation, keyof Choice>[];
}

/** Why its pods are, or would be, where they are; undefined: there are none. */
export function explainWorkload(
  { workload, namespace, name }: Workload,
  pods: readonly Pod[],
  found: Pick<Preview, 'plan'>,
  around: Surroundings,
  { snapshot, settings }: Planning,
): WorkloadExplanation | undefined {
  const own = pods
    .filter((pod) => pod.namespace === namespace && workloadOf(pod, workload) === name)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const shown = own.find(({ nodeName }) => nodeName === undefined) ?? own[0];
  if (shown === undefined) return undefined;
  return {
    workload,
    namespace,
    name,
    pods: own.map((pod) => ({
      pod: podKey(pod),
      phase: pod.phase,
      place: placeOf(pod, found, around),
    })),
    ...choiceOf(snapshot, settings, shown),
  };
}
