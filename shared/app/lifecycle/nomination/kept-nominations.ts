import { hardDomainSpreads, type Pod } from '../../../core/model/pod.ts';
import { type Nominees, nominableTogether } from '../../../core/nomination/spread-order.ts';
import type { Ports, WaitingPod, WaitingPodStream } from '../../../ports.ts';
import { atOnce } from '../../writes/at-once.ts';
import type { Failure } from '../../writes/attempt.ts';
import { untilKarpenterIsActive } from '../../writes/karpenter-lease.ts';
import { podRef } from '../../writes/references.ts';
import { SETTLING_MS } from './nominations.ts';

/** A pod whose place is taken loses its nomination each time it is tried, and others theirs by that. */
const TRIES_MAX = 3;
/** More at once would only wait in the API server, which is busy with binding. */
const AT_ONCE_MAX = 8;

interface Kept {
  readonly pod: Pod;
  /** Where its place is. */
  nodeName: string;
  readonly untilMs: number;
  triesLeft: number;
  /**
   * `none`: another pod has to be bound to the node before (`nominableTogether`); `lost`: it had the
   * nomination, and did not get it again yet.
   */
  nomination: 'none' | 'awaited' | 'held' | 'lost';
  /** It gets it again as soon as it loses it. */
  isKept: boolean;
}

/** Whether each could have the other's place. */
function areEqual(a: Pod, b: Pod): boolean {
  return a.spec === b.spec && a.controller !== undefined && a.controller.uid === b.controller?.uid;
}

/** Whether the pod has not had its nomination all the time: its place was free for others. */
function wasWithout({ nomination, triesLeft }: Kept): boolean {
  return nomination === 'none' || nomination === 'lost' || triesLeft < TRIES_MAX;
}

/** Those of the pass that looks after nominations. */
type NominationPorts = Pick<Ports, 'cluster' | 'clock'>;

/**
 * Nominations that kube-scheduler is not to take away for good while nodes open. It takes one away
 * when it tries the pod before its node is open, and what comes next in its queue may be put on the
 * pod's place: there is no time for another look at the cluster. Where that was an equal pod, the
 * two have exchanged their places. Lives as long as passes follow each other; what is missed,
 * because a stream broke or a pod was given up, the next pass finds, but for such exchanges, which
 * claims do not know of.
 */
export class KeptNominations {
  #ports: NominationPorts | undefined;
  readonly #kept = new Map<string, Kept>();
  #stream: Promise<WaitingPodStream> | undefined;
  /** Ends the stream. */
  #over = new AbortController();
  /** A pass has asked for rest and not said yet which nominations are to be kept. */
  #isAwaited = false;
  readonly #queue: (() => Promise<void>)[] = [];
  readonly #workers = new Set<Promise<void>>();
  /** By the node that could not be nominated to. */
  readonly #failures = new Map<string, string>();

