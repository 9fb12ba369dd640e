import { ConsolidationMemory } from '../app/disrupt/consolidation-memory.ts';
import { disrupt } from '../app/disrupt/disrupt.ts';
import { interrupt } from '../app/interrupt/interrupt.ts';
import { lifecycle } from '../app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../app/lifecycle/memory.ts';
import { maintainNodeClasses } from '../app/nodeclass/nodeclass.ts';
import { GroupUsagesInMemory } from '../app/planning/group-usages-in-memory.ts';
import { resolveTypes } from '../app/planning/provisioning-input.ts';
import { provision } from '../app/provision/provision.ts';
import { type AppSettings, appSettings } from '../app/settings.ts';
import { idsBy } from '../app/writes/claim-names.ts';
import type { InstanceType } from '../core/model/instance-type.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { Resources } from '../core/model/resources.ts';
import { parseResources } from '../core/quantity.ts';
import type { Catalog, GroupUsages, Ports } from '../ports.ts';
import type { PodWebhook } from './admission.ts';
import { type Machine, SimulatedCompute } from './cloud/compute.ts';
import { foundByClasses } from './cloud/found.ts';
import { SimulatedImages } from './cloud/images.ts';
import { SimulatedNetwork, SimulatedProfiles, type Zone } from './cloud/network.ts';
import type { ReservationTerms } from './cloud/reservations.ts';
import { SimulatedCluster } from './cluster.ts';
import { ControlPlane } from './control-plane.ts';
import { readState } from './decode.ts';
import { Journal } from './journal.ts';
import { textAt, textsAt } from './json.ts';
import { Kubelets } from './kubelet.ts';
import { type LaunchTerms, launchTerms } from './launch-terms.ts';
import { SimulatedMemory, SimulatedRecorder } from './memory.ts';
import {
  type AttachLimit,
  type Devices,
  KUBELET_RESOURCES,
  NO_DEVICES,
  NOT_SLOW,
  type Slowness,
} from './node-facts.ts';
import { Prng } from './prng.ts';
import { type KubeObject, ObjectStore } from './store.ts';
import { Timeline } from './timeline.ts';

export const WORLD_START_MS = Date.UTC(2026, 0, 1);
export const KUBERNETES_VERSION = '1.32';
export const ACCOUNT = '123456789012';

export interface WorldOptions {
  readonly cluster: string;
  readonly seed: number;
  readonly zones: readonly Zone[];
  readonly catalog: Catalog;
  /** Real EC2NodeClasses: their selectors find here what they have found. @default none */
  readonly nodeClasses?: readonly NodeClass[];
  /** What the account has reserved. @default nothing */
  readonly reservations?: readonly ReservationTerms[];
  readonly settings?: Partial<AppSettings>;
  /** When in a minute its tick is; 0 where absent. */
  readonly tickOffsetMs?: number;
  /** Of several worlds that share it; its own where absent. */
  readonly timeline?: Timeline;
  /** What clusters hold of shared limit groups; nobody else holds anything where absent. */
  readonly groupUsages?: GroupUsages;
  /** Wraps the ports that the use cases get, e.g. to make one call crash. */
  readonly wrap?: (ports: Ports) => Ports;
}

/** Hears of an instance, of the types that its NodePool could launch, and of all claims. */
type OnLaunch = (
  machine: Machine,
  types: readonly InstanceType[],
  claims: readonly NodeClaim[],
) => void;

/** A batch of changes is looked at this long after its first one. */
const BATCH_MS = 300;
/** EC2's status checks are asked for at most once in this time. */
const CHECKS_MS = 60_000;
/** A drain or a launch in progress is looked at again after this long. */
const REQUEUE_MS = 1000;
const TICK_MS = 60_000;
/** EC2 takes a spot instance back this long after its warning. */
const WARNING_MS = 120_000;

