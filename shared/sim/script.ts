import { instanceIdOf } from '../core/lifecycle/actions.ts';
import { CAPACITY_TYPE, SPOT } from '../core/model/labels.ts';
import { admittedPod } from './admission.ts';
import type { MachinePrice } from './cloud/compute.ts';
import { deletePod } from './controllers/workloads.ts';
import { type Json, textAt } from './json.ts';
import { withSpec } from './objects.ts';
import { asWorkload, formOf } from './pod-templates.ts';
import type { Scenario, ScenarioStep } from './scenario.ts';
import { type KubeObject, storeKey } from './store.ts';
import type { World } from './world.ts';

/** Kinds without a namespace that a scenario or a manifest may name. */
const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  'NodePool',
  'NodeOverlay',
  'EC2NodeClass',
  'NodeClaim',
  'Node',
  'Namespace',
  'PriorityClass',
  'RuntimeClass',
  'PersistentVolume',
  'StorageClass',
  'CSINode',
]);

export interface ScriptPorts {
  /** The objects in a manifest file that a step names; read and checked before the run. */
  readonly manifests: (path: string) => readonly Json[];
  /** To whoever keeps the catalog. */
  readonly reprice: (change: MachinePrice) => void;
}

/** Plays a scenario into a world. Steps that find nothing to act on are noted, not fatal. */
export class Script {
  /** By step: what could not be done. */
  readonly rejected: Record<string, string[]> = {};
  private readonly world: World;
  private readonly ports: ScriptPorts;

  constructor(world: World, ports: ScriptPorts) {
    this.world = world;
    this.ports = ports;
  }

  plan(scenario: Scenario): void {
    const { timeline } = this.world;
    const startMs = timeline.nowMs();
    for (const [index, step] of scenario.steps.entries()) {
      timeline.at(startMs + step.at, () => this.play(step, `steps[${index}]`));
    }
  }

  apply(objects: readonly Json[]): void {
    for (const object of objects.map(asWorkload)) {
      const applied = this.world.store.apply(object);
      if (applied === undefined) continue;
      if (applied.kind !== 'Pod' || applied.status !== undefined) continue;
      const { store, webhooks } = this.world;
      const admitted = admittedPod(store, applied, webhooks);
      store.update(applied, (pod) => ({ ...pod, ...admitted, status: { phase: 'Pending' } }));
    }
  }

  private async play(step: ScenarioStep, name: string): Promise<void> {
    const { world } = this;
    for (const each of step.apply ?? []) this.applyItem(each);
    for (const each of step.delete ?? []) this.deleteItem(each, name);
    if (step.scale !== undefined) this.scale(step.scale, name);
    if (step.unavailable !== undefined) this.bar(step.unavailable);
    if (step.reserve !== undefined) this.reserve(step.reserve, name);
    if (step.cancel !== undefined) this.cancel(step.cancel.reservation, name);
    if (step.price !== undefined) {
      const { zone, ...rest } = step.price;
      this.ports.reprice({ ...rest, zone });
      world.compute.reprice({ ...rest, zone });
      const place = zone === undefined ? '' : ` in ${zone}`;
      const text = `${rest.capacityType}${place} now $${rest.price}/h`;
      world.journal.add('price', `InstanceType/${rest.instanceType}`, text);
    }
    for (const resource of step.withhold ?? []) world.withheld.add(resource);
    if (step.interrupt !== undefined) await this.interrupt(step.interrupt, name);
  }

  private applyItem(item: string | Json): void {
    const objects = typeof item === 'string' ? this.ports.manifests(item) : [item];
    for (const object of objects) {
      const name = textAt(object, 'metadata', 'name') ?? '';
      this.world.journal.add('apply', `${textAt(object, 'kind') ?? ''}/${name}`, 'applied');
    }
    this.apply(objects);
  }

