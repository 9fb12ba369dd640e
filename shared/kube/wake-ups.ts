import type { KubeClient } from './client.ts';
import { isKubeFault } from './errors.ts';
import { NODE } from './fields.ts';
import { listEach, property, type Selection, text } from './list.ts';
import { RESOURCES } from './resources.ts';
import { backoffMs } from './time.ts';
import { type WatchEvent, watchOnce } from './watch.ts';

/** What happened in the cluster, as far as a function should look at it. */
export type WakeUp =
  | 'pods-unschedulable'
  | 'nodeclaim-created'
  | 'nodeclaim-changed'
  | 'nodeclaim-deleted'
  | 'node-joined'
  | 'node-changed'
  | 'node-deleted'
  | 'nodepool-changed'
  | 'nodeclass-changed';

/** One watch, and what its events mean; undefined: nothing for anybody. */
interface Source {
  readonly selection: Selection;
  readonly meaning: (event: Change) => WakeUp | undefined;
}

type Change = Exclude<WatchEvent, { readonly kind: 'bookmark' }>;

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

function sources(): readonly Source[] {
  const pools = new Signatures(written);
  const classes = new Signatures(written);
  const overlays = new Signatures(written);
  const nodes = new Signatures(nodeState);
  const pods = new Signatures(podState);
  return [
    {
      selection: { resource: RESOURCES.pods, fieldSelector: 'spec.nodeName=' },
      meaning: (change) => {
        const isNews = pods.isNew(change) && change.kind !== 'deleted';
        return isNews && verdict(change.object) !== undefined ? 'pods-unschedulable' : undefined;
      },
    },
    {
      selection: { resource: RESOURCES.nodes, shape: NODE },
      meaning: (change) => {
        if (!nodes.isNew(change)) return undefined;
        if (change.kind === 'deleted') return 'node-deleted';
        return change.kind === 'added' ? 'node-joined' : 'node-changed';
      },
    },
    {
      selection: { resource: RESOURCES.nodeClaims, metadataOnly: true },
      meaning: ({ kind, object }) => {
        if (kind === 'deleted') return undefined;
        if (isDeleting(object)) return 'nodeclaim-deleted';
        return kind === 'added' ? 'nodeclaim-created' : 'nodeclaim-changed';
      },
    },
    {
      selection: { resource: RESOURCES.nodePools, metadataOnly: true },
      meaning: (change) => (pools.isNew(change) ? 'nodepool-changed' : undefined),
    },
    {
      selection: { resource: RESOURCES.nodeOverlays, metadataOnly: true },
      meaning: (change) => (overlays.isNew(change) ? 'nodepool-changed' : undefined),
    },
    {
      selection: { resource: RESOURCES.nodeClasses, metadataOnly: true },
      meaning: (change) => (classes.isNew(change) ? 'nodeclass-changed' : undefined),
    },
  ];
}

export interface WakeUpOptions {
  readonly client: KubeClient;
  /** Called for every change that concerns somebody; must not throw. */
  readonly wake: (kind: WakeUp) => void;
  /** Ends all watches. */
  readonly signal: AbortSignal;
  /** Called once when every list is done: the watch before may then let go. */
  readonly onReady?: () => void;
}

/**
 * Watches what functions wait for until the signal aborts. What a list finds counts as a change:
 * nothing that happened while nobody watched is lost. A broken watch goes on from where it was, or
 * lists again where that is too long ago.
 */
export async function watchWakeUps(options: WakeUpOptions): Promise<void> {
  const all = sources();
  let listed = 0;
  const ready = (): void => {
    listed += 1;
    if (listed === all.length) options.onReady?.();
  };
  await Promise.all(all.map((source) => follow(source, options, ready)));
}

async function follow(source: Source, options: WakeUpOptions, ready: () => void): Promise<void> {
  const { client, signal, wake } = options;
  let resourceVersion: string | undefined;
  let isFirst = true;
  for (let failures = 0; !signal.aborted; ) {
    try {
      if (resourceVersion === undefined) {
        resourceVersion = await listed(client, source, wake);
        if (isFirst) ready();
        isFirst = false;
      }
      for await (const event of watchOnce(client, source.selection, { resourceVersion, signal })) {
        failures = 0;
        resourceVersion = event.resourceVersion;
        const kind = event.kind === 'bookmark' ? undefined : source.meaning(event);
        if (kind !== undefined) wake(kind);
      }
    } catch (error) {
      // A kind whose definition is not installed has nothing to watch; look again now and then.
      if (isKubeFault(error, 'gone') || isKubeFault(error, 'notFound')) resourceVersion = undefined;
      if (isKubeFault(error, 'notFound') && isFirst) {
        ready();
        isFirst = false;
      }
      if (isKubeFault(error, 'forbidden')) throw error;
      failures += 1;
      await client.timing.sleep(backoffMs(failures, client.timing.random(), undefined), signal);
    }
  }
}

async function listed(
  client: KubeClient,
  { selection, meaning }: Source,
  wake: WakeUpOptions['wake'],
): Promise<string> {
  let found = new Set<WakeUp>();
  const resourceVersion = await listEach(client, selection, {
    start: () => {
      found = new Set();
    },
    object: (object) => {
      const kind = meaning({ kind: 'modified', object, resourceVersion: '' });
      if (kind !== undefined) found.add(kind);
    },
  });
  for (const kind of found) wake(kind);
  return resourceVersion;
}