/** A use case died on the way: the next tick has to heal what it left. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** The whole simulated world: cluster, cloud and Joiner's own functions on one virtual clock. */
export class World {
  readonly timeline: Timeline;
  readonly startMs: number;
  readonly store: ObjectStore;
  readonly compute: SimulatedCompute;
  readonly recorder = new SimulatedRecorder((record) => this.journal.onDecision(record));
  readonly journal: Journal;
  readonly settings: AppSettings;
  readonly ports: Ports;
  /** Resources whose device plugin never reports them. */
  readonly withheld = new Set<string>();
  /** Mutating admission webhooks of the cluster, asked for each new pod. */
  readonly webhooks: PodWebhook[] = [];
  /** Whether a machine's kubelet finds the cluster. */
  joins: (machine: Machine) => boolean = () => true;
  /** How much longer a pod that runs is not ready. */
  readyAfterMs: (pod: KubeObject) => number = () => 0;
  /** How much longer than others the node of a machine takes; asked once. */
  slownessOf: (machine: Machine) => Slowness = () => NOT_SLOW;
  /** How many volumes the node of a machine may have; undefined: nobody says. */
  attachLimitOf: (machine: Machine) => AttachLimit | undefined = () => undefined;
  /** What device plugins find on the node of a machine beside what its type and overlays say. */
  devicesOf: (machine: Machine) => Devices = () => NO_DEVICES;
  /** Whether the containers of a pod that has run for its time fail. */
  fails: (pod: KubeObject) => boolean = () => false;
  evictions = 0;
  launched = 0;
  terminated = 0;
  /** USD so far, list prices. */
  cost = 0;
  crashes = 0;
  /** Pods that the last plan could not place, with the reason. */
  unplaced: ReadonlyMap<string, string> = new Map();
  /** By instance, as they were when it was launched. */
  readonly terms = new Map<string, LaunchTerms>();
  private readonly ownPorts: Ports;
  readonly kubelets: Kubelets;
  /** For whoever moves time by itself: its controllers act where they are told to. */
  readonly controlPlane: ControlPlane;
  private readonly tickOffsetMs: number;
  private paidUntilMs: number;
  private seenVersion = -1;
  private isWoken = false;
  private readonly onStep: (() => void)[] = [];
  private readonly onLaunch: OnLaunch[] = [];

  constructor(options: WorldOptions) {
    const { seed, cluster, catalog, zones, timeline = new Timeline(WORLD_START_MS) } = options;
    const store = new ObjectStore(timeline, seed);
    this.timeline = timeline;
    this.startMs = timeline.nowMs();
    this.store = store;
    this.tickOffsetMs = options.tickOffsetMs ?? 0;
    this.paidUntilMs = this.startMs;
    this.journal = new Journal(timeline, () => this.pricePerHour());
    this.kubelets = new Kubelets({
      store,
      timeline,
      delays: new Prng(seed, 'kubelets'),
      region: catalog.region,
      withheld: this.withheld,
      overlaidOf: (providerId) => this.overlaidResources(providerId),
      readyAfterMs: (pod) => this.readyAfterMs(pod),
      slownessOf: (machine) => this.slownessOf(machine),
      fails: (pod) => this.fails(pod),
      attachLimitOf: (machine) => this.attachLimitOf(machine),
      devicesOf: (machine) => this.devicesOf(machine),
    });
    const on = {
      launch: (machine: Machine): void => this.launch(machine),
      gone: (machine: Machine): void => this.lose(machine),
    };
    this.compute = new SimulatedCompute(timeline, catalog, seed, on, options.reservations);
    const simulated = new SimulatedCluster(store, {
      event: (event) => this.journal.onEvent(event),
      evict: (pod) => this.countEviction(`${pod.metadata.namespace ?? ''}/${pod.metadata.name}`),
      delete: (pod, graceSeconds) =>
        this.journal.onPodDeleted(pod, this.claimOf(pod), graceSeconds),
    });
    store.onChange((change) => this.journal.onChange(change));
    const names = new Prng(seed, 'claims');
    const found = foundByClasses(options.nodeClasses ?? [], zones);
    const used = (subnet: string): number => this.used(subnet);
    const ports: Ports = {
      cluster: simulated,
      compute: this.compute,
      images: new SimulatedImages(KUBERNETES_VERSION, found.images),
      network: new SimulatedNetwork(cluster, zones, used, found, this.compute.reservations),
      profiles: new SimulatedProfiles(cluster),
      catalog,
      memory: new SimulatedMemory(timeline),
      groupUsages: options.groupUsages ?? new GroupUsagesInMemory(),
      clock: timeline,
      ids: idsBy((letters) => names.between(0, letters - 1)),
      recorder: this.recorder,
    };
    this.ownPorts = ports;
    this.ports = options.wrap === undefined ? ports : options.wrap(ports);
    const envelope = { accountId: ACCOUNT, region: catalog.region };
    this.settings = appSettings(cluster, envelope, options.settings);
    this.controlPlane = new ControlPlane(timeline, this.kubelets, {
      store,
      names: new Prng(seed, 'pods'),
      webhooks: this.webhooks,
    });
  }

