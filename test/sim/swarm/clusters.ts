import { GroupUsagesInMemory } from '../../../shared/app/planning/group-usages-in-memory.ts';
import { limitGroupsOf } from '../../../shared/core/limit-groups/limit-groups.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import { Timeline } from '../../../shared/sim/timeline.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { type SmallWorld, smallWorld } from '../small-world.ts';
import { Awaits, settled } from './awaits.ts';
import { AMOUNTS, type Amounts, amountsOf, capsOf } from './caps.ts';
import { FAULT_NAMES, Faults } from './faults.ts';
import { BUCKET_FAULT_NAMES, FaultyBucket } from './faulty-bucket.ts';
import { type FaultySettings, faultyPorts, LastRead } from './faulty-ports.ts';
import { type FunctionName, Functions } from './functions.ts';
import { Karpenter } from './karpenter.ts';
import { LeaseServer } from './lease-server.ts';
import { one } from './one.ts';
import { fixedPool } from './rare-kinds.ts';
import { drawSetting, type Setting } from './setting.ts';
import { type ActionName, Users } from './users.ts';

const MINUTE = 60_000;
const END_OF_FAULTS_MS = WORLD_START_MS + 20 * MINUTE;
const END_MS = END_OF_FAULTS_MS + 40 * MINUTE;
const TICKED = ['nodeclass', 'provision', 'lifecycle', 'disrupt'] as const;
/** A price that changes is counted as it was at the launch, so it is none of them. */
const ACTIONS: readonly ActionName[] = [
  'scale',
  'scale',
  'scale',
  'delete-nodeclaim',
  'delete-node',
  'delete-nodepool',
  'delete-pod',
  'new-template',
  'spot-wave',
  'shortage',
  'lose-kubelet',
  'pause-pool',
];
const CAPS = ['nodes=6', 'nodes=9', 'cpu=24', 'price=0.9', 'nodes=8 cpu=30'];

export interface ClustersReport {
  readonly problems: readonly string[];
  /** The most that all clusters ever had together. */
  readonly most: Amounts;
  /** How often a fault happened. */
  readonly marks: ReadonlyMap<string, number>;
}

interface Shared {
  readonly seed: number;
  readonly timeline: Timeline;
  readonly awaits: Awaits;
  readonly order: Prng;
  readonly bucket: FaultyBucket;
  readonly faults: Faults;
  readonly problems: string[];
}

/** One cluster with its functions, beside others on the same timeline. */
class Cluster {
  readonly world: World;
  readonly users: Users;
  private readonly shared: Shared;
  private readonly functions: Functions;
  private readonly wakes = new Map<FunctionName, number>();
  private readonly karpenter: Karpenter;
  private readonly lastRead = new LastRead();
  private settledVersion = -1;
  private settleAtMs = WORLD_START_MS;
  private noticedVersion = -1;
  private nextTickMs: number;

  constructor(shared: Shared, { world, script }: SmallWorld, setting: Setting, at: number) {
    const { timeline, awaits, faults, seed, problems } = shared;
    this.shared = shared;
    this.world = world;
    this.karpenter = new Karpenter(timeline);
    this.nextTickMs = WORLD_START_MS + at * 1_700;
    this.users = new Users({
      world,
      script,
      setting,
      random: new Prng(seed, `users ${at}`),
      karpenter: this.karpenter,
      warn: (id) => this.functions.deliver(`warning-${id}`, world.takeBack(id), () => undefined),
      after: (ms, run) => timeline.after(ms, run),
    });
    this.functions = new Functions({
      awaits,
      faults,
      settings: world.settings,
      leases: new LeaseServer(),
      nowMs: () => timeline.nowMs(),
      wake: (name) => this.wake(name),
      onProblem: (problem) => problems.push(problem),
      portsOf: (by) => {
        const settings = this.faultySettings();
        return shared.bucket.portsOf(faultyPorts(settings, by), settings, by);
      },
    });
    world.joins = () => !faults.happens('node-never-joins');
  }

  private faultySettings(): FaultySettings {
    const { world, karpenter, lastRead } = this;
    const { awaits, faults, timeline } = this.shared;
    const { ports } = world;
    const nowMs = (): number => timeline.nowMs();
    return { ports, awaits, faults, lastRead, karpenter, nowMs, onWrite: () => undefined };
  }

