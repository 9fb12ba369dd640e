import type { Nominees } from '../core/lifecycle/turns.ts';
import type { Pod } from '../core/model/pod.ts';
import type { Ports, WaitingPod, WaitingPodStream } from '../ports.ts';
import { podRef } from './references.ts';

/** A pod whose place is taken loses its nomination each time it is tried, and others theirs by that. */
const TRIES_MAX = 3;

interface Kept {
  readonly pod: Pod;
  readonly nodeName: string;
  triesLeft: number;
  isNominated: boolean;
  /** It has lost the nomination, and did not get it again yet. */
  isLost: boolean;
  /** It gets it again as soon as it loses it. */
  isKept: boolean;
}

/**
 * Nominations that kube-scheduler is not to take away for good while nodes open. It takes one away
 * when it tries the pod before its node is open, and what comes next in its queue may be put on the
 * pod's place: there is no time for another look at the cluster. Lives as long as passes follow each
 * other; what is missed, because a stream broke or a pod was given up, the next pass finds.
 */
export class KeptNominations {
  #cluster: Pick<Ports['cluster'], 'nominate'> | undefined;
  readonly #kept = new Map<string, Kept>();
  #stream: Promise<WaitingPodStream> | undefined;
  /** Ends the stream. */
  #over = new AbortController();

  /**
   * Waits until kube-scheduler is not trying pods; returns the waiting pods' uids in the order in
   * which it has last tried them, and will try them again.
   */
  async quiet(cluster: Ports['cluster']): Promise<readonly string[]> {
    this.#cluster = cluster;
    this.#stream ??= this.#open(cluster);
    return await (await this.#stream).quiet();
  }

  /** Notes from now on which of these pods, which are about to be nominated, lose that. */
  follow(nominees: readonly Nominees[]): void {
    for (const { node, pods } of nominees) {
      for (const pod of pods) {
        const rest = { isNominated: false, isLost: false, isKept: false };
        this.#kept.set(pod.uid, { pod, nodeName: node.name, triesLeft: TRIES_MAX, ...rest });
      }
    }
  }

  /** Nominates those again that have lost it; from now on each as soon as it loses it. */
  async keep(): Promise<void> {
    const lost = [...this.#kept.values()].filter(({ isLost }) => isLost);
    for (const each of this.#kept.values()) each.isKept = true;
    await Promise.all(lost.map((each) => this.#nominateAgain(each)));
  }

  close(): void {
    this.#over.abort();
    this.#stream = undefined;
    this.#kept.clear();
  }

  async #open(cluster: Ports['cluster']): Promise<WaitingPodStream> {
    const over = new AbortController();
    this.#over = over;
    const close = (): void => {
      if (this.#over === over) this.close();
    };
    try {
      const listener = { told: (pod: WaitingPod) => this.#told(pod), over: close };
      return await cluster.followWaitingPods(listener, over.signal);
    } catch (error) {
      close();
      throw error;
    }
  }

  #told({ uid, nominatedNodeName, isOver }: WaitingPod): void {
    const kept = this.#kept.get(uid);
    if (kept === undefined) return;
    if (isOver) {
      this.#kept.delete(uid);
      if (this.#kept.size === 0) this.close();
    } else if (nominatedNodeName === kept.nodeName) {
      kept.isNominated = true;
      kept.isLost = false;
    } else if (kept.isNominated) {
      kept.isNominated = false;
      kept.isLost = true;
      if (kept.isKept) void this.#nominateAgain(kept);
    }
  }

  async #nominateAgain(kept: Kept): Promise<void> {
    if (kept.triesLeft === 0) return;
    kept.triesLeft -= 1;
    try {
      await this.#cluster?.nominate(podRef(kept.pod), kept.nodeName);
    } catch {
      // The Lease is lost, or the API server does not want it: the next pass says so.
      this.close();
    }
  }
}
