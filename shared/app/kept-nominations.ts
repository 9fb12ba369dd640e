import type { Nominees } from '../core/lifecycle/turns.ts';
import type { Pod } from '../core/model/pod.ts';
import type { Ports, WaitingPod, WaitingPodStream } from '../ports.ts';
import { atOnce } from './at-once.ts';
import type { Failure } from './attempt.ts';
import { SETTLING_MS } from './nominations.ts';
import { podRef } from './references.ts';
import type { Shadow } from './shadow.ts';

/** A pod whose place is taken loses its nomination each time it is tried, and others theirs by that. */
const TRIES_MAX = 3;
/** More at once would only wait in the API server, which is busy with binding. */
const AT_ONCE_MAX = 8;

interface Kept {
  readonly pod: Pod;
  readonly nodeName: string;
  readonly untilMs: number;
  triesLeft: number;
  /** `lost`: it had the nomination, and did not get it again yet. */
  nomination: 'awaited' | 'held' | 'lost';
  /** It gets it again as soon as it loses it. */
  isKept: boolean;
}

/** What writing goes by. */
interface Writing {
  readonly ports: Pick<Ports, 'cluster' | 'clock'>;
  readonly shadow: Shadow;
}

/**
 * Nominations that kube-scheduler is not to take away for good while nodes open. It takes one away
 * when it tries the pod before its node is open, and what comes next in its queue may be put on the
 * pod's place: there is no time for another look at the cluster. Lives as long as passes follow each
 * other; what is missed, because a stream broke or a pod was given up, the next pass finds.
 */
export class KeptNominations {
  #writing: Writing | undefined;
  readonly #kept = new Map<string, Kept>();
  #stream: Promise<WaitingPodStream> | undefined;
  /** Ends the stream. */
  #over = new AbortController();
  /** A pass has asked for quiet and not said yet which nominations are to be kept. */
  #isAwaited = false;
  readonly #queue: Kept[] = [];
  readonly #workers = new Set<Promise<void>>();
  #failures: readonly Failure[] = [];

  /**
   * Waits until kube-scheduler is not trying pods; returns the waiting pods' uids in the order in
   * which it has last tried them, and will try them again.
   */
  async quiet(writing: Writing): Promise<readonly string[]> {
    this.#writing = writing;
    this.#isAwaited = true;
    this.#stream ??= this.#open(writing);
    return await (await this.#stream).quiet();
  }

  /** Notes from now on which of these pods, which are about to be nominated, lose that. */
  follow(nominees: readonly Nominees[], nowMs: number): void {
    for (const { node, pods } of nominees) {
      for (const pod of pods) {
        this.#kept.set(pod.uid, {
          pod,
          nodeName: node.name,
          untilMs: nowMs + SETTLING_MS,
          triesLeft: TRIES_MAX,
          nomination: 'awaited',
          isKept: false,
        });
      }
    }
  }

  /** Nominates those again that have lost it; from now on each as soon as it loses it. */
  async keep(): Promise<void> {
    this.#isAwaited = false;
    const lost = [...this.#kept.values()].filter(({ nomination }) => nomination === 'lost');
    for (const each of this.#kept.values()) each.isKept = true;
    await atOnce(AT_ONCE_MAX, lost, (each) => this.#nominateAgain(each));
    this.#closeIdle();
  }

  /** Leaves those of other nodes alone: they are closed after all, or on their way out. */
  keepOnly(isKept: (nodeName: string) => boolean): void {
    for (const [uid, { nodeName }] of this.#kept) if (!isKept(nodeName)) this.#kept.delete(uid);
    this.#closeIdle();
  }

  /** What was refused since the last pass. */
  takeFailures(): readonly Failure[] {
    const failures = this.#failures;
    this.#failures = [];
    return failures;
  }

  /** Nothing is written any more once this has resolved. */
  async close(): Promise<void> {
    this.#isAwaited = false;
    this.#forget();
    await Promise.all(this.#workers);
  }

  #forget(): void {
    this.#over.abort();
    this.#stream = undefined;
    this.#kept.clear();
    this.#queue.length = 0;
  }

  /** A stream that a pass counts on stays open. */
  #closeIdle(): void {
    if (this.#kept.size === 0 && !this.#isAwaited) this.#forget();
  }

  async #open({ ports }: Writing): Promise<WaitingPodStream> {
    const over = new AbortController();
    this.#over = over;
    const forget = (): void => {
      if (this.#over === over) this.#forget();
    };
    try {
      const listener = { told: (pod: WaitingPod) => this.#told(pod), over: forget };
      return await ports.cluster.followWaitingPods(listener, over.signal);
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** One that is nominated elsewhere has got a place by preemption, or by a later plan. */
  #told({ uid, nominatedNodeName, isOver }: WaitingPod): void {
    const kept = this.#kept.get(uid);
    if (kept === undefined) return;
    if (nominatedNodeName === kept.nodeName && !isOver) {
      kept.nomination = 'held';
    } else if (isOver || nominatedNodeName !== undefined) {
      this.#kept.delete(uid);
      this.#closeIdle();
    } else if (kept.nomination === 'held') {
      kept.nomination = 'lost';
      if (kept.isKept) this.#enqueue(kept);
    }
  }

  #enqueue(kept: Kept): void {
    this.#queue.push(kept);
    if (this.#workers.size >= AT_ONCE_MAX) return;
    const worker = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async #work(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await this.#nominateAgain(next);
    }
  }

  /** One that is refused is left to the next pass. */
  async #nominateAgain(kept: Kept): Promise<void> {
    const writing = this.#writing;
    const { pod, nodeName, untilMs } = kept;
    if (writing === undefined || this.#kept.get(pod.uid) !== kept || kept.triesLeft === 0) return;
    kept.triesLeft -= 1;
    const { ports, shadow } = writing;
    let isDone = false;
    try {
      const isLate = ports.clock.nowMs() >= untilMs || (await shadow.isCast());
      isDone = !isLate && (await ports.cluster.nominate(podRef(pod), nodeName)) === 'done';
    } catch (error) {
      // Nobody waits for this: whatever it is, the next pass or the end of the run says it.
      this.#failures = [{ object: `Node/${nodeName}`, message: String(error) }];
    }
    if (!isDone && this.#kept.get(pod.uid) === kept) this.#kept.delete(pod.uid);
  }
}
