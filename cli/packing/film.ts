import { PodDecoder } from '../../shared/api/kubernetes/pod.ts';
import { instanceIdOf } from '../../shared/core/lifecycle/actions.ts';
import { replacedUids } from '../../shared/core/model/annotations/replacements.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { NODE_POOL } from '../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { formatResources } from '../../shared/core/quantity.ts';
import type { DecisionRecord } from '../../shared/ports.ts';
import type { Machine } from '../../shared/sim/cloud/compute.ts';
import { readState } from '../../shared/sim/decode.ts';
import { listAt, textAt } from '../../shared/sim/json.ts';
import type { Stretch } from '../../shared/sim/memory.ts';
import type { KubeObject, StoreChange } from '../../shared/sim/store.ts';
import type { World } from '../../shared/sim/world.ts';
import { launched, offerKey, plannedRunnerUp, runnerUpOf, type Shot } from './film-node.ts';
import { Ladders } from './ladders.ts';
import type { PackedNode, Packing, PodCount } from './packing.ts';
import { type PausedSpan, Pauses } from './pauses.ts';
import { countsOf, Workloads } from './workloads.ts';

/** What changed at one moment. */
export interface Frame {
  /** Seconds since the start. */
  readonly at: number;
  /** USD an hour of all instances, list prices. */
  readonly pricePerHour: number;
  /** Pods without a node. */
  readonly pending: number;
  /** Pods of the nodes whose pods changed, by the index of the node. */
  readonly pods: readonly (readonly [node: number, pods: readonly PodCount[]])[];
}

/** Passes one after the other that made the same record, the first with these words. */
export interface Repeat {
  readonly first: number;
  readonly last: number;
  readonly times: number;
  readonly record: Pick<DecisionRecord, 'object' | 'action' | 'message' | 'reasons'>;
}

/** A simulation as a picture for each moment: `packing` has the nodes and workloads. */
export interface History {
  readonly seconds: number;
  readonly frames: readonly Frame[];
  /** When NodePools paused launches or disruptions. */
  readonly pauses: readonly PausedSpan[];
  /** Records that were made more than once, by their ids. */
  readonly repeats: Readonly<Record<string, readonly Repeat[]>>;
}

interface Seat {
  readonly workload: number;
  readonly node: string | undefined;
}

/** Moments nearer than this are one frame. */
const FRAME_SECONDS = 1;

/** Notes which pods are on which node while a simulated world runs. It changes nothing of it. */
export class Film {
  readonly #world: World;
  readonly #workloads = new Workloads();
  readonly #ladders = new Ladders();
  readonly #decoder = new PodDecoder();
  readonly #seats = new Map<string, Seat>();
  readonly #byNode = new Map<string, Map<string, number>>();
  readonly #shots: Shot[] = [];
  readonly #byClaim = new Map<string, Shot>();
  readonly #stale = new Set<string>();
  readonly #frames: Frame[] = [];
  readonly #pauses = new Pauses();
  #pending = 0;
  #isChanged = false;

