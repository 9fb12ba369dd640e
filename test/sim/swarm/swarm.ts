import { limitGroupsOf } from '../../../shared/core/limit-groups/limit-groups.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import type { Script } from '../../../shared/sim/script.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { smallWorld } from '../small-world.ts';
import { Awaits, settled } from './awaits.ts';
import { type Bill, billOf } from './bill.ts';
import { isAnyFull } from './caps.ts';
import { Safety } from './checkers.ts';
import { pausesEndMs, planPauses } from './cluster-pauses.ts';
import { FAULT_NAMES, type FaultName, Faults } from './faults.ts';
import { faultyPorts, LastRead } from './faulty-ports.ts';
import { type FunctionName, Functions } from './functions.ts';
import { exceededGoals, GOALS, unmetGoals } from './goals.ts';
import { Karpenter } from './karpenter.ts';
import { type LaunchCounts, Launches } from './launch-counts.ts';
import { LeaseServer } from './lease-server.ts';
import { GROUP } from './more-pools.ts';
import { one } from './one.ts';
import { startParts } from './parts.ts';
import { giveReasonsToMove } from './reasons-to-move.ts';
import { BLOCK_NOTICE_MS, planReserved, reservedEndMs } from './reserved.ts';
import type { Setting } from './setting.ts';
import { type SettingOptions, settingOf } from './setting-of.ts';
import { ACTIONS, type ActionName, Users } from './users.ts';
import { UNCERTAIN, Waits } from './waits.ts';

const MINUTE = 60_000;
const TICKED = ['nodeclass', 'provision', 'lifecycle', 'disrupt'] as const;
/** A run ends once nothing was launched or evicted for so long and every goal is met. */
const REST_MS = 20 * MINUTE;
/** From the end of faults: enough for back-offs and for rolls of one node at a time. */
const HEALING_MS = 240 * MINUTE;
const PROBLEMS_MAX = 20;
/** A bill that is too high is looked at again after this time: a plan takes a while. */
const BILL_MS = 5 * MINUTE;
const GOALS_OF_REST = GOALS.filter(({ isOfRest }) => isOfRest);
/** Minutes with faults in a run. */
export const MINUTES = 30;

export interface SwarmOptions extends SettingOptions {
  /** Minutes with faults; then the world has four hours to come to rest. @default 30 */
  readonly minutes?: number;
  /** @default drawn from the seed */
  readonly faults?: readonly FaultName[];
  /** @default drawn from the seed */
  readonly actions?: readonly ActionName[];
  /** Receives a line for each write and each event. */
  readonly trace?: (line: string) => void;
}

export interface SwarmReport {
  readonly seed: number;
  readonly faults: readonly FaultName[];
  readonly actions: readonly ActionName[];
  /** What does not hold, with the second at which it was seen first. */
  readonly problems: readonly string[];
  /** How often each fault and action happened. */
  readonly marks: ReadonlyMap<string, number>;
  readonly launched: number;
  readonly evictions: number;
  readonly minutes: number;
  readonly launches: LaunchCounts;
  /** Undefined: the world did not come to rest. */
  readonly bill: Bill | undefined;
  readonly waitMinutes: number;
}

/** One world with faults: the same seed and options give the same run. */
export async function swarm(seed: number, options: SwarmOptions = {}): Promise<SwarmReport> {
  const choice = new Prng(seed, 'choice');
  // Drawn even where they are given, so that everything else of the seed stays as it is.
  const drawn = {
    faults: FAULT_NAMES.filter(() => choice.next() < 0.4),
    actions: ACTIONS.filter(() => choice.next() < 0.5),
  };
  const { faults, actions } = { ...drawn, ...options };
  const rate = one(choice, [0.5, 1, 2, 4]);
  const setting = settingOf(seed, options);
  const settings = { limitGroups: groupsOf(setting) };
  const reservations = setting.reserved.map(({ terms }) => terms);
  const { world, script } = await smallWorld(setting.manifests, { seed, settings, reservations });
  giveReasonsToMove({ world, script, setting });
  const run = new Run({ seed, world, script, setting, faults, actions, rate, options });
  await run.play();
  const { problems, marks, minutes, bill } = run;
  const { launched, evictions } = world;
  const launches = run.launches.counts;
  const { longestMinutes: waitMinutes } = run.waits;
  const counts = { launched, evictions, minutes, launches, bill, waitMinutes };
  return { seed, faults, actions, problems, marks, ...counts };
}

