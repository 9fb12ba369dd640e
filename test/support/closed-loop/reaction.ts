import { WAKE_TARGETS } from '../../../shared/contract.ts';
import { property } from '../../../shared/kube/list.ts';
import type { WireCloud } from '../aws/cloud.ts';
import { LOOP_FUNCTIONS, type LoopFunction } from './functions.ts';

/** Lambda gives a function so long at most. */
const INVOCATION_MS = 900_000;
/** The bus delivers within this time. */
const DELIVERY_MS = 20;

type Invoke = (
  name: LoopFunction,
  event: object,
  remainingMs: number | (() => number),
) => Promise<unknown>;

export interface Reaction {
  /** Throws what a function threw. */
  check(): Promise<void>;
  /** Ends all invocations by telling them that their time is up, and waits for them. */
  stop(): Promise<void>;
}

const TARGETS: Readonly<Record<string, readonly string[]>> = WAKE_TARGETS;

/** What a minute's schedule invokes, by the stack's reaction. */
const SCHEDULED = { watch: ['watch'], tick: ['provision', 'lifecycle'] } as const;

/**
 * What EventBridge does with the stack's rules: invokes what one minute's schedule does and, for
 * each event that comes onto the bus, the functions that it wakes, each in an invocation of its
 * own.
 */
export function react(
  cloud: WireCloud,
  invoke: Invoke,
  reaction: keyof typeof SCHEDULED,
): Reaction {
  const running = new Set<Promise<unknown>>();
  const faults: unknown[] = [];
  let delivered = cloud.events.length;
  let isOver = false;
  const begin = (name: LoopFunction, event: object): void => {
    const endsAtMs = performance.now() + INVOCATION_MS;
    const remainingMs = (): number => (isOver ? 0 : endsAtMs - performance.now());
    const invocation: Promise<unknown> = invoke(name, event, remainingMs)
      .catch((error: unknown) => faults.push(error))
      .finally(() => running.delete(invocation));
    running.add(invocation);
  };
  const deliver = (): void => {
    for (const entry of cloud.events.slice(delivered)) {
      const detail: unknown = JSON.parse(entry.Detail ?? '{}');
      const woken = TARGETS[String(property(detail, 'kind'))] ?? [];
      for (const name of LOOP_FUNCTIONS.filter((each) => woken.includes(each))) {
        begin(name, { 'detail-type': entry.DetailType, detail });
      }
    }
    delivered = cloud.events.length;
  };
  const timer = setInterval(deliver, DELIVERY_MS);
  for (const name of SCHEDULED[reaction]) begin(name, {});
  return {
    check: async () => {
      if (faults.length > 0) throw faults[0];
    },
    stop: async () => {
      clearInterval(timer);
      isOver = true;
      await Promise.all(running);
    },
  };
}
