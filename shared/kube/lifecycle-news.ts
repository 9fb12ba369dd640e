import { RESOURCES } from '../api/resources.ts';
import { FOLLOWED_DRAINS_MAX } from '../core/lifecycle/due-times.ts';
import { DO_NOT_DISRUPT, INITIALIZED, NODE_POOL } from '../core/model/labels.ts';
import type { KubeClient } from './client.ts';
import { isKubeFault } from './errors.ts';
import { POD } from './fields.ts';
import { TICK_PREFIX, WAKE } from './lease-state.ts';
import { LEASE_NAMESPACE } from './leases.ts';
import { property, type Selection, text } from './list.ts';
import { backoffMs } from './time.ts';
import { watchOnce } from './watch.ts';

/** Passes follow each other no faster, whatever happens. */
const LEAST_MS = 250;
/** Where a watch is broken nobody may tell of news. */
const BLIND_MS = 5_000;

/** A watch, and what of its objects matters. */
interface Followed {
  readonly selection: Selection;
  readonly signature: (object: unknown) => string;
  /** An object that was there before is news as one that comes is. */
  readonly isFirstNews?: boolean;
}

/** Notices what `lifecycle` waits for while it rests, from the first pause to the end. */
export interface LifecycleNews {
  /**
   * Waits so long, or until something has happened since the last pause: at least a moment, so
   * that a node that changes all the time is not looked at all the time. `draining` are names of
   * nodes whose pods are to leave, those that are about to come first.
   */
  pause(ms: number, draining?: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Whoever is woken and finds the Lease held leaves a mark on it. */
function leaseOf(name: string): Followed {
  const selection = {
    resource: RESOURCES.leases,
    namespace: LEASE_NAMESPACE,
    fieldSelector: `metadata.name=joiner-${name}`,
    metadataOnly: true,
  };
  const signature = (object: unknown): string => {
    const mark = text(property(property(property(object, 'metadata'), 'annotations'), WAKE));
    return mark.startsWith(TICK_PREFIX) ? '' : mark;
  };
  return { selection, signature };
}

/** Of nodes that are at work nothing is heard: their heartbeats would end every pause. */
const JOINING: Followed = {
  selection: { resource: RESOURCES.nodes, labelSelector: `${NODE_POOL},!${INITIALIZED}` },
  signature: (object) => text(property(property(object, 'metadata'), 'resourceVersion')),
  isFirstNews: true,
};

/** Deletions, above all; what we write on claims ourselves is status. */
const CLAIMS: Followed = {
  selection: { resource: RESOURCES.nodeClaims, metadataOnly: true },
  signature: (object) => text(property(property(object, 'metadata'), 'deletionTimestamp')),
  isFirstNews: true,
};

/** A budget that allows more lets pods go. */
const BUDGETS: Followed = {
  selection: { resource: RESOURCES.podDisruptionBudgets },
  signature: (object) =>
    JSON.stringify([
      property(property(object, 'metadata'), 'generation'),
      property(property(object, 'status'), 'disruptionsAllowed'),
    ]),
};

function podsOf(node: string): Followed {
  return {
    selection: { resource: RESOURCES.pods, shape: POD, fieldSelector: `spec.nodeName=${node}` },
    signature: (object) =>
      JSON.stringify([
        property(property(property(object, 'metadata'), 'annotations'), DO_NOT_DISRUPT),
        property(property(object, 'status'), 'phase'),
      ]),
  };
}

export function lifecycleNews(client: KubeClient): LifecycleNews {
  const watches = new Map<string, Watch>();
  let change = Promise.withResolvers<void>();
  const notice = (): void => change.resolve();
  const keep = (wanted: ReadonlyMap<string, Followed>): void => {
    for (const [key, watch] of watches) {
      if (wanted.has(key)) continue;
      void watch.close();
      watches.delete(key);
    }
    for (const [key, followed] of wanted) {
      if (!watches.has(key)) watches.set(key, new Watch(client, followed, notice));
    }
  };
  return {
    pause: async (ms, draining = []) => {
      keep(wantedFor(draining));
      const early = new AbortController();
      const least = Math.min(ms, LEAST_MS);
      await client.timing.sleep(least);
      const isBlind = [...watches.values()].some((watch) => watch.isBroken);
      const most = isBlind ? Math.min(ms, BLIND_MS) : ms;
      await Promise.race([change.promise, client.timing.sleep(most - least, early.signal)]);
      early.abort();
      change = Promise.withResolvers();
    },
    close: async () => {
      await Promise.all([...watches.values()].map((watch) => watch.close()));
    },
  };
}

function wantedFor(draining: readonly string[]): ReadonlyMap<string, Followed> {
  const always = [
    ['lease', leaseOf('lifecycle')],
    ['joining', JOINING],
    ['claims', CLAIMS],
  ] as const;
  if (draining.length === 0) return new Map<string, Followed>(always);
  const drains = draining
    .slice(0, FOLLOWED_DRAINS_MAX)
    .map((node): [string, Followed] => [`pods/${node}`, podsOf(node)]);
  return new Map<string, Followed>([...always, ['budgets', BUDGETS], ...drains]);
}

/** One watch, begun anew where it breaks. */
class Watch {
  /** Refused, or cut off and not up again. */
  isBroken = false;
  private readonly over = new AbortController();
  private readonly known = new Map<string, string>();
  private readonly followed: Followed;
  private readonly running: Promise<void>;

  constructor(client: KubeClient, followed: Followed, notice: () => void) {
    this.followed = followed;
    this.running = this.follow(client, notice);
  }

  async close(): Promise<void> {
    this.over.abort();
    await this.running;
  }

  /** Without a resourceVersion the watch begins with the objects that are there. */
  private async follow(client: KubeClient, notice: () => void): Promise<void> {
    const { signal } = this.over;
    let resourceVersion = '';
    for (let failures = 0; !signal.aborted; ) {
      const onOpen = (): void => {
        failures = 0;
        this.isBroken = false;
      };
      const options = { resourceVersion, signal, onOpen };
      try {
        for await (const event of watchOnce(client, this.followed.selection, options)) {
          resourceVersion = event.resourceVersion;
          if (event.kind !== 'bookmark' && this.isNews(event.kind, event.object)) notice();
        }
      } catch (error) {
        if (isKubeFault(error, 'gone')) resourceVersion = '';
        failures += 1;
        this.isBroken = true;
      }
      if (signal.aborted) return;
      const waitMs = backoffMs(failures + 1, client.timing.random(), undefined);
      await client.timing.sleep(waitMs, signal);
    }
  }

  private isNews(kind: string, object: unknown): boolean {
    const metadata = property(object, 'metadata');
    const uid = text(property(metadata, 'uid'));
    const before = this.known.get(uid);
    if (kind === 'deleted') return this.known.delete(uid);
    const now = this.followed.signature(object);
    this.known.set(uid, now);
    if (before === undefined) return this.followed.isFirstNews === true;
    return before !== now && now !== '';
  }
}
