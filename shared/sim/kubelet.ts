import { encodeTaint } from '../api/encode.ts';
import { providerIdOf } from '../core/lifecycle/actions.ts';
import {
  ARCH,
  DO_NOT_SYNC_TAINTS,
  HOSTNAME,
  INSTANCE_TYPE,
  OS,
  REGION,
  UNREGISTERED_TAINT_KEY,
  ZONE,
  ZONE_ID,
} from '../core/model/labels.ts';
import type { Resources } from '../core/model/resources.ts';
import type { Taint } from '../core/model/taint.ts';
import type { Machine } from './cloud/compute.ts';
import { hasVolumes } from './controllers/attachments.ts';
import { removePod } from './controllers/garbage.ts';
import { isUnreachable } from './controllers/node-lifecycle.ts';
import { durationMsOf } from './durations.ts';
import { type Json, listAt, textAt } from './json.ts';
import {
  type AttachLimit,
  type Devices,
  isOfKubelet,
  NOT_SLOW,
  type Slowness,
  statusResources,
} from './node-facts.ts';
import {
  conditionStatus,
  isDeleting,
  isOver,
  phaseOf,
  setCondition,
  withSpec,
  withStatus,
} from './objects.ts';
import type { Prng } from './prng.ts';
import type { KubeObject, ObjectStore } from './store.ts';
import type { Timeline } from './timeline.ts';
import { Worklist } from './worklist.ts';

/** From launch to the Node object: 40 s, give or take ten. */
const JOIN_MS = { least: 30_000, most: 50_000 };
/** From the Node object to Ready, with device plugins and startup agents done. */
const READY_AFTER_MS = 5_000;
/** Pulling images and starting containers. */
const START_MS = 2_000;
/** Containers stop this fast when asked, whatever grace they were given. */
const STOP_MS = 2_000;

const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', value: '', effect: 'NoSchedule' };
const UNREGISTERED: Taint = { key: UNREGISTERED_TAINT_KEY, value: '', effect: 'NoExecute' };

/** Scenario switches: resources that never appear, by name. */
export interface Withheld {
  readonly has: (resource: string) => boolean;
}

/** Stands for the kubelets: nodes join and turn ready, bound pods start, deleted pods stop. */
export class Kubelets {
  private readonly store: ObjectStore;
  private readonly timeline: Timeline;
  private readonly delays: Prng;
  private readonly region: string;
  private readonly withheld: Withheld;
  /** Amounts that overlays say, as the claim of the instance has them. */
  private readonly overlaidOf: (providerId: string) => Resources;
  private readonly changed: Worklist;
  /** How much longer the pod's readiness probe fails; 0 once it passes. */
  private readonly readyAfterMs: (pod: KubeObject) => number;
  private readonly slownessOf: (machine: Machine) => Slowness;
  private readonly fails: (pod: KubeObject) => boolean;
  private readonly attachLimitOf: (machine: Machine) => AttachLimit | undefined;
  private readonly devicesOf: (machine: Machine) => Devices;
  private addresses = 0;
  /** Of the nodes of instances, as their addresses say. */
  private readonly names = new Map<string, string>();
  /** Pods whose start or stop is planned already, by uid. */
  private readonly starting = new Set<string>();
  private readonly stopping = new Set<string>();
  /** Nodes whose kubelets report nothing, and do nothing with their pods. */
  private readonly silent = new Set<string>();
  /** These and those that say that they are not ready. */
  private readonly unready = new Set<string>();

