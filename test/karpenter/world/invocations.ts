import { TIMEOUTS } from '../../../infra/constructs/settings.ts';
import { SCHEDULES } from '../../../infra/constructs/triggers.ts';
import type { FunctionName } from '../../../shared/contract.ts';
import { WAKE_EVENT, WAKE_TARGETS } from '../../../shared/contract.ts';
import { property } from '../../../shared/kube/list.ts';
import { CLUSTER, type WireCloud } from '../../support/aws/cloud.ts';
import type { ModelMessage } from '../../support/aws/model/queues.ts';
import { contextOf, type Handlers } from '../../support/closed-loop/functions.ts';
import { queueRecord } from '../../support/closed-loop/messages.ts';

/** The bus delivers within this time. */
const DELIVERY_MS = 50;
/** Lambda polls the queue all the time. */
const POLL_MS = 500;
const BATCH_SIZE = 10;
/** As the queue's visibility timeout makes a message that failed come again. */
const AGAIN_MS = 10_000;
/** Schedules of one minute do not fall on one moment. */
const APART_MS = 6_000;

const TARGETS: Readonly<Record<string, readonly string[]>> = WAKE_TARGETS;

/** Invokes the functions as the deployed stack does: by its schedules, its bus and its queue. */
export class Invocations {
  /** What functions threw. */
  readonly faults: string[] = [];
  private readonly handlers: Handlers;
  private readonly cloud: WireCloud;
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly running = new Set<Promise<unknown>>();
  private delivered = 0;
  private count = 0;
  private isOver = false;

  constructor(handlers: Handlers, cloud: WireCloud) {
    this.handlers = handlers;
    this.cloud = cloud;
  }

  start(): void {
    const names = [...this.handlers.keys()];
    for (const [at, name] of names.entries()) {
      for (const { every, kind } of SCHEDULES[name] ?? []) {
        const detail = { cluster: CLUSTER, kind };
        const tick = (): void => {
          void this.invoke(name, { 'detail-type': WAKE_EVENT.scheduleDetailType, detail });
        };
        const first = setTimeout(() => {
          tick();
          this.timers.add(setInterval(tick, every.toMilliseconds()));
        }, at * APART_MS);
        this.timers.add(first);
      }
    }
    this.timers.add(setInterval(() => this.deliver(), DELIVERY_MS));
    this.timers.add(setInterval(() => this.poll(), POLL_MS));
  }

  /** Tells all invocations that their time is up, and waits for them. */
  async stop(): Promise<void> {
    this.isOver = true;
    for (const timer of this.timers) clearTimeout(timer);
    await Promise.all(this.running);
  }

  private invoke(name: FunctionName, event: object): Promise<unknown> {
    const endsAtMs = performance.now() + TIMEOUTS[name].toMilliseconds();
    const remainingMs = (): number => (this.isOver ? 0 : endsAtMs - performance.now());
    this.count += 1;
    const context = contextOf(name, remainingMs, `${name}-${this.count}`);
    const invocation: Promise<unknown> = Promise.resolve()
      .then(() => this.handlers.get(name)?.(event, context))
      .catch((error: unknown) => {
        const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.faults.push(`${new Date().toISOString()} ${name}: ${said}`);
      })
      .finally(() => this.running.delete(invocation));
    this.running.add(invocation);
    return invocation;
  }

  private deliver(): void {
    for (const entry of this.cloud.events.slice(this.delivered)) {
      const detail: unknown = JSON.parse(entry.Detail ?? '{}');
      const woken = TARGETS[String(property(detail, 'kind'))] ?? [];
      for (const name of this.handlers.keys()) {
        if (woken.includes(name))
          void this.invoke(name, { 'detail-type': entry.DetailType, detail });
      }
    }
    this.delivered = this.cloud.events.length;
  }

  private poll(): void {
    const free = this.cloud.messages.filter((each) => each.receipt === undefined);
    const taken = free.slice(0, BATCH_SIZE);
    if (taken.length > 0) void this.handOver(taken);
  }

  private async handOver(taken: readonly ModelMessage[]): Promise<void> {
    for (const each of taken) each.receipt = 'taken';
    const Records = taken.map(({ id, body }) => queueRecord(id, body));
    const answer = await this.invoke('interrupt', { Records });
    const failures = property(answer, 'batchItemFailures');
    const again = new Set(
      (Array.isArray(failures) ? failures : []).map((each) => property(each, 'itemIdentifier')),
    );
    for (const each of taken) {
      if (again.has(each.id)) {
        const later = setTimeout(() => {
          each.receipt = undefined;
        }, AGAIN_MS);
        this.timers.add(later);
      } else {
        this.cloud.messages.splice(this.cloud.messages.indexOf(each), 1);
      }
    }
  }
}
