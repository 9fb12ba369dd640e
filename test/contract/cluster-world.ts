import type { ClusterReader, ClusterWriter, ObjectRef } from '../../shared/ports.ts';

/** A cluster that the suite can be plugged into: the real API server, or the simulated world. */
export interface ClusterWorld {
  readonly cluster: ClusterReader & ClusterWriter;
  /** Creates or replaces an object as its user would; the status too where the manifest has one. */
  apply(manifest: object): Promise<void>;
  /** Binds a pod of the namespace `default`, as kube-scheduler would. */
  bind(pod: string, nodeName: string): Promise<void>;
  /** As the API server has it; undefined: there is none. */
  raw(kind: string, namespace: string | undefined, name: string): Promise<unknown>;
  /** The events about an object, with how often each was said. */
  events(ref: ObjectRef): Promise<readonly { readonly reason: string; readonly count: number }[]>;
}
