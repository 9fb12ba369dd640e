import type { KubeObject } from '../store.ts';
import type { Timeline } from '../timeline.ts';

/** A controller begins with milliseconds; whoever waits for those sees no difference. */
const FIRST_MS = 1_000;
/** @see https://pkg.go.dev/k8s.io/client-go/util/workqueue#DefaultTypedControllerRateLimiter */
const MOST_MS = 1_000_000;

/** Controllers try again what the API server has refused, each time after twice as long. */
export class Retries {
  private readonly timeline: Timeline;
  private readonly retry: (owner: KubeObject) => void;
  private readonly waitMs = new Map<string, number>();
  private readonly planned = new Set<string>();

  constructor(timeline: Timeline, retry: (owner: KubeObject) => void) {
    this.timeline = timeline;
    this.retry = retry;
  }

  /** Nothing was refused. */
  forget({ metadata }: KubeObject): void {
    this.waitMs.delete(metadata.uid);
  }

  /** It was refused. */
  add(owner: KubeObject): void {
    const { uid } = owner.metadata;
    if (this.planned.has(uid)) return;
    const waitMs = this.waitMs.get(uid) ?? FIRST_MS;
    this.waitMs.set(uid, Math.min(MOST_MS, 2 * waitMs));
    this.addAfter(owner, waitMs);
  }

  /** It is to be looked at again after the time, unless that is planned already. */
  addAfter(owner: KubeObject, waitMs: number): void {
    const { uid } = owner.metadata;
    if (this.planned.has(uid)) return;
    this.planned.add(uid);
    this.timeline.after(waitMs, () => {
      this.planned.delete(uid);
      this.retry(owner);
    });
  }
}
