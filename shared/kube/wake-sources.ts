import { RESOURCES } from '../api/resources.ts';
import type { BufferTargets } from './buffer-looks.ts';
import { NODE } from './fields.ts';
import { property, type Selection, text } from './list.ts';
import type { Change } from './watch.ts';

/** What happened in the cluster; WAKE_TARGETS of the contract says what each means, and for whom. */
export type WakeUp =
  | 'pods-unschedulable'
  | 'nodeclaim-created'
  | 'nodeclaim-changed'
  | 'nodeclaim-deleted'
  | 'nodeclaim-gone'
  | 'node-joined'
  | 'node-changed'
  | 'node-deleted'
  | 'nodepool-changed'
  | 'nodepool-ready'
  | 'nodeoverlay-changed'
  | 'nodeclass-changed'
  | 'nodeclass-resolved'
  | 'nodeclass-released'
  | 'capacitybuffer-changed';

/** One watch, and what its events mean: nothing for anybody, or one thing or more. */
export interface Source {
  readonly selection: Selection;
  readonly meaning: (event: Change) => readonly WakeUp[];
}

/** What kube-scheduler says of a pod that it cannot place; undefined: it has not said so. */
function verdict(pod: unknown): unknown {
  const conditions = property(property(pod, 'status'), 'conditions');
  return (Array.isArray(conditions) ? conditions : []).find(
    (each) =>
      property(each, 'type') === 'PodScheduled' &&
      property(each, 'status') === 'False' &&
      property(each, 'reason') === 'Unschedulable',
  );
}

/**
 * What a plan goes by in a pod that waits. Another node that it is nominated to is not news: that
 * is what we have planned ourselves.
 */
function podState(pod: unknown): string {
  const metadata = property(pod, 'metadata');
  const said = verdict(pod);
  return JSON.stringify([
    property(metadata, 'uid'),
    property(metadata, 'generation'),
    property(metadata, 'labels'),
    property(metadata, 'deletionTimestamp'),
    said !== undefined,
    property(said, 'message'),
  ]);
}

function isDeleting(object: unknown): boolean {
  return text(property(property(object, 'metadata'), 'deletionTimestamp')) !== '';
}

/** Tells changes that matter from the others by a text that holds what matters of each object. */
class Signatures {
  private readonly known = new Map<string, string>();
  private readonly of: (object: unknown) => string;

  constructor(of: (object: unknown) => string) {
    this.of = of;
  }

  isNew({ kind, object }: Change): boolean {
    const metadata = property(object, 'metadata');
    const name = `${text(property(metadata, 'namespace'))}/${text(property(metadata, 'name'))}`;
    if (kind === 'deleted') return this.known.delete(name);
    const signature = this.of(object);
    if (this.known.get(name) === signature) return false;
    this.known.set(name, signature);
    return true;
  }
}

/** What people wrote: a change of status alone leaves the generation. */
function written(object: unknown): string {
  const metadata = property(object, 'metadata');
  return `${property(metadata, 'generation')}|${text(property(metadata, 'deletionTimestamp'))}`;
}

/** What lifecycle waits for in a node; heartbeats change none of it. */
function nodeState(object: unknown): string {
  const spec = property(object, 'spec');
  const status = property(object, 'status');
  const conditions = property(status, 'conditions');
  const ready = (Array.isArray(conditions) ? conditions : []).find(
    (each) => property(each, 'type') === 'Ready',
  );
  return JSON.stringify([
    property(property(object, 'metadata'), 'labels'),
    property(property(object, 'metadata'), 'deletionTimestamp'),
    property(spec, 'taints'),
    property(spec, 'unschedulable'),
    property(ready, 'status'),
    property(status, 'allocatable'),
  ]);
}

function readyOf(object: unknown): unknown {
  const conditions = property(property(object, 'status'), 'conditions');
  return (Array.isArray(conditions) ? conditions : []).find(
    (each) => property(each, 'type') === 'Ready',
  );
}