function groupsOf({ nodesMax, groupCaps }: Setting) {
  const entries = [
    ...(nodesMax === undefined ? [] : [`all nodes=${nodesMax}`]),
    ...(groupCaps === undefined ? [] : [`${GROUP} ${groupCaps}`]),
  ];
  return limitGroupsOf(entries.join('; ')) ?? [];
}

interface RunSettings {
  readonly seed: number;
  readonly world: World;
  readonly script: Script;
  readonly setting: Setting;
  readonly faults: readonly FaultName[];
  readonly actions: readonly ActionName[];
  readonly rate: number;
  readonly options: SwarmOptions;
}

class Run {
  readonly problems: string[] = [];
  readonly launches: Launches;
  readonly waits: Waits;
  bill: Bill | undefined;
  private readonly settings: RunSettings;
  private readonly world: World;
  private readonly order: Prng;
  private readonly faults: Faults;
  private readonly awaits: Awaits;
  private readonly karpenter: Karpenter;
  private readonly functions: Functions;
  private readonly safety: Safety;
  private readonly users: Users;
  private readonly endOfFaultsMs: number;
  private readonly endMs: number;
  private settledVersion = -1;
  private settleAtMs = WORLD_START_MS;
  private noticedVersion = -1;
  private nextTickMs = WORLD_START_MS;
  private nextActionMs = WORLD_START_MS + 4 * MINUTE;
  private readonly lastRead = new LastRead();
  private readonly wakes = new Map<FunctionName, number>();
  private acts = 0;
  private restsFromMs = WORLD_START_MS;
  private nextBillMs = WORLD_START_MS;

  constructor(settings: RunSettings) {
    const { seed, world, script, setting } = settings;
    this.karpenter = new Karpenter(world.timeline);
    const { karpenter } = this;
    this.settings = settings;
    this.world = world;
    this.launches = new Launches(world);
    this.endOfFaultsMs = WORLD_START_MS + (settings.options.minutes ?? MINUTES) * MINUTE;
    this.endMs = this.endOfFaultsMs + HEALING_MS;
    this.order = new Prng(seed, 'order');
    this.waits = new Waits(world, () => this.isHeld());
    this.faults = new Faults(seed, settings.faults, settings.rate, (name) => {
      this.waits.note(name);
      settings.options.trace?.(`${this.second()} FAULT ${name}`);
    });
    this.awaits = new Awaits(world.timeline, this.order);
    const random = new Prng(seed, 'users');
    const after = (ms: number, act: () => void): void => world.timeline.after(ms, act);
    const warn = (id: string): void => this.warn(id);
    this.users = new Users({ world, script, setting, random, karpenter, warn, after });
    const onProblem = (problem: string): void => this.note(problem);
    const isCapacityCertain = (): boolean =>
      setting.spotFromMinute === undefined && !UNCERTAIN.some((each) => this.marks.has(each));
    const { users } = this;
    this.safety = new Safety({ world, setting, karpenter, users, isCapacityCertain, onProblem });
    this.functions = this.functionsOf(onProblem);
    const mark = (what: string): void => this.faults.mark(what);
    const { touched } = users;
    startParts({ world, setting, seed, options: settings.options, touched, mark });
    planPauses(world, setting.kinds.pauses, (scope) => mark(`pause ${scope}`));
    planReserved(world, setting.reserved, {
      mark,
      problem: (each) => {
        // Joiner does nothing while Karpenter leads.
        const ledMs = karpenter.renewedAtMs() ?? Number.NEGATIVE_INFINITY;
        if (world.timeline.nowMs() - ledMs > BLOCK_NOTICE_MS) onProblem(each);
      },
    });
    world.joins = () => !this.faults.happens('node-never-joins');
  }

  get marks(): ReadonlyMap<string, number> {
    return this.faults.marks;
  }