  constructor(world: World) {
    this.#world = world;
    world.store.onChange((change) => this.#onChange(change));
    world.afterEachLaunch((machine, types, claims) => this.#onLaunch(machine, types, claims));
    world.afterEachStep(() => this.#expose());
  }

  packing(): Packing {
    const allocatable = new Map(
      readState(this.#world.store).objects.nodes.map((node) => [node.name, node.allocatable]),
    );
    const nodes = this.#shots.map(({ node, life, nodeName, lastPods }): PackedNode => {
      const own = allocatable.get(nodeName ?? '');
      return {
        ...node,
        name: nodeName ?? node.name,
        ...(own === undefined ? {} : { allocatable: formatResources(own) }),
        state: life.gone === null ? (life.draining === null ? 'runs' : 'leaves') : 'leaves',
        pods: lastPods,
        life: { ...life },
      };
    });
    return { workloads: this.#workloads.list, ladders: this.#ladders.list, nodes };
  }

  history(): History {
    const repeats = [...this.#world.recorder.stretches]
      .filter(([, own]) => own.length > 1 || own.some(({ times }) => times > 1))
      .map(([id, own]) => [id, own.map((each) => this.#repeat(each))] as const);
    return {
      seconds: this.#seconds(),
      frames: this.#frames,
      pauses: this.#pauses.spans,
      repeats: Object.fromEntries(repeats),
    };
  }

  #repeat({ record, lastMs, times }: Stretch): Repeat {
    const { atMs, object, action, message, reasons } = record;
    const said = { object, action, message, reasons };
    return { first: this.#seconds(atMs), last: this.#seconds(lastMs), times, record: said };
  }

  /** Since the start. */
  #seconds(atMs = this.#world.timeline.nowMs()): number {
    return Math.round(atMs - this.#world.startMs) / 1000;
  }

  #onChange({ kind, object }: StoreChange): void {
    if (object.kind === 'Pod') this.#onPod(object, kind === 'removed');
    if (object.kind === 'NodeClaim') this.#onClaim(object, kind === 'removed');
    if (object.kind === 'NodePool') this.#pauses.onNodePool(object, kind === 'removed');
  }

  #onPod(pod: KubeObject, isGone: boolean): void {
    const { uid } = pod.metadata;
    const before = this.#seats.get(uid);
    const phase = textAt(pod, 'status', 'phase');
    const isOver = isGone || phase === 'Succeeded' || phase === 'Failed';
    const node = textAt(pod, 'spec', 'nodeName');
    if (isOver ? before === undefined : before !== undefined && before.node === node) return;
    this.#isChanged = true;
    if (before !== undefined) this.#leave(uid, before);
    if (isOver) return;
    const workload = before?.workload ?? this.#workloadOf(pod);
    if (workload === undefined) return;
    this.#seats.set(uid, { workload, node });
    if (node === undefined) this.#pending += 1;
    else {
      const own = this.#byNode.get(node) ?? new Map<string, number>();
      this.#byNode.set(node, own.set(uid, workload));
      this.#stale.add(node);
    }
  }

  #leave(uid: string, { node }: Seat): void {
    this.#seats.delete(uid);
    if (node === undefined) this.#pending -= 1;
    else {
      this.#byNode.get(node)?.delete(uid);
      this.#stale.add(node);
    }
  }

  #workloadOf(pod: KubeObject): number | undefined {
    const decoded = this.#decoder.decode(pod);
    return decoded.ok ? this.#workloads.indexOf(decoded.value) : undefined;
  }

  #onLaunch(machine: Machine, types: readonly InstanceType[], claims: readonly NodeClaim[]): void {
    const claim = claims.find(({ providerId }) => instanceIdOf(providerId) === machine.id);
    if (claim === undefined) return;
    const shot = launched(this.#world, machine, claim, types, this.#seconds());
    const { type, zone, capacityType } = shot.offering;
    const decided = this.#world.recorder.decisions.find(
      ({ object, action }) => object === `NodeClaim/${claim.name}` && action === 'create',
    );
    const chosen = { type, zone, capacityType };
    const { currency } = this.#world.settings.scheduling;
    const runnerUp =
      decided === undefined
        ? plannedRunnerUp(claim, types, currency)
        : runnerUpOf(decided.detail['runnerUp']);
    const { requirements, requests, labels } = claim;
    const shown = [chosen, ...(runnerUp === null ? [] : [runnerUp])].map(offerKey);
    const asked = { shown, nodePool: labels[NODE_POOL] ?? '', requirements, requests };
    const ladder = this.#ladders.indexOf(asked, types);
    const replaces = replacedUids(claim.annotations).flatMap(
      (uid) => this.#byClaim.get(uid)?.node.nodeClaim ?? [],
    );
    const instead = replaces.length === 0 ? null : `in the place of ${replaces.join(', ')}`;
    const why = decided?.message ?? instead;
    const made: Shot = { ...shot, node: { ...shot.node, ladder, runnerUp, replaces, why } };
    this.#shots.push(made);
    this.#byClaim.set(claim.uid, made);
    this.#isChanged = true;
  }

  #onClaim(claim: KubeObject, isGone: boolean): void {
    const shot = this.#byClaim.get(claim.metadata.uid);
    if (shot === undefined) return;
    const now = this.#seconds();
    const isReady = listAt(claim, 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Initialized' && textAt(each, 'status') === 'True',
    );
    shot.nodeName ??= textAt(claim, 'status', 'nodeName');
    if (isReady) shot.life.ready ??= now;
    if (claim.metadata.deletionTimestamp !== undefined) shot.life.draining ??= now;
    if (isGone) shot.life.gone ??= now;
    this.#isChanged = true;
  }

  /** Adds a frame where something changed, or changes the last one if that was a moment ago. */
  #expose(): void {
    this.#pauses.look(this.#world.timeline.nowMs(), this.#seconds());
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const at = this.#seconds();
    const changed = new Map<number, readonly PodCount[]>();
    const last = this.#frames.at(-1);
    const isNear = last !== undefined && at - last.at < FRAME_SECONDS;
    if (isNear) for (const [node, pods] of last.pods) changed.set(node, pods);
    for (const [index, shot] of this.#shots.entries()) {
      if (shot.nodeName === undefined || !this.#stale.has(shot.nodeName)) continue;
      this.#stale.delete(shot.nodeName);
      const pods = countsOf(this.#byNode.get(shot.nodeName)?.values() ?? []);
      if (pods.length > 0) shot.lastPods = pods;
      changed.set(index, pods);
    }
    if (isNear) this.#frames.pop();
    this.#frames.push({
      at: isNear ? last.at : at,
      pricePerHour: Number(this.#world.pricePerHour().toFixed(8)),
      pending: this.#pending,
      pods: [...changed].sort(([a], [b]) => a - b),
    });
  }
}