  constructor(parts: {
    readonly store: ObjectStore;
    readonly timeline: Timeline;
    readonly delays: Prng;
    readonly region: string;
    readonly withheld: Withheld;
    readonly overlaidOf: (providerId: string) => Resources;
    readonly readyAfterMs: (pod: KubeObject) => number;
    readonly slownessOf: (machine: Machine) => Slowness;
    readonly fails: (pod: KubeObject) => boolean;
    readonly attachLimitOf: (machine: Machine) => AttachLimit | undefined;
    readonly devicesOf: (machine: Machine) => Devices;
  }) {
    this.store = parts.store;
    this.timeline = parts.timeline;
    this.delays = parts.delays;
    this.region = parts.region;
    this.withheld = parts.withheld;
    this.overlaidOf = parts.overlaidOf;
    this.readyAfterMs = parts.readyAfterMs;
    this.slownessOf = parts.slownessOf;
    this.fails = parts.fails;
    this.attachLimitOf = parts.attachLimitOf;
    this.devicesOf = parts.devicesOf;
    this.changed = new Worklist(parts.store, ['Pod', 'Node'], ({ object }) => [object]);
  }

  /** Plans the joining of a new instance; `isAlive` is asked when the time has come. */
  boot(machine: Machine, isAlive: () => boolean): void {
    const slowness = this.slownessOf(machine);
    const delay = this.delays.between(JOIN_MS.least, JOIN_MS.most) + slowness.joinMs;
    this.timeline.after(delay, () => this.join(machine, isAlive, slowness));
  }

  /** Has the Node back that somebody has deleted: kubelets register when they start only. */
  restart(machine: Machine, isAlive: () => boolean): void {
    this.join(machine, isAlive, NOT_SLOW);
  }

  private join(
    machine: Machine,
    isAlive: () => boolean,
    { readyMs, agentsMs }: Pick<Slowness, 'readyMs' | 'agentsMs'>,
  ): void {
    if (!isAlive()) return;
    const node = this.store.create(this.nodeOf(machine));
    if (node === undefined) return;
    this.limitVolumes(node, machine);
    this.timeline.after(READY_AFTER_MS + readyMs, () => {
      this.makeReady(node, machine, isAlive);
      if (agentsMs === 0) this.startAgents(node, isAlive);
      else this.timeline.after(agentsMs, () => this.startAgents(node, isAlive));
    });
  }