  /** Calls back after every moment at which something happened: for checking invariants. */
  afterEachStep(check: () => void): void {
    this.onStep.push(check);
  }

  /** Calls back for each new instance. */
  afterEachLaunch(tell: OnLaunch): void {
    this.onLaunch.push(tell);
  }

  /** Runs everything planned up to the moment, ticks of the minute included. */
  async run(untilMs: number): Promise<void> {
    await this.rest();
    for (;;) {
      const nowMs = this.timeline.nowMs();
      const ticks = Math.floor((nowMs - this.tickOffsetMs) / TICK_MS) + 1;
      const tickMs = ticks * TICK_MS + this.tickOffsetMs;
      const nextMs = Math.min(this.timeline.nextMs() ?? Number.POSITIVE_INFINITY, tickMs);
      if (nextMs > untilMs) break;
      this.pay(nextMs);
      if (nextMs === tickMs) this.timeline.at(tickMs, () => this.tick());
      await this.timeline.advance();
      await this.rest();
    }
    this.pay(untilMs);
    this.timeline.moveTo(untilMs);
    this.journal.flush();
  }

  /** USD an hour of the instances that EC2 charges for, list prices. */
  pricePerHour(): number {
    return [...this.compute.machines.values()].reduce(
      (sum, { offering }) => sum + offering.listPrice,
      0,
    );
  }

  /** The warning now, the end of the instance two minutes later. */
  async interruptInstance(id: string): Promise<void> {
    const body = this.takeBack(id);
    const messages = [{ id: `warning-${id}`, body }];
    await this.guarded(async () => {
      const { failures } = await interrupt(this.ports, this.settings, messages);
      // A message fails alone, whatever the cause: here the process has died of it.
      for (const { cause } of failures) if (cause instanceof Crash) throw cause;
    });
  }

  /** EC2 takes the instance back in two minutes; returns its warning, as EventBridge sends it. */
  takeBack(id: string): string {
    this.compute.takeBack(id);
    this.timeline.after(WARNING_MS, () => this.compute.terminate([id]));
    return JSON.stringify({
      version: '0',
      source: 'aws.ec2',
      'detail-type': 'EC2 Spot Instance Interruption Warning',
      account: ACCOUNT,
      region: this.ports.catalog.region,
      time: new Date(this.timeline.nowMs()).toISOString(),
      detail: { 'instance-id': id, 'instance-action': 'terminate' },
    });
  }

  /** A minute of the schedule. */
  private async tick(): Promise<void> {
    await this.pass();
    await this.guarded(() => this.disrupted());
  }

  /** What consolidation and its like do in a minute: for worlds that decide by other rules. */
  protected async disrupted(): Promise<void> {
    await disrupt(this.ports, this.settings, { memory: this.consolidated });
  }

  /** Launches for pods that wait; returns those without a place, and why. */
  protected async provisioned(): Promise<ReadonlyMap<string, string>> {
    return (await provision(this.ports, this.settings)).unplaced;
  }

  /** The functions that changes wake, once each. */
  private async pass(): Promise<void> {
    this.isWoken = false;
    this.controlPlane.settle();
    this.seenVersion = this.store.version;
    await this.guarded(() => maintainNodeClasses(this.ports));
    await this.guarded(async () => {
      this.unplaced = await this.provisioned();
    });
    await this.noteTerms();
    await this.lifecyclePass();
  }