function isReady(object: unknown): boolean {
  return property(readyOf(object), 'status') === 'True';
}

/** What a class resolves to, and for which version of it. */
function resolved(object: unknown): string {
  const { conditions: _, ...found } = Object(property(object, 'status'));
  const ready = readyOf(object);
  return JSON.stringify([found, property(ready, 'status'), property(ready, 'observedGeneration')]);
}

/** Pools and classes: what people wrote, and what became of it. */
function poolSources(classes: DeletedClasses): readonly Source[] {
  const pools = new Signatures(written);
  const readyPools = new Signatures((pool) => String(isReady(pool)));
  const overlays = new Signatures(written);
  const writtenClasses = new Signatures(written);
  const resolvedClasses = new Signatures(resolved);
  return [
    {
      selection: { resource: RESOURCES.nodePools },
      meaning: (change) => [
        ...(pools.isNew(change) ? (['nodepool-changed'] as const) : []),
        ...(readyPools.isNew(change) && change.kind !== 'deleted' && isReady(change.object)
          ? (['nodepool-ready'] as const)
          : []),
      ],
    },
    {
      selection: { resource: RESOURCES.nodeOverlays, metadataOnly: true },
      meaning: (change) => (overlays.isNew(change) ? ['nodeoverlay-changed'] : []),
    },
    {
      selection: { resource: RESOURCES.nodeClasses },
      meaning: (change) => {
        classes.note(change);
        const isOther = resolvedClasses.isNew(change) && change.kind !== 'deleted';
        return [
          ...(writtenClasses.isNew(change) ? (['nodeclass-changed'] as const) : []),
          ...(isOther && isReady(change.object) ? (['nodeclass-resolved'] as const) : []),
        ];
      },
    },
  ];
}

/** Classes that wait for their last claim to go. */
class DeletedClasses {
  private readonly names = new Set<string>();

  note({ kind, object }: Change): void {
    const name = text(property(property(object, 'metadata'), 'name'));
    if (kind !== 'deleted' && isDeleting(object)) this.names.add(name);
    else this.names.delete(name);
  }

  get areThere(): boolean {
    return this.names.size > 0;
  }
}

/** All that is watched. `targets` learns what CapacityBuffers name. */
export function wakeSources(targets: BufferTargets): readonly Source[] {
  const nodes = new Signatures(nodeState);
  const pods = new Signatures(podState);
  const buffers = new Signatures(written);
  const classes = new DeletedClasses();
  return [
    {
      selection: { resource: RESOURCES.pods, fieldSelector: 'spec.nodeName=' },
      meaning: (change) => {
        const isNews = pods.isNew(change) && change.kind !== 'deleted';
        return isNews && verdict(change.object) !== undefined ? ['pods-unschedulable'] : [];
      },
    },
    {
      selection: { resource: RESOURCES.nodes, shape: NODE },
      meaning: (change) => {
        if (!nodes.isNew(change)) return [];
        if (change.kind === 'deleted') return ['node-deleted'];
        return change.kind === 'added' ? ['node-joined'] : ['node-changed'];
      },
    },
    {
      selection: { resource: RESOURCES.nodeClaims, metadataOnly: true },
      meaning: ({ kind, object }) => {
        if (kind === 'deleted') {
          return classes.areThere ? ['nodeclaim-gone', 'nodeclass-released'] : ['nodeclaim-gone'];
        }
        if (isDeleting(object)) return ['nodeclaim-deleted'];
        return kind === 'added' ? ['nodeclaim-created'] : ['nodeclaim-changed'];
      },
    },
    ...poolSources(classes),
    {
      selection: { resource: RESOURCES.capacityBuffers },
      meaning: (change) => {
        targets.note(change);
        return buffers.isNew(change) ? ['capacitybuffer-changed'] : [];
      },
    },
  ];
}