  private deleteItem(
    item: string | { readonly kind: string; readonly name: string; readonly namespace: string },
    step: string,
  ): void {
    const named =
      typeof item === 'string'
        ? this.ports
            .manifests(item)
            .map(asWorkload)
            .map((object) => ({
              kind: textAt(object, 'kind') ?? '',
              name: textAt(object, 'metadata', 'name') ?? '',
              namespace: textAt(object, 'metadata', 'namespace') ?? 'default',
            }))
        : [item];
    for (const { kind, name, namespace } of named) {
      const object = this.find(kind, namespace, name, step);
      if (object === undefined) continue;
      this.world.journal.add('delete', `${kind}/${name}`, 'deleted');
      if (kind === 'Pod') deletePod(this.world.store, object);
      else this.world.store.delete(object);
    }
  }

  private scale(scale: NonNullable<ScenarioStep['scale']>, step: string): void {
    const { kind, name, namespace, replicas } = scale;
    const object = this.find(kind, namespace, name, step);
    if (object === undefined) return;
    this.world.store.update(object, (latest) => withSpec(latest, { replicas }));
    this.world.journal.add('scale', `${kind}/${name}`, `to ${replicas} replicas`);
  }

  private bar(unavailable: NonNullable<ScenarioStep['unavailable']>): void {
    const { instanceType, zone, capacityType, for: duration } = unavailable;
    const shortage = { instanceType, zone, capacityType };
    const { compute, journal, timeline } = this.world;
    const parts = [capacityType, instanceType, zone].filter((each) => each !== undefined);
    const object = `Offering/${parts.length === 0 ? '*' : parts.join('/')}`;
    compute.addShortage(shortage);
    journal.add('unavailable', object, 'no capacity');
    if (duration === undefined) return;
    timeline.after(duration, () => {
      compute.removeShortage(shortage);
      journal.add('available', object, 'capacity is back');
    });
  }

  private reserve(reserved: NonNullable<ScenarioStep['reserve']>, step: string): void {
    const { compute, journal, timeline } = this.world;
    const { for: duration, ...terms } = reserved;
    const { id, instanceType, instances, zone } = terms;
    if (compute.reservations.has(id)) {
      this.reject(step, `capacity reservation ${id} exists already`);
      return;
    }
    const endsAtMs = duration === undefined ? undefined : timeline.nowMs() + duration;
    const object = `CapacityReservation/${id}`;
    journal.add('reserve', object, `${instances} × ${instanceType} in ${zone}`);
    if (endsAtMs !== undefined) {
      timeline.at(endsAtMs, () => {
        if (compute.reservations.isActive(id)) journal.add('expire', object, 'has ended');
      });
    }
    compute.reserve({ ...terms, endsAtMs });
  }

  private cancel(id: string, step: string): void {
    const { compute, journal } = this.world;
    if (!compute.reservations.isActive(id)) {
      this.reject(step, `there is no active capacity reservation ${id}`);
      return;
    }
    compute.endReservation(id);
    journal.add('cancel', `CapacityReservation/${id}`, 'is cancelled');
  }

  private async interrupt(
    { node, nodePool }: NonNullable<ScenarioStep['interrupt']>,
    step: string,
  ): Promise<void> {
    const found = this.world.store
      .list('NodeClaim')
      .filter((claim) => claim.metadata.deletionTimestamp === undefined)
      .find(
        (claim) =>
          instanceIdOf(textAt(claim, 'status', 'providerID')) !== undefined &&
          (node === undefined || textAt(claim, 'status', 'nodeName') === node) &&
          (nodePool === undefined || claim.metadata.labels['karpenter.sh/nodepool'] === nodePool) &&
          claim.metadata.labels[CAPACITY_TYPE] === SPOT,
      );
    const id = instanceIdOf(textAt(found, 'status', 'providerID'));
    if (id === undefined) this.reject(step, 'no spot node to interrupt');
    else await this.world.interruptInstance(id);
  }

  private find(
    kind: string,
    namespace: string,
    name: string,
    step: string,
  ): KubeObject | undefined {
    const place = CLUSTER_SCOPED.has(kind) ? undefined : namespace;
    const object = this.world.store.get(formOf(kind), place, name);
    if (object === undefined) this.reject(step, `${storeKey(kind, place, name)} does not exist`);
    return object;
  }

  private reject(step: string, reason: string): void {
    this.rejected[step] = [...(this.rejected[step] ?? []), reason];
  }
}