  wake(name: FunctionName, ms = this.shared.order.between(50, 400)): void {
    if (this.shared.faults.happens('event-lost')) return;
    const atMs = this.shared.timeline.nowMs() + ms;
    this.wakes.set(name, Math.min(atMs, this.wakes.get(name) ?? atMs));
  }

  /** kube-scheduler, controllers and kubelets act, and changes wake the functions. */
  settle(): void {
    const { store, controlPlane } = this.world;
    const nowMs = this.shared.timeline.nowMs();
    if (store.version !== this.settledVersion && nowMs >= this.settleAtMs) {
      controlPlane.settle();
      this.settledVersion = store.version;
      this.settleAtMs = nowMs + this.shared.order.between(1, 500);
    }
    if (store.version === this.noticedVersion) return;
    this.noticedVersion = store.version;
    this.wake('provision', 300 + this.shared.order.between(0, 500));
    this.wake('lifecycle');
  }

  /** Starts what is due; false: nothing is. */
  startDue(): boolean {
    const nowMs = this.shared.timeline.nowMs();
    const due = [...this.wakes].filter(([, atMs]) => atMs <= nowMs);
    for (const [name] of due) {
      this.wakes.delete(name);
      this.functions.invoke(name);
    }
    if (nowMs < this.nextTickMs) return due.length > 0;
    this.nextTickMs += MINUTE;
    this.users.deleteDeadNodes();
    for (const name of TICKED) {
      if (this.shared.faults.happens('tick-missed')) continue;
      const delayMs = this.shared.order.between(0, 2_000);
      this.shared.timeline.after(delayMs, () => this.functions.invoke(name));
    }
    return true;
  }

  nextMs(): number {
    const isSettling = this.world.store.version !== this.settledVersion;
    const settleMs = Math.max(this.settleAtMs, this.shared.timeline.nowMs() + 1);
    const next = isSettling ? settleMs : Number.POSITIVE_INFINITY;
    return Math.min(this.nextTickMs, next, ...this.wakes.values());
  }

  amounts(): Amounts {
    return amountsOf(readState(this.world.store).objects.nodeClaims);
  }

  get pending(): number {
    const { pods } = readState(this.world.store).objects;
    return pods.filter(({ phase, controller }) => {
      return phase === 'Pending' && controller?.kind !== 'DaemonSet';
    }).length;
  }
}

/** What a run begins with. */
interface Begun {
  readonly shared: Shared;
  readonly usages: GroupUsagesInMemory;
  readonly clusters: readonly Cluster[];
  readonly limits: Partial<Amounts>;
}

async function begin(seed: number): Promise<Begun> {
  const choice = new Prng(seed, 'choice');
  const names = FAULT_NAMES.filter(() => choice.next() < 0.4);
  const bucketFaults = BUCKET_FAULT_NAMES.filter(() => choice.next() < 0.6);
  const caps = one(choice, CAPS);
  const count = choice.between(2, 3);
  const timeline = new Timeline(WORLD_START_MS);
  const order = new Prng(seed, 'order');
  const faults = new Faults(seed, names, one(choice, [1, 2, 4]));
  const usages = new GroupUsagesInMemory();
  const bucket = new FaultyBucket({
    usages,
    random: new Prng(seed, 'bucket'),
    faults: bucketFaults,
    after: (ms, run) => timeline.after(ms, run),
    mark: (name) => faults.mark(name),
  });
  const awaits = new Awaits(timeline, order);
  const shared: Shared = { seed, timeline, awaits, order, bucket, faults, problems: [] };
  const clusters: Cluster[] = [];
  for (let at = 0; at < count; at += 1) {
    const drawn = drawSetting(new Prng(seed, `setting ${at}`));
    const isStatic = choice.next() < 0.3;
    const made = await smallWorld([...drawn.manifests, ...(isStatic ? [fixedPool(2)] : [])], {
      seed: seed + at,
      settings: { limitGroups: limitGroupsOf(`all ${caps} shared`) ?? [] },
      cluster: `cluster-${at}`,
      timeline,
      groupUsages: usages,
    });
    clusters.push(new Cluster(shared, made, { ...drawn, expireAfter: 'Never' }, at));
  }
  return { shared, usages, clusters, limits: capsOf(caps) };
}

