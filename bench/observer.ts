/** What a benchmark sees of the cluster, and when: watches of its own beside those of the functions. */

import { RESOURCES } from '../shared/api/resources.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { listCall, property, type Selection, text } from '../shared/kube/list.ts';
import { watchOnce } from '../shared/kube/watch.ts';

const UNREGISTERED = 'karpenter.sh/unregistered';
const WAIT_MS_MAX = 60_000;
const LOOK_MS = 5;

function nameOf(object: unknown): string {
  return text(property(property(object, 'metadata'), 'name'));
}

function hasCondition(object: unknown, type: string, status: string, reason?: string): boolean {
  const conditions = property(property(object, 'status'), 'conditions');
  return (Array.isArray(conditions) ? conditions : []).some(
    (each) =>
      property(each, 'type') === type &&
      property(each, 'status') === status &&
      (reason === undefined || property(each, 'reason') === reason),
  );
}

function isUnregistered(node: unknown): boolean {
  const taints = property(property(node, 'spec'), 'taints');
  return (Array.isArray(taints) ? taints : []).some(
    (each) => property(each, 'key') === UNREGISTERED,
  );
}

/** The first moment at which each thing was seen, by the clock of `performance.now`. */
export class Observer {
  /** Pods that kube-scheduler could not place. */
  readonly unschedulable = new Map<string, number>();
  /** Pods that are being deleted. */
  readonly deleting = new Map<string, number>();
  /** Pods that are gone. */
  readonly deleted = new Map<string, number>();
  /** Nodes that are ready. */
  readonly ready = new Map<string, number>();
  /** Nodes that are ready and registered. */
  readonly registered = new Map<string, number>();
  /** NodeClaims that are new. */
  readonly claimed = new Map<string, number>();
  /** Those of them that have an instance. */
  readonly launched = new Map<string, number>();
  private readonly over = new AbortController();
  private readonly watches: readonly Promise<void>[];

  constructor(client: KubeClient) {
    const pods = { resource: RESOURCES.pods };
    this.watches = [
      this.follow(client, pods, (pod, kind) => this.seePod(pod, kind)),
      this.follow(client, { resource: RESOURCES.nodes }, (node) => this.seeNode(node)),
      this.follow(client, { resource: RESOURCES.nodeClaims }, (claim, kind) => {
        if (kind === 'added') note(this.claimed, nameOf(claim));
        if (!this.claimed.has(nameOf(claim))) return;
        const isLaunched = text(property(property(claim, 'status'), 'providerID')) !== '';
        if (isLaunched) note(this.launched, nameOf(claim));
      }),
    ];
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.watches);
  }

  private seePod(pod: unknown, kind: string): void {
    const name = nameOf(pod);
    if (kind === 'deleted') note(this.deleted, name);
    if (hasCondition(pod, 'PodScheduled', 'False', 'Unschedulable')) note(this.unschedulable, name);
    if (property(property(pod, 'metadata'), 'deletionTimestamp') !== undefined) {
      note(this.deleting, name);
    }
  }

  private seeNode(node: unknown): void {
    const name = nameOf(node);
    if (!hasCondition(node, 'Ready', 'True')) return;
    note(this.ready, name);
    if (!isUnregistered(node)) note(this.registered, name);
  }

  private async follow(
    client: KubeClient,
    selection: Selection,
    see: (object: unknown, kind: string) => void,
  ): Promise<void> {
    const { signal } = this.over;
    while (!signal.aborted) {
      try {
        const page = await client.json(listCall(selection, { limit: 1 }));
        const resourceVersion = text(property(property(page, 'metadata'), 'resourceVersion'));
        for await (const event of watchOnce(client, selection, { resourceVersion, signal })) {
          if (event.kind !== 'bookmark') see(event.object, event.kind);
        }
      } catch (error) {
        if (!signal.aborted) process.stderr.write(`an observer begins anew: ${String(error)}\n`);
      }
    }
  }
}

function note(seen: Map<string, number>, name: string): void {
  if (!seen.has(name)) seen.set(name, performance.now());
}

export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until there is a value. */
export async function eventually<Value>(
  what: string,
  look: () => Value | undefined | Promise<Value | undefined>,
  maxMs = WAIT_MS_MAX,
): Promise<Value> {
  const deadline = performance.now() + maxMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await pause(LOOK_MS);
  }
}
