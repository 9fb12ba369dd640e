import type { Clock } from '../ports.ts';

interface Entry {
  readonly atMs: number;
  /** Entries of one moment keep the order in which they were put there. */
  readonly order: number;
  readonly run: () => Promise<void> | void;
}

/** Virtual time: it moves only from one planned event to the next. */
export class Timeline implements Clock {
  private now: number;
  private planned = 0;
  /** The text of the moment, kept as long as time stands still. */
  private iso = '';
  private isoOf = Number.NaN;
  private readonly heap: Entry[] = [];

  constructor(startMs: number) {
    this.now = startMs;
  }

  nowMs(): number {
    return this.now;
  }

  isoNow(): string {
    if (this.isoOf !== this.now) {
      this.isoOf = this.now;
      this.iso = isoSeconds(this.now);
    }
    return this.iso;
  }

  /** Plans something; what lies in the past runs next. */
  at(atMs: number, run: Entry['run']): void {
    this.planned += 1;
    const entry = { atMs: Math.max(atMs, this.now), order: this.planned, run };
    let index = this.heap.length;
    this.heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.heap[parent];
      if (above === undefined || !isBefore(entry, above)) break;
      this.heap[index] = above;
      this.heap[parent] = entry;
      index = parent;
    }
  }

  after(delayMs: number, run: Entry['run']): void {
    this.at(this.now + delayMs, run);
  }

  /** When the next event is due. */
  nextMs(): number | undefined {
    return this.heap[0]?.atMs;
  }

  /** Moves to the next moment and runs everything planned for it. */
  async advance(): Promise<void> {
    const next = this.nextMs();
    if (next === undefined) return;
    this.now = next;
    while (this.nextMs() === next) await this.pop()?.run();
  }

  /** Whoever waits does so while everything else goes on, what is planned meanwhile included. */
  async sleep(ms: number): Promise<void> {
    const untilMs = this.now + ms;
    for (;;) {
      const next = this.nextMs();
      if (next === undefined || next > untilMs) break;
      await this.advance();
    }
    this.moveTo(untilMs);
  }

  /** Lets time pass up to a moment at which nothing is planned. */
  moveTo(atMs: number): void {
    this.now = Math.max(this.now, atMs);
  }

  private pop(): Entry | undefined {
    const [first] = this.heap;
    const last = this.heap.pop();
    if (last === undefined || this.heap.length === 0) return first;
    this.heap[0] = last;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      let least = index;
      if (isBeforeAt(this.heap, left, least)) least = left;
      if (isBeforeAt(this.heap, right, least)) least = right;
      if (least === index) return first;
      const [a, b] = [this.heap[index], this.heap[least]];
      if (a === undefined || b === undefined) return first;
      this.heap[index] = b;
      this.heap[least] = a;
      index = least;
    }
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

function isBeforeAt(heap: readonly Entry[], a: number, b: number): boolean {
  const [left, right] = [heap[a], heap[b]];
  return left !== undefined && right !== undefined && isBefore(left, right);
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function isoSeconds(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