  /** Before anything else can change the overlays. */
  private async noteTerms(): Promise<void> {
    const fresh = [...this.compute.machines.values()].filter(({ id }) => !this.terms.has(id));
    if (fresh.length === 0) return;
    const state = readState(this.store);
    const { instanceTypes } = await resolveTypes(this.ownPorts, this.settings, state);
    for (const machine of fresh) {
      const types = instanceTypes.get(machine.fleet.nodePool ?? '') ?? [];
      this.terms.set(machine.id, launchTerms(machine, types, state.objects.nodeOverlays));
      for (const tell of this.onLaunch) tell(machine, types, state.objects.nodeClaims);
    }
  }

  private async lifecyclePass(): Promise<void> {
    let isUnsettled = true;
    await this.guarded(async () => {
      isUnsettled = (await lifecycle(this.ports, this.settings, this.remembered)).isUnsettled;
      await this.remembered.nominations.close();
    });
    if (isUnsettled) this.requeue();
  }

  private readonly remembered = new LifecycleMemory(CHECKS_MS);
  private readonly consolidated = new ConsolidationMemory();
  private isRequeued = false;

  private requeue(): void {
    if (this.isRequeued) return;
    this.isRequeued = true;
    this.timeline.after(REQUEUE_MS, async () => {
      this.isRequeued = false;
      await this.lifecyclePass();
    });
  }

  /** Lets the control plane come to rest and wakes the functions where something has changed. */
  private async rest(): Promise<void> {
    this.controlPlane.settle();
    for (const check of this.onStep) check();
    if (this.isWoken || this.store.version === this.seenVersion) return;
    this.isWoken = true;
    this.timeline.after(BATCH_MS, () => this.pass());
  }

  /** A crash of one function leaves the others and the next tick alone. */
  private async guarded(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.crashes += 1;
    }
  }

  /** An instance that was launched before this world began; one without a Node boots. */
  adopt(machine: Machine, hasNode: boolean): void {
    this.compute.machines.set(machine.id, machine);
    if (!hasNode) this.boot(machine);
  }

  private launch(machine: Machine): void {
    this.launched += 1;
    if (this.joins(machine)) this.boot(machine);
  }

  private boot(machine: Machine): void {
    this.kubelets.boot(machine, () => this.compute.machines.get(machine.id)?.state === 'running');
  }

  private lose(machine: Machine): void {
    this.terminated += 1;
    this.kubelets.lose(machine);
  }

  private countEviction(pod: string): void {
    this.evictions += 1;
    this.journal.add('evicted', `Pod/${pod}`, 'to drain its node');
  }

  /** Of the node that the pod is on. */
  private claimOf(pod: KubeObject): KubeObject | undefined {
    const node = textAt(pod, 'spec', 'nodeName');
    return this.store
      .list('NodeClaim')
      .find((claim) => textAt(claim, 'status', 'nodeName') === node);
  }

  private used(subnet: string): number {
    return [...this.compute.machines.values()].filter((each) => each.subnetId === subnet).length;
  }

  /** Resources whose amounts overlays say, as the claim of the instance has them. */
  private overlaidResources(providerId: string): Resources {
    const claim = this.store
      .list('NodeClaim')
      .find((each) => textAt(each, 'status', 'providerID') === providerId);
    const machine = this.compute.machines.get(providerId.split('/').at(-1) ?? '');
    const own = machine?.type.capacity ?? {};
    const promised = parseResources(textsAt(claim, 'status', 'capacity'), 'down').resources;
    return Object.fromEntries(
      Object.entries(promised).filter(
        ([name, amount]) => !KUBELET_RESOURCES.has(name) && amount !== own[name],
      ),
    );
  }

  private pay(untilMs: number): void {
    this.cost += (this.pricePerHour() * (untilMs - this.paidUntilMs)) / 3_600_000;
    this.paidUntilMs = Math.max(untilMs, this.paidUntilMs);
  }
}
