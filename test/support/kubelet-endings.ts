import { RESOURCES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { property, text } from '../../shared/kube/list.ts';

const GRACE_S = 30;
/** What a kubelet takes for a pod whose containers have ended. */
const END_MS = 300;

interface Ending {
  /** When the pod was first told to end. */
  readonly sinceMs: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * How pods end: for a pre-stop hook that sleeps, and for a shell that sleeps as first process and
 * hears no signal, they stay, at most for their grace period, which a later deletion may shorten.
 * Where pods are not restarted, such a shell ends them by itself.
 */
export class Endings {
  private readonly client: KubeClient;
  private readonly isAlive: (node: string) => boolean;
  private readonly byUid = new Map<string, Ending>();
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(client: KubeClient, isAlive: (node: string) => boolean) {
    this.client = client;
    this.isAlive = isAlive;
  }

  /** A pod that has a deletion timestamp; to be told of each change of it. */
  end(pod: unknown): void {
    const metadata = property(pod, 'metadata');
    const uid = text(property(metadata, 'uid'));
    const now = Date.now();
    const before = this.byUid.get(uid);
    const sinceMs = before?.sinceMs ?? now;
    const graceMs = Number(property(metadata, 'deletionGracePeriodSeconds') ?? GRACE_S) * 1000;
    const forcedMs = Date.parse(text(property(metadata, 'deletionTimestamp')));
    const dueMs = Math.min(sinceMs + Math.min(graceMs, staysMs(pod)), forcedMs + END_MS);
    if (before !== undefined) this.drop(before.timer);
    const timer = this.later(Math.max(END_MS, dueMs - now), async () => {
      this.byUid.delete(uid);
      if (!this.isAlive(nodeOf(pod))) return;
      await this.client.delete(RESOURCES.pods, addressOf(pod), { uid, gracePeriodSeconds: 0 });
    });
    this.byUid.set(uid, { sinceMs, timer });
  }

  /** A pod that runs from now on. */
  expect(pod: unknown): void {
    const restarts = property(property(pod, 'spec'), 'restartPolicy') ?? 'Always';
    const ms = staysMs(pod);
    if (restarts === 'Always' || ms === 0) return;
    const uid = text(property(property(pod, 'metadata'), 'uid'));
    this.later(ms, async () => {
      const value = { metadata: { uid }, status: { phase: 'Succeeded' } };
      await this.client.patch(RESOURCES.pods, addressOf(pod), { kind: 'merge', value }, 'status');
    });
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  private later(ms: number, work: () => Promise<void>): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      work().catch((error: unknown) => {
        if (!isKubeFault(error, 'notFound') && !isKubeFault(error, 'conflict')) throw error;
      });
    }, ms);
    this.timers.add(timer);
    return timer;
  }

  private drop(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.timers.delete(timer);
  }
}

function nodeOf(pod: unknown): string {
  return text(property(property(pod, 'spec'), 'nodeName'));
}

function addressOf(pod: unknown) {
  const metadata = property(pod, 'metadata');
  return {
    namespace: text(property(metadata, 'namespace')),
    name: text(property(metadata, 'name')),
  };
}

/** How long the pod's slowest container takes by itself. */
function staysMs(pod: unknown): number {
  const containers = property(property(pod, 'spec'), 'containers');
  const each = (Array.isArray(containers) ? containers : []).map((container) => {
    const hook = property(property(property(container, 'lifecycle'), 'preStop'), 'sleep');
    const command = property(container, 'command');
    const last = Array.isArray(command) ? text(command.at(-1)) : '';
    const sleeps = /^sleep (\d+)/.exec(last)?.[1] ?? 0;
    return (Number(property(hook, 'seconds') ?? 0) + Number(sleeps)) * 1000;
  });
  return Math.max(0, ...each);
}