  /** Waits until kube-scheduler is not trying pods, and knows of what was written; not for longer. */
  async rest(ports: NominationPorts, msMax: number): Promise<void> {
    await (await this.#following(ports)).rest(msMax);
  }

  /** The waiting pods' uids in the order in which they were last tried, and will be tried again. */
  async order(ports: NominationPorts): Promise<readonly string[]> {
    return await (await this.#following(ports)).order();
  }

  async #following(ports: NominationPorts): Promise<WaitingPodStream> {
    this.#ports = ports;
    this.#isAwaited = true;
    this.#stream ??= this.#open(ports);
    return await this.#stream;
  }

  /**
   * Notes from now on which of these pods, of which the nominees are about to be nominated, lose
   * that or go elsewhere.
   */
  async follow(
    ports: NominationPorts,
    arrivals: readonly Nominees[],
    nominees: readonly Nominees[],
  ): Promise<void> {
    await this.#following(ports);
    const nominated = new Set(nominees.flatMap(({ pods }) => pods));
    const nomination = (pod: Pod, nodeName: string): Kept['nomination'] => {
      if (nominated.has(pod)) return 'awaited';
      return pod.nominatedNodeName === nodeName ? 'held' : 'none';
    };
    const untilMs = ports.clock.nowMs() + SETTLING_MS;
    for (const { node, pods } of arrivals) {
      for (const pod of pods) {
        const state = { nomination: nomination(pod, node.name), triesLeft: TRIES_MAX };
        const kept = { pod, nodeName: node.name, untilMs, isKept: false, ...state };
        this.#kept.set(pod.uid, kept);
      }
    }
  }

  /** Nominates those again that have lost it; from now on each as soon as it loses it. */
  async keep(): Promise<void> {
    this.#isAwaited = false;
    const lost = [...this.#kept.values()].filter(({ nomination }) => nomination === 'lost');
    const nodeNames = new Set([...this.#kept.values()].map(({ nodeName }) => nodeName));
    for (const each of this.#kept.values()) each.isKept = true;
    await atOnce(AT_ONCE_MAX, lost, (each) => this.#nominateAgain(each));
    for (const nodeName of nodeNames) this.#nominateNext(nodeName);
    this.#closeIdle();
  }

  /** Whether the pod has a nomination, or is just getting it: what a pass has read may be older. */
  isNominated({ uid }: Pod): boolean {
    const nomination = this.#kept.get(uid)?.nomination;
    return nomination === 'held' || nomination === 'awaited';
  }

  /** The pass is over: a stream that nobody needs ends, whatever the pass has come to. */
  passed(): void {
    this.#isAwaited = false;
    this.#closeIdle();
  }

  /**
   * Leaves those of other nodes alone, which are closed after all or on their way out, and those
   * that have not got a node in time.
   */
  keepOnly(isKept: (nodeName: string) => boolean, nowMs: number): void {
    for (const [uid, { nodeName, untilMs }] of this.#kept) {
      if (nowMs >= untilMs || !isKept(nodeName)) this.#kept.delete(uid);
    }
    this.#closeIdle();
  }

  /** What was refused since the last pass. */
  takeFailures(): readonly Failure[] {
    const failures = [...this.#failures].map(([object, message]) => ({ object, message }));
    this.#failures.clear();
    return failures;
  }

  /** Nothing is written any more once this has resolved. */
  async close(): Promise<void> {
    this.#isAwaited = false;
    this.#forget();
    await Promise.all(this.#workers);
    this.#ports = undefined;
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

  async #open(ports: NominationPorts): Promise<WaitingPodStream> {
    const over = new AbortController();
    this.#over = over;
    const forget = (): void => {
      if (this.#over === over) this.#forget();
    };
    try {
      const listener = { onChange: (pod: WaitingPod) => this.#onChange(pod), onEnd: forget };
      return await ports.cluster.followWaitingPods(listener, over.signal);
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** One that is nominated elsewhere has got a place by preemption, or by a later plan. */
  #onChange({ uid, nominatedNodeName, nodeName, isOver }: WaitingPod): void {
    const kept = this.#kept.get(uid);
    if (kept === undefined) return;
    if (isOver) {
      this.#kept.delete(uid);
      this.#exchange(kept, nodeName);
      this.#closeIdle();
    } else if (nominatedNodeName === kept.nodeName) {
      kept.nomination = 'held';
    } else if (kept.nomination === 'awaited') {
      // What we have written is still to come.
    } else if (nominatedNodeName !== undefined) {
      this.#giveUp(kept);
    } else if (kept.nomination === 'held') {
      kept.nomination = 'lost';
      if (kept.isKept && !this.#mayBeTaken(kept)) this.#enqueue(() => this.#nominateAgain(kept));
    }
  }

  /** The next pass looks after the pod, which may let another be nominated to its node. */
  #giveUp(kept: Kept): void {
    if (this.#kept.get(kept.pod.uid) !== kept) return;
    this.#kept.delete(kept.pod.uid);
    this.#nominateNext(kept.nodeName);
    this.#closeIdle();
  }

  #equalsOf({ pod }: Kept): readonly Kept[] {
    return [...this.#kept.values()].filter((each) => areEqual(each.pod, pod));
  }

  /**
   * Whether an equal pod is about to get a node, perhaps this one's place: its own may be none for
   * it as long as this pod's domain is behind. Nominated to a place that is taken, the pod would
   * keep a third one from the node.
   */
  #mayBeTaken(kept: Kept): boolean {
    if (hardDomainSpreads(kept.pod.spec).length === 0) return false;
    return this.#equalsOf(kept).some(({ nomination }) => nomination !== 'lost');
  }

  /** Where the pod has taken an equal one's place, that one gets the place which is free now. */
  #exchange(gone: Kept, taken: string | undefined): void {
    const { nodeName } = gone;
    const equals = this.#equalsOf(gone);
    const displaced = equals
      .filter((each) => taken !== nodeName && each.nodeName === taken)
      .toSorted((a, b) => Number(wasWithout(b)) - Number(wasWithout(a)))[0];
    if (displaced !== undefined) {
      displaced.nodeName = nodeName;
      displaced.nomination = 'none';
    }
    this.#nominateNext(nodeName);
    for (const each of equals) {
      const isDue = each.nomination === 'lost' && each.isKept && !this.#mayBeTaken(each);
      if (isDue) this.#enqueue(() => this.#nominateAgain(each));
    }
  }

  /** Nominates those to the node that others of them kept from it until now. */
  #nominateNext(nodeName: string): void {
    const here = [...this.#kept.values()].filter((each) => each.nodeName === nodeName);
    const isWithout = ({ nomination, isKept }: Kept): boolean => nomination === 'none' && isKept;
    const podsOf = (those: readonly Kept[]): readonly Pod[] => those.map(({ pod }) => pod);
    const nominated = here.filter(({ nomination }) => nomination !== 'none');
    const next = new Set(nominableTogether(podsOf(here.filter(isWithout)), podsOf(nominated)));
    for (const kept of here.filter(({ pod }) => next.has(pod))) {
      kept.nomination = 'awaited';
      this.#enqueue(() => this.#nominate(kept));
    }
  }

  #enqueue(task: () => Promise<void>): void {
    this.#queue.push(task);
    if (this.#workers.size >= AT_ONCE_MAX) return;
    const worker = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async #work(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await next();
    }
  }

  /** After so many tries its place is taken: the next pass looks whether there is room. */
  async #nominateAgain(kept: Kept): Promise<void> {
    if (kept.nomination !== 'lost') return;
    kept.nomination = 'awaited';
    kept.triesLeft -= 1;
    if (kept.triesLeft < 0) this.#giveUp(kept);
    else await this.#nominate(kept);
  }

  /** One that is refused is left to the next pass. */
  async #nominate(kept: Kept): Promise<void> {
    const ports = this.#ports;
    const { pod, nodeName, untilMs } = kept;
    if (ports === undefined || this.#kept.get(pod.uid) !== kept) return;
    let isDone = false;
    try {
      const nominate = () => ports.cluster.nominate(podRef(pod), nodeName);
      const isLate = ports.clock.nowMs() >= untilMs;
      isDone = !isLate && (await untilKarpenterIsActive(nominate)) === 'done';
    } catch (error) {
      // Nobody waits for this: whatever it is, the next pass or the end of the run says it.
      this.#failures.set(`Node/${nodeName}`, String(error));
    }
    if (!isDone) this.#giveUp(kept);
  }
}
