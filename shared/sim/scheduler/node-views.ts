import { decodeNodeObject, decodePodObject } from '../decode.ts';
import type { KubeObject, ObjectStore } from '../store.ts';
import { type NodeView, nodeView } from './view.ts';

interface Known {
  readonly object: KubeObject;
  readonly pods: readonly KubeObject[];
  readonly view: NodeView;
}

/** The nodes as kube-scheduler's cache has them: made anew only where they or their pods change. */
export class NodeViews {
  private readonly store: ObjectStore;
  private readonly changed = new Set<string>();
  private known = new Map<string, Known>();

  constructor(store: ObjectStore) {
    this.store = store;
  }

  /** All nodes in the order of names. */
  refresh(): readonly NodeView[] {
    const fresh = new Map<string, Known>();
    for (const object of this.store.list('Node')) {
      const { name } = object.metadata;
      const pods = this.store.podsOn(name);
      const before = this.known.get(name);
      const isSame = before?.object === object && before.pods === pods;
      const view = isSame
        ? before.view
        : nodeView(decodeNodeObject(object), pods.map(decodePodObject));
      if (!isSame) this.changed.add(name);
      fresh.set(name, { object, pods, view });
    }
    this.known = fresh;
    return [...fresh.values()].map(({ view }) => view);
  }

  /** Nodes that are not as they were when this was asked last. */
  takeChanged(): readonly NodeView[] {
    const views = [...this.changed].flatMap((name) => this.known.get(name)?.view ?? []);
    this.changed.clear();
    return views;
  }

  /** A pod was placed on the node in the view, whatever became of it. */
  forget(node: string): void {
    this.known.delete(node);
  }
}