  /** The driver says how many volumes the node may have; until then nobody counts them. */
  private limitVolumes(node: KubeObject, machine: Machine): void {
    const limit = this.attachLimitOf(machine);
    if (limit === undefined) return;
    const { driver, count, afterMs } = limit;
    this.timeline.after(afterMs, () => {
      const { kind, metadata } = node;
      const { name, uid } = metadata;
      if (this.store.get(kind, undefined, name)?.metadata.uid !== uid) return;
      const drivers = [{ name: driver, nodeID: machine.id, allocatable: { count } }];
      this.store.create({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSINode',
        metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind, name, uid }] },
        spec: { drivers },
      });
    });
  }

  /** The machine is gone: its node is no longer ready. */
  lose(machine: Machine): void {
    const id = providerIdOf(machine.zone, machine.id);
    const now = this.timeline.isoNow();
    for (const node of this.store.list('Node')) {
      if (textAt(node, 'spec', 'providerID') !== id) continue;
      const message = 'Kubelet stopped posting node status.';
      const condition = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message };
      this.store.update(node, (latest) => setCondition(latest, condition, now));
    }
  }

  /** Starts bound pods and stops deleted ones. */
  step(): void {
    for (const node of this.changed.take('Node')) this.listen(node);
    for (const pod of this.changed.take('Pod')) this.plan(pod);
  }

  /** A kubelet that is back has its pods ready again, and does what it could not do meanwhile. */
  private listen(node: KubeObject): void {
    const { name } = node.metadata;
    if (conditionStatus(node, 'Ready') !== 'True') this.unready.add(name);
    if (isUnreachable(node)) {
      this.silent.add(name);
      return;
    }
    this.silent.delete(name);
    if (conditionStatus(node, 'Ready') !== 'True' || !this.unready.delete(name)) return;
    for (const pod of this.store.podsOn(name)) {
      if (phaseOf(pod) === 'Running') this.probe(pod);
      this.plan(pod);
    }
  }

  private isSilent(pod: KubeObject): boolean {
    return this.silent.has(textAt(pod, 'spec', 'nodeName') ?? '');
  }

  private plan(pod: KubeObject): void {
    if (textAt(pod, 'spec', 'nodeName') === undefined || this.isSilent(pod)) return;
    if (isDeleting(pod)) this.planStop(pod);
    else if (phaseOf(pod) === 'Pending') this.planStart(pod);
  }

  private planStart(pod: KubeObject): void {
    const { uid } = pod.metadata;
    if (this.starting.has(uid)) return;
    this.starting.add(uid);
    this.timeline.after(START_MS, () => this.start(pod));
  }

  private start(pod: KubeObject): void {
    if (this.isSilent(pod)) {
      this.starting.delete(pod.metadata.uid);
      return;
    }
    if (!hasVolumes(this.store, pod)) {
      this.timeline.after(START_MS, () => this.start(pod));
      return;
    }
    const now = this.timeline.isoNow();
    const isReady = this.readyAfterMs(pod) === 0;
    const started = this.store.update(pod, (latest) => {
      if (isDeleting(latest)) return latest;
      const running = withStatus(latest, { phase: 'Running', startTime: now });
      return setCondition(running, { type: 'Ready', status: isReady ? 'True' : 'False' }, now);
    });
    if (started === undefined || isDeleting(started)) return;
    if (!isReady) this.probe(started);
    const duration = durationMsOf(started);
    if (duration !== undefined) this.timeline.after(duration, () => this.finish(started));
  }

  /** Has the pod ready when its readiness probe says so. */
  private probe(pod: KubeObject): void {
    const delayMs = this.readyAfterMs(pod);
    if (delayMs > 0) {
      this.timeline.after(delayMs, () => this.probe(pod));
      return;
    }
    if (this.isSilent(pod)) return;
    const ready = { type: 'Ready', status: 'True' };
    this.store.update(pod, (latest) => {
      const isRunning = phaseOf(latest) === 'Running' && !isDeleting(latest);
      return isRunning ? setCondition(latest, ready, this.timeline.isoNow()) : latest;
    });
  }

  private finish(pod: KubeObject): void {
    const phase = this.fails(pod) ? 'Failed' : 'Succeeded';
    const reason = phase === 'Failed' ? 'PodFailed' : 'PodCompleted';
    this.store.update(pod, (latest) => {
      if (isDeleting(latest) || isOver(latest)) return latest;
      return ended(latest, { phase }, { reason, now: this.timeline.isoNow() });
    });
  }

  /** A node that runs out of something ends the pod, which stays as one that has failed. */
  pressOut(pod: KubeObject): void {
    this.store.update(pod, (latest) => {
      if (isDeleting(latest) || isOver(latest)) return latest;
      const status = { phase: 'Failed', reason: 'Evicted' };
      return ended(latest, status, { reason: 'PodFailed', now: this.timeline.isoNow() });
    });
  }

  private planStop(pod: KubeObject): void {
    const { uid } = pod.metadata;
    if (this.stopping.has(uid)) return;
    this.stopping.add(uid);
    const due = Date.parse(pod.metadata.deletionTimestamp ?? '');
    const atMs = Math.min(due, this.timeline.nowMs() + STOP_MS);
    this.timeline.at(atMs, () => {
      if (this.isSilent(pod)) this.stopping.delete(uid);
      else removePod(this.store, pod);
    });
  }

  private nodeOf(machine: Machine): Json {
    const { type, offering, fleet } = machine;
    const name = this.names.get(machine.id) ?? this.freeName();
    this.names.set(machine.id, name);
    const taints = [...fleet.taints, UNREGISTERED, NOT_READY];
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: {
          ...fleet.nodeLabels,
          [HOSTNAME]: name,
          [ARCH]: type.labels[ARCH]?.[0] ?? 'amd64',
          [OS]: type.labels[OS]?.[0] ?? 'linux',
          [INSTANCE_TYPE]: type.name,
          [REGION]: this.region,
          [ZONE]: offering.zone,
          ...(offering.zoneId === undefined ? {} : { [ZONE_ID]: offering.zoneId }),
          ...(fleet.nodeClass.imageFamily === 'Custom' ? {} : { [DO_NOT_SYNC_TAINTS]: 'true' }),
        },
      },
      spec: {
        providerID: providerIdOf(offering.zone, machine.id),
        taints: taints.map(encodeTaint),
      },
      status: {
        ...statusResources(machine, isOfKubelet),
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'KubeletNotReady',
            message: 'container runtime network not ready',
            lastTransitionTime: this.timeline.isoNow(),
          },
        ],
      },
    };
  }

  /** Nodes of the files have names, too, that nobody else can take. */
  private freeName(): string {
    const domain = this.region === 'us-east-1' ? 'ec2.internal' : `${this.region}.compute.internal`;
    for (;;) {
      this.addresses += 1;
      const octets = [16, 8, 0].map((bits) => (this.addresses >> bits) & 255);
      const name = `ip-10-${octets.join('-')}.${domain}`;
      if (this.store.get('Node', undefined, name) === undefined) return name;
    }
  }

  private makeReady(node: KubeObject, machine: Machine, isAlive: () => boolean): void {
    if (!isAlive()) return;
    const now = this.timeline.isoNow();
    const { has, afterMs } = this.devicesOf(machine);
    const status = this.reported(machine, afterMs === 0 ? has : undefined);
    this.store.update(node, (latest) => {
      const free = withSpec(latest, { taints: taintsWithout(latest, [NOT_READY.key]) });
      const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' };
      return setCondition(withStatus(free, status), ready, now);
    });
    if (afterMs === 0) return;
    this.timeline.after(afterMs, () => {
      if (!isAlive()) return;
      this.store.update(node, (latest) => withStatus(latest, this.reported(machine, has)));
    });
  }

  /** What the node has, as the kubelet and, unless undefined, the device plugins say. */
  private reported(machine: Machine, devices: Resources | undefined): Json {
    const overlaid = this.overlaidOf(providerIdOf(machine.zone, machine.id));
    const type = {
      ...machine.type,
      capacity: { ...machine.type.capacity, ...overlaid, ...devices },
    };
    return statusResources(
      { ...machine, type },
      (name) => !this.withheld.has(name) && (devices !== undefined || isOfKubelet(name)),
    );
  }

  /** Startup taints are taken off by agents that in the real world run as DaemonSets. */
  private startAgents(node: KubeObject, isAlive: () => boolean): void {
    if (!isAlive()) return;
    const providerId = textAt(node, 'spec', 'providerID');
    const claim = this.store
      .list('NodeClaim')
      .find((each) => textAt(each, 'status', 'providerID') === providerId);
    // Agents know their taints by themselves; here the claim has to tell, and may be late.
    if (claim === undefined) {
      this.timeline.after(READY_AFTER_MS, () => this.startAgents(node, isAlive));
      return;
    }
    const startup = listAt(claim, 'spec', 'startupTaints').map((each) => textAt(each, 'key'));
    if (startup.length === 0) return;
    this.store.update(node, (latest) =>
      withSpec(latest, { taints: taintsWithout(latest, startup) }),
    );
  }
}

function ended(
  pod: KubeObject,
  status: Json,
  { reason, now }: { readonly reason: string; readonly now: string },
): KubeObject {
  return setCondition(withStatus(pod, status), { type: 'Ready', status: 'False', reason }, now);
}

function taintsWithout(node: KubeObject, keys: readonly (string | undefined)[]) {
  const taints = listAt(node, 'spec', 'taints');
  return taints.filter((taint) => !keys.includes(textAt(taint, 'key')));
}
