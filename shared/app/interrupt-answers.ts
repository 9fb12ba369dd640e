import { speaksAgainst } from '../core/interruption/belief.ts';
import { type Instance, PortError, type Ports } from '../ports.ts';

/** EC2 is called once in this time at most for what it was asked for already. */
const CALL_MS = 1_000;
/** Instances in one call, as the adapter makes it. */
const CALL_INSTANCES = 200;
/** Who asks again within this time has many messages, and asks for all instances at once. */
const BUSY_MS = 10_000;
const INSTANCES_MAX = 1_000;
const KEPT_MS = 60_000;
/** A process has other messages to take: of a minute it waits at most half. */
const WAITED_MS_MAX = 30_000;

/** A message about an instance. */
export interface Question {
  readonly instanceId: string;
  readonly sentAtMs: number;
}

export interface Answer<Value> {
  /** When EC2 was asked. */
  readonly atMs: number;
  /** Undefined: it knows nothing of the instance. */
  readonly value: Value | undefined;
  readonly againAtMs: number;
}

/** What EC2 says of the instances of the questions; a fault says why some of them are missing. */
export interface Told<Value> {
  readonly answers: ReadonlyMap<string, Answer<Value>>;
  readonly fault: PortError | undefined;
}

export interface Inquiry<Value> {
  readonly questions: readonly Question[];
  /** All instances of ours. */
  readonly ours: () => readonly string[];
  readonly ask: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
}

/**
 * What EC2 said of instances of ours within the last minute, whatever the number of messages. An
 * answer holds for every message that was sent so long before it that EC2 would know; a message
 * that was sent later is a question of its own, so that no real one is taken for one of before.
 */
export class Answers<Value> {
  private readonly byInstance = new Map<string, Answer<Value>>();
  private readonly nowMs: () => number;
  private askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  async about({ questions, ours, ask }: Inquiry<Value>): Promise<Told<Value>> {
    const atMs = this.nowMs();
    this.forget(atMs);
    const due = [...new Set(questions.filter((each) => this.isDue(each, atMs)).map(idOf))].sort();
    let fault: PortError | undefined;
    if (due.length > 0) {
      try {
        await this.renew(due, ours, ask, atMs);
      } catch (error) {
        if (!(error instanceof PortError)) throw error;
        fault = error;
      }
    }
    const missing = new Set(fault === undefined ? [] : due);
    const answers = new Map<string, Answer<Value>>();
    for (const id of questions.map(idOf)) {
      const answer = this.byInstance.get(id);
      if (answer !== undefined && !missing.has(id)) answers.set(id, answer);
    }
    return { answers, fault };
  }

  /** Whether what EC2 did not say of the instance is its last word about the message. */
  isSettled({ instanceId, sentAtMs }: Question): boolean {
    const answer = this.byInstance.get(instanceId);
    return answer !== undefined && speaksAgainst(answer.atMs, sentAtMs);
  }

  private isDue(question: Question, nowMs: number): boolean {
    const answer = this.byInstance.get(question.instanceId);
    return answer === undefined || (nowMs >= answer.againAtMs && !this.isSettled(question));
  }

  private forget(nowMs: number): void {
    for (const [id, { atMs }] of this.byInstance) {
      if (nowMs - atMs >= KEPT_MS) this.byInstance.delete(id);
    }
  }

  private async renew(
    due: readonly string[],
    ours: Inquiry<Value>['ours'],
    ask: Inquiry<Value>['ask'],
    atMs: number,
  ): Promise<void> {
    const others = atMs - this.askedAtMs < BUSY_MS ? ours() : [];
    this.askedAtMs = atMs;
    const ids = [...new Set([...due, ...others])].slice(0, Math.max(due.length, INSTANCES_MAX));
    const values = await ask(ids);
    const againAtMs = atMs + CALL_MS * Math.ceil(ids.length / CALL_INSTANCES);
    for (const id of ids) this.byInstance.set(id, { atMs, value: values.get(id), againAtMs });
  }
}

function idOf({ instanceId }: Question): string {
  return instanceId;
}

/** How long a process has waited for EC2 within the last minute. */
export class Waits {
  private taken: readonly { readonly atMs: number; readonly ms: number }[] = [];

  /** Whether it may wait now; if so, that is noted. */
  take(ms: number, nowMs: number): boolean {
    this.taken = this.taken.filter(({ atMs }) => nowMs - atMs < KEPT_MS);
    const waitedMs = this.taken.reduce((sum, each) => sum + each.ms, 0);
    if (waitedMs + ms > WAITED_MS_MAX) return false;
    this.taken = [...this.taken, { atMs: nowMs, ms }];
    return true;
  }
}

/** What a process keeps from one batch to the next. */
export interface Known {
  readonly instances: Answers<Instance>;
  /** Whether the instance's spot request says that EC2 takes it back. */
  readonly takenBack: Answers<boolean>;
  readonly waits: Waits;
}

const known = new WeakMap<Ports['compute'], Known>();

/** Kept for as long as EC2 is reached through these ports: those of a process stay the same. */
export function knownThrough({ compute, clock }: Ports): Known {
  const before = known.get(compute);
  if (before !== undefined) return before;
  const nowMs = (): number => clock.nowMs();
  const made = {
    instances: new Answers<Instance>(nowMs),
    takenBack: new Answers<boolean>(nowMs),
    waits: new Waits(),
  };
  known.set(compute, made);
  return made;
}
