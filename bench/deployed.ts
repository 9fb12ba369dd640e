/** The functions as they are deployed, in processes of their own, woken as the stack's rules do. */
import { type FunctionName, WAKE_EVENT, WAKE_TARGETS } from '../shared/contract.ts';
import { property } from '../shared/kube/list.ts';
import { BUCKET, CLUSTER, type WireCloud } from '../test/support/aws/cloud.ts';
import { type DeployedFunction, synthesiseFunctions } from '../test/support/bundles/assembly.ts';
import { BundledFunctions } from '../test/support/bundles/processes.ts';
import { KEYS, REGION } from '../test/support/closed-loop/functions.ts';
import { eventually } from './observer.ts';

/** How often the bus is looked at: what EventBridge itself takes is added in docs/performance.md. */
const BUS_MS = 1;
const INVOCATION_MS = 300_000;
const WATCH_MS = 840_000;

/** One sandbox of Lambda: it serves one invocation at a time. */
interface Lane {
  readonly functions: BundledFunctions;
  isBusy: boolean;
}

const TARGETS: Readonly<Record<string, readonly FunctionName[]>> = WAKE_TARGETS;

/** Lambda with as many sandboxes as invocations at once, and EventBridge. */
export class Deployed {
  readonly faults: unknown[] = [];
  /** Wake-ups as they were put onto the bus, and when by the clock of `performance.now`. */
  readonly wakeUps: { readonly kind: string; readonly atMs: number }[] = [];
  private readonly cloud: WireCloud;
  private readonly assembly: ReturnType<typeof synthesiseFunctions>;
  private readonly lanes = new Map<FunctionName, Lane[]>();
  private readonly timers: NodeJS.Timeout[] = [];
  private delivered: number;
  private isOver = false;

  constructor(cloud: WireCloud) {
    this.cloud = cloud;
    this.delivered = cloud.events.length;
    this.assembly = synthesiseFunctions({ cluster: CLUSTER }, REGION, {
      'AWS::AccountId': cloud.account.id,
      'AWS::URLSuffix': 'amazonaws.com',
      bucket: BUCKET,
    });
    this.timers.push(setInterval(() => this.deliver(), BUS_MS));
  }

  /** Invokes in a sandbox that is free, the one used last first; where none is, in a new one. */
  async invoke(name: FunctionName, event: object = {}, ms = INVOCATION_MS): Promise<unknown> {
    const lanes = this.lanes.get(name) ?? [];
    this.lanes.set(name, lanes);
    const lane = lanes.find((each) => !each.isBusy) ?? this.newLane(lanes);
    lane.isBusy = true;
    try {
      return await lane.functions.invoke(name, event, ms);
    } finally {
      lane.isBusy = false;
    }
  }

  /** The schedule of a minute: `watch`, unless left out, and the functions that tick. */
  schedule(everyMs: number, names: readonly FunctionName[]): void {
    const tick = (): void => {
      for (const name of names) this.begin(name, {});
    };
    tick();
    this.timers.push(setInterval(tick, everyMs));
  }

  isIdle(name: FunctionName): boolean {
    return (this.lanes.get(name) ?? []).every(({ isBusy }) => !isBusy);
  }

  /** What its sandboxes have logged. */
  logOf(name: FunctionName): readonly string[] {
    return (this.lanes.get(name) ?? []).flatMap(({ functions }) => functions.output);
  }

  /**
   * As when Lambda takes all of a function's sandboxes away, which it does when they are idle: the
   * next invocation starts cold.
   */
  async forget(name: FunctionName): Promise<void> {
    await eventually(`${name} is idle`, () => this.isIdle(name) || undefined);
    await this.end(name);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    for (const timer of this.timers) clearInterval(timer);
    for (const name of [...this.lanes.keys()]) await this.end(name);
    this.assembly.stop();
  }

  private async end(name: FunctionName): Promise<void> {
    const lanes = this.lanes.get(name) ?? [];
    this.lanes.delete(name);
    for (const { functions } of lanes) await functions.stop();
  }

  private newLane(lanes: Lane[]): Lane {
    const lane = { functions: this.processes(this.assembly.functions), isBusy: false };
    lanes.push(lane);
    return lane;
  }

  private processes(functions: readonly DeployedFunction[]): BundledFunctions {
    return new BundledFunctions(functions, (name) => ({
      AWS_LAMBDA_FUNCTION_NAME: name,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      AWS_ENDPOINT_URL: this.cloud.endpoint,
    }));
  }

  private begin(name: FunctionName, event: object): void {
    const ms = name === 'watch' ? WATCH_MS : INVOCATION_MS;
    this.invoke(name, event, ms).catch((error: unknown) => {
      // A sandbox that was taken away in the middle of an invocation is no fault.
      if (!this.isOver && !String(error).includes('ended with')) this.faults.push(error);
    });
  }

  private deliver(): void {
    const { events } = this.cloud;
    for (const { Detail, DetailType } of events.slice(this.delivered)) {
      const detail: unknown = JSON.parse(Detail ?? '{}');
      const type = DetailType ?? WAKE_EVENT.wakeDetailType;
      const kind = String(property(detail, 'kind'));
      this.wakeUps.push({ kind, atMs: performance.now() });
      for (const name of TARGETS[kind] ?? []) {
        this.begin(name, { 'detail-type': type, detail });
      }
    }
    this.delivered = events.length;
  }
}