  get minutes(): number {
    return (this.world.timeline.nowMs() - WORLD_START_MS) / MINUTE;
  }

  async play(): Promise<void> {
    const { timeline } = this.world;
    while (timeline.nowMs() < this.endMs && !(await this.isAtRest())) {
      if (timeline.nowMs() >= this.endOfFaultsMs) this.endFaults();
      this.settle();
      this.noticeChanges();
      this.safety.check();
      this.launches.check();
      this.waits.check();
      if (await this.awaits.step()) continue;
      if (this.startDue()) await settled();
      else await this.advance();
    }
    this.bill = await billOf(this.world, this.settings.setting);
    for (const each of this.exceeded()) this.note(`at the end ${each}`);
    if (timeline.nowMs() < this.endMs) return;
    for (const each of this.unmet()) this.note(`at the end ${each}`);
    const sinceMs = timeline.nowMs() - this.restsFromMs;
    if (sinceMs < REST_MS) this.note(`at the end no rest: last act ${sinceMs / 1000} s ago`);
  }

  private functionsOf(onProblem: (problem: string) => void): Functions {
    const { world, options } = this.settings;
    const { awaits, faults } = this;
    const nowMs = (): number => world.timeline.nowMs();
    return new Functions({
      awaits,
      faults,
      settings: world.settings,
      leases: new LeaseServer(),
      nowMs,
      wake: (name) => this.wake(name),
      onProblem,
      portsOf: (by) =>
        faultyPorts(
          {
            ports: world.ports,
            awaits,
            faults,
            lastRead: this.lastRead,
            karpenter: this.karpenter,
            nowMs,
            onWrite: (writer, call, args) => {
              this.safety.onWrite(writer, call, args);
              options.trace?.(
                `${this.second()} ${writer.function}#${writer.id} ${call} ${JSON.stringify(args).slice(0, 300)}`,
              );
            },
          },
          by,
        ),
    });
  }

  private endFaults(): void {
    if (this.nextActionMs === Number.POSITIVE_INFINITY) return;
    this.faults.end();
    this.users.restore();
    this.nextActionMs = Number.POSITIVE_INFINITY;
  }

  /** kube-scheduler, controllers and kubelets act a moment after a change. */
  private settle(): void {
    const { store, timeline, controlPlane } = this.world;
    if (store.version === this.settledVersion || timeline.nowMs() < this.settleAtMs) return;
    controlPlane.settle();
    this.settledVersion = store.version;
    const most = this.faults.happens('scheduler-slow') ? 3_000 : 100;
    this.settleAtMs = timeline.nowMs() + this.order.between(1, most);
  }

  /** The watch wakes the functions after a change. */
  private noticeChanges(): void {
    if (this.world.store.version === this.noticedVersion) return;
    this.noticedVersion = this.world.store.version;
    this.wake('provision', 300 + this.order.between(0, 500));
    this.wake('lifecycle');
  }

  private wake(name: FunctionName, ms = this.order.between(50, 400)): void {
    if (this.faults.happens('event-lost')) return;
    const atMs = this.world.timeline.nowMs() + ms;
    this.wakes.set(name, Math.min(atMs, this.wakes.get(name) ?? atMs));
  }

  /** Starts what is due; false: nothing is. */
  private startDue(): boolean {
    const nowMs = this.world.timeline.nowMs();
    const due = [...this.wakes].filter(([, atMs]) => atMs <= nowMs);
    for (const [name] of due) {
      this.wakes.delete(name);
      this.functions.invoke(name);
      if (this.faults.happens('event-doubled')) this.functions.invoke(name);
    }
    const isTick = nowMs >= this.nextTickMs;
    if (isTick) this.tick();
    const isAction = nowMs >= this.nextActionMs;
    if (isAction) this.act();
    return due.length > 0 || isTick || isAction;
  }

  private tick(): void {
    this.nextTickMs += MINUTE;
    this.users.deleteDeadNodes();
    for (const name of TICKED) {
      if (this.faults.happens('tick-missed')) continue;
      const delayMs = this.order.between(0, 2_000);
      this.world.timeline.after(delayMs, () => this.functions.invoke(name));
    }
  }

