import type { Pod } from '../../shared/core/model/pod.ts';
import { formatResources } from '../../shared/core/quantity.ts';
import type { PackedWorkload, PodCount } from './packing.ts';

interface Owner {
  readonly kind: string;
  readonly name: string;
}

/** What made the pod, as people know it: a Deployment rather than its ReplicaSet. */
export function ownerOf({ controller, name }: Pod): Owner {
  if (controller === undefined) {
    const stem = name.replace(/-?\d+$/, '');
    return { kind: 'Pod', name: stem === name || stem === '' ? name : `${stem}-*` };
  }
  const { kind, name: made } = controller;
  if (kind === 'ReplicaSet') {
    const stem = made.replace(/-[a-z0-9]{5,10}$/, '');
    return stem === made ? { kind, name: made } : { kind: 'Deployment', name: stem };
  }
  if (kind !== 'Job') return { kind, name: made };
  const stem = made.replace(/-\d{8,}$/, '');
  return stem === made ? { kind, name: made } : { kind: 'CronJob', name: stem };
}

/** Numbers workloads in the order in which they are met. */
export class Workloads {
  readonly list: PackedWorkload[] = [];
  readonly #known = new Map<string, number>();
  /** Specs are shared between pods that read the same. */
  readonly #requests = new Map<object, string>();

  indexOf(pod: Pod): number {
    const { kind, name } = ownerOf(pod);
    const { requests } = pod.spec;
    const text = this.#requests.get(requests) ?? JSON.stringify(formatResources(requests));
    this.#requests.set(requests, text);
    const key = JSON.stringify([pod.namespace, kind, name, text]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const index = this.list.length;
    this.list.push({
      namespace: pod.namespace,
      kind,
      name,
      requests: formatResources(requests),
    });
    this.#known.set(key, index);
    return index;
  }

  /** Pods by workload, in the order of the workloads. */
  counted(pods: readonly Pod[]): readonly PodCount[] {
    return countsOf(pods.map((pod) => this.indexOf(pod)));
  }
}

/** How often each number is there, by number. */
export function countsOf(indices: Iterable<number>): readonly PodCount[] {
  const counts = new Map<number, number>();
  for (const index of indices) counts.set(index, (counts.get(index) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
}