class Run {
  readonly most = { nodes: 0, cpu: 0, price: 0 };
  private readonly begun: Begun;
  private isFaulty = true;
  private nextActionMs = WORLD_START_MS + MINUTE;

  constructor(begun: Begun) {
    this.begun = begun;
  }

  async play(): Promise<void> {
    const { shared, clusters } = this.begun;
    const { timeline, awaits, problems } = shared;
    while (timeline.nowMs() < END_MS && problems.length === 0) {
      if (this.isFaulty && timeline.nowMs() >= END_OF_FAULTS_MS) this.endFaults();
      for (const each of clusters) each.settle();
      this.check();
      if (await awaits.step()) continue;
      const isStarted = clusters.map((each) => each.startDue()).includes(true);
      if (!this.act() && !isStarted) await this.advance();
      await settled();
    }
    if (problems.length === 0) await this.checkEnd();
  }

  private endFaults(): void {
    const { shared, clusters } = this.begun;
    this.isFaulty = false;
    shared.faults.end();
    shared.bucket.end();
    for (const { users } of clusters) users.restore();
  }

  /** Lets somebody do something where that is due; false: it is not. */
  private act(): boolean {
    const { shared, clusters } = this.begun;
    const { order, timeline } = shared;
    if (!this.isFaulty || timeline.nowMs() < this.nextActionMs) return false;
    this.nextActionMs += order.between(5, 40) * 1_000;
    one(order, clusters).users.act(one(order, ACTIONS));
    return true;
  }

  private check(): void {
    const { shared, clusters, limits } = this.begun;
    const sums = clusters.map((each) => each.amounts());
    for (const name of AMOUNTS) {
      const sum = sums.reduce((total, each) => total + each[name], 0);
      this.most[name] = Math.max(this.most[name], sum);
      const cap = limits[name] ?? Number.POSITIVE_INFINITY;
      if (sum <= cap + 1e-9) continue;
      const second = (shared.timeline.nowMs() - WORLD_START_MS) / 1000;
      shared.problems.push(`${second}s: ${name} ${sum} of ${cap}: ${JSON.stringify(sums)}`);
    }
  }

  private async advance(): Promise<void> {
    const { shared, clusters } = this.begun;
    const { timeline, awaits } = shared;
    const actionMs = this.isFaulty ? this.nextActionMs : END_MS;
    const nexts = clusters.map((each) => each.nextMs());
    const next = Math.min(END_MS, actionMs, awaits.nextMs(), ...nexts);
    if ((timeline.nextMs() ?? Number.POSITIVE_INFINITY) <= next) await timeline.advance();
    else timeline.moveTo(Math.max(next, timeline.nowMs() + 1));
  }

  /** Once faults have ended, nothing is held in vain, and what is free is used. */
  private async checkEnd(): Promise<void> {
    const { shared, clusters, limits, usages } = this.begun;
    const { problems } = shared;
    const { usage } = await usages.read('all');
    for (const [at, each] of clusters.entries()) {
      const row = usage.get(`cluster-${at}`);
      const { nodes } = each.amounts();
      if (limits.nodes !== undefined && (row?.used['nodes'] ?? 0) !== nodes) {
        problems.push(`cluster-${at} has ${nodes} nodes, and the bucket ${row?.used['nodes']}`);
      }
      if ((row?.pending ?? []).length > 0) problems.push(`cluster-${at} has something pending`);
    }
    const sum = clusters.reduce((total, each) => total + each.amounts().nodes, 0);
    const pending = clusters.reduce((total, each) => total + each.pending, 0);
    const isByNodes = Object.keys(limits).join() === 'nodes';
    if (isByNodes && pending > 0 && sum < (limits.nodes ?? 0)) {
      problems.push(`${pending} pods are pending, and there are ${sum} of ${limits.nodes} nodes`);
    }
  }
}

/** Clusters with faults that share a bucket and a limit group: the same seed gives the same run. */
export async function clusters(seed: number): Promise<ClustersReport> {
  const begun = await begin(seed);
  const run = new Run(begun);
  await run.play();
  const { problems, faults } = begun.shared;
  return { problems, most: run.most, marks: faults.marks };
}