  private act(): void {
    const { timeline, compute } = this.world;
    this.nextActionMs = timeline.nowMs() + this.order.between(10, 75) * 1_000;
    // One that this run does not have leaves the others where they were.
    const action = one(this.order, ACTIONS);
    if (this.settings.actions.includes(action)) {
      this.faults.mark(`action ${action}`);
      this.users.act(action);
    }
    const machine = [...compute.machines.values()].find(({ state }) => state === 'running');
    if (machine !== undefined && this.faults.happens('instance-dies')) {
      void compute.terminate([machine.id]);
    }
  }

  private warn(id: string): void {
    const { world } = this;
    const body = world.takeBack(id);
    const lateMs = this.faults.happens('message-late') ? 30_000 : 0;
    const deliver = (tries: number): void =>
      this.functions.deliver(`warning-${id}`, body, () => {
        if (tries > 0) world.timeline.after(30_000, () => deliver(tries - 1));
      });
    world.timeline.after(lateMs + this.order.between(100, 3_000), () => deliver(5));
    if (this.faults.happens('message-doubled')) {
      world.timeline.after(this.order.between(3_000, 20_000), () => deliver(0));
    }
  }

  private async advance(): Promise<void> {
    const { timeline, store } = this.world;
    const isSettling = store.version !== this.settledVersion;
    const planned = timeline.nextMs() ?? Number.POSITIVE_INFINITY;
    const next = Math.min(
      this.endMs,
      this.nextTickMs,
      this.nextActionMs,
      this.awaits.nextMs(),
      ...this.wakes.values(),
      isSettling ? Math.max(this.settleAtMs, timeline.nowMs() + 1) : Number.POSITIVE_INFINITY,
    );
    if (planned <= next) await timeline.advance();
    else timeline.moveTo(Math.max(next, timeline.nowMs() + 1));
    await settled();
  }

  private unmet(): readonly string[] {
    const { world, setting } = this.settings;
    return unmetGoals({ world, setting, users: this.users });
  }

  /** Faults have ended, nothing has happened for long enough, and every goal is met. */
  private async isAtRest(): Promise<boolean> {
    const { timeline, launched, evictions } = this.world;
    const nowMs = timeline.nowMs();
    const isReserved = nowMs < reservedEndMs(this.settings.setting.reserved);
    if (
      launched + evictions !== this.acts ||
      nowMs < this.endOfFaultsMs ||
      this.isPaused() ||
      isReserved
    ) {
      this.acts = launched + evictions;
      this.restsFromMs = nowMs;
    }
    if (nowMs - this.restsFromMs < REST_MS || nowMs < this.nextBillMs) return false;
    if (this.unmet().length > 0) return false;
    this.nextBillMs = nowMs + BILL_MS;
    this.bill = await billOf(this.world, this.settings.setting);
    return this.exceeded(GOALS_OF_REST).length === 0;
  }

  private isPaused(): boolean {
    const { kinds } = this.settings.setting;
    const untilMs = Math.max(this.users.pools.pausedUntilMs, pausesEndMs(kinds.pauses));
    return this.world.timeline.nowMs() < untilMs;
  }

  /** Whether nothing may be launched now, or no more than limits leave. */
  private isHeld(): boolean {
    const { world, setting } = this.settings;
    const isFull = (): boolean => isAnyFull(readState(world.store).objects, setting);
    return this.isPaused() || this.karpenter.leadsForMs() > 0 || isFull();
  }

  private exceeded(goals = GOALS): readonly string[] {
    const { longestMinutes: waitMinutes } = this.waits;
    return exceededGoals({ launches: this.launches.counts, bill: this.bill, waitMinutes }, goals);
  }

  private note(problem: string): void {
    const isKnown = this.problems.some((each) => each.endsWith(problem));
    if (isKnown || this.problems.length >= PROBLEMS_MAX) return;
    this.problems.push(`${this.second()} ${problem}`);
  }

  private second(): string {
    return `${((this.world.timeline.nowMs() - WORLD_START_MS) / 1000).toFixed(1)}s`;
  }
}
