import type { ClusterState } from '../ports.ts';
import { Attachments } from './controllers/attachments.ts';
import { reconcileBudget } from './controllers/budgets.ts';
import { reconcileCronJob } from './controllers/cron-jobs.ts';
import { reconcileDeployment } from './controllers/deployments.ts';
import { GarbageCollector } from './controllers/garbage.ts';
import { reconcileJob } from './controllers/jobs.ts';
import { NodeLifecycle } from './controllers/node-lifecycle.ts';
import { reconcileQuota } from './controllers/quotas.ts';
import { Retries } from './controllers/retries.ts';
import { provisionForConsumer, reconcileClaim } from './controllers/volumes.ts';
import {
  type ControllerContext,
  deletePod,
  reconcileDaemonSet,
  reconcileReplicaSet,
  reconcileStatefulSet,
} from './controllers/workloads.ts';
import { daemonFits } from './daemon-fit.ts';
import { readState } from './decode.ts';
import { objectAt } from './json.ts';
import type { Kubelets } from './kubelet.ts';
import { isDeleting, isOfDaemonSet, setCondition, withSpec, withStatus } from './objects.ts';
import type { Binding } from './scheduler/schedule.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { KubeObject, ObjectStore } from './store.ts';
import type { Timeline } from './timeline.ts';
import { Worklist, withOwners } from './worklist.ts';

/** Kinds that are looked at only when they, or what they own, have changed. */
const SCALED = ['Deployment', 'ReplicaSet'] as const;

/** EBS's driver takes some seconds. */
const DETACH_MS = 5_000;

/** Rounds until everything rests; more than this means that two controllers fight. */
const ROUNDS_MAX = 100;

/** kube-controller-manager and kube-scheduler: bring the cluster to rest after each change. */
export class ControlPlane {
  /** How long a volume stays attached to a node that no longer needs it. */
  detachMs: () => number = () => DETACH_MS;
  /** How long pods stay whose node is gone. */
  orphanMs: () => number = () => 0;
  private readonly context: ControllerContext;
  private readonly store: ObjectStore;
  private readonly timeline: Timeline;
  private readonly kubelets: Kubelets;
  private readonly garbage: GarbageCollector;
  private readonly nodes: NodeLifecycle;
  private readonly attachments: Attachments;
  private readonly scheduler: Scheduler;
  private readonly workloads: Worklist;
  /** Where something has changed since the budgets were last counted. */
  private readonly changedNamespaces = new Set<string>();
  private hasDaemonsToSee = true;

  constructor(timeline: Timeline, kubelets: Kubelets, context: Omit<ControllerContext, 'retries'>) {
    this.store = context.store;
    this.timeline = timeline;
    this.kubelets = kubelets;
    const retries = new Retries(timeline, (owner) => this.retry(owner));
    this.context = { ...context, retries };
    const { store } = context;
    this.garbage = new GarbageCollector(store, timeline, () => this.orphanMs());
    this.nodes = new NodeLifecycle(store, timeline);
    this.attachments = new Attachments(store, timeline, () => this.detachMs());
    this.scheduler = new Scheduler(store);
    this.workloads = new Worklist(store, SCALED, ({ kind, object }) => {
      const meant = withOwners(store, object, SCALED);
      // With the strategy Recreate a Deployment waits until the last of its old pods is gone.
      return kind === 'removed' ? meant.flatMap((each) => withOwners(store, each, SCALED)) : meant;
    });
    store.onChange(({ object }) => this.note(object));
  }

  private retry({ kind, metadata }: KubeObject): void {
    const owner = this.store.get(kind, metadata.namespace, metadata.name);
    if (owner?.metadata.uid !== metadata.uid) return;
    if (kind === 'ReplicaSet') reconcileReplicaSet(this.context, owner);
    if (kind === 'Job') reconcileJob(this.context, owner, this.timeline.nowMs());
    if (kind !== 'DaemonSet') return;
    this.hasDaemonsToSee = true;
    this.reconcileDaemonSets();
  }

  private note(object: KubeObject): void {
    const { kind, metadata } = object;
    if (metadata.namespace !== undefined) this.changedNamespaces.add(metadata.namespace);
    const isKind = kind === 'Node' || kind === 'DaemonSet' || kind === 'LimitRange';
    if (isKind || isOfDaemonSet(object)) this.hasDaemonsToSee = true;
  }

  settle(): void {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const before = this.store.version;
      this.reconcile();
      this.bind();
      this.kubelets.step();
      if (this.store.version === before) return;
    }
    throw new Error('the simulated control plane does not come to rest');
  }

  private reconcile(): void {
    const { context, store } = this;
    this.garbage.collect();
    this.nodes.reconcile();
    for (const each of store.list('ResourceQuota')) reconcileQuota(store, each);
    for (const each of this.workloads.take('Deployment')) reconcileDeployment(context, each);
    for (const each of this.workloads.take('ReplicaSet')) reconcileReplicaSet(context, each);
    for (const each of store.list('StatefulSet')) reconcileStatefulSet(context, each);
    const nowMs = this.timeline.nowMs();
    for (const each of store.list('CronJob')) reconcileCronJob(store, each, nowMs);
    for (const each of store.list('PersistentVolumeClaim')) reconcileClaim(store, each);
    this.attachments.reconcile();
    for (const each of store.list('Job')) reconcileJob(context, each, nowMs);
    this.reconcileDaemonSets();
    const changed = new Set(this.changedNamespaces);
    this.changedNamespaces.clear();
    for (const each of store.list('PodDisruptionBudget')) {
      if (changed.has(each.metadata.namespace ?? '')) reconcileBudget(store, each);
    }
  }

  private reconcileDaemonSets(): void {
    const sets = this.store.list('DaemonSet');
    if (sets.length === 0 || !this.hasDaemonsToSee) return;
    this.hasDaemonsToSee = false;
    let state: ClusterState | undefined;
    const nodes = this.store.list('Node');
    const fits = (set: KubeObject, node: KubeObject): boolean => {
      state ??= readState(this.store);
      return daemonFits(state, set, node);
    };
    for (const set of sets) reconcileDaemonSet(this.context, set, nodes, fits);
  }

  private bind(): void {
    const { scheduler } = this;
    const bindings = scheduler.schedule();
    for (const binding of bindings) this.write(binding);
    scheduler.park(bindings);
  }

  private write({ pod, node, message, preemption }: Binding): void {
    const object = this.store.get('Pod', pod.namespace, pod.name);
    if (object === undefined || isDeleting(object)) return;
    if (node !== undefined) provisionForConsumer(this.store, pod, node);
    const now = this.timeline.isoNow();
    this.store.update(object, (stored) => {
      const latest = withoutNomination(stored);
      if (node !== undefined) {
        const bound = withSpec(latest, { nodeName: node });
        return setCondition(bound, { type: 'PodScheduled', status: 'True' }, now);
      }
      const unschedulable = { reason: 'Unschedulable', message };
      const condition = { type: 'PodScheduled', status: 'False', ...unschedulable };
      const waiting = setCondition(latest, condition, now);
      return preemption === undefined
        ? waiting
        : withStatus(waiting, { nominatedNodeName: preemption.node });
    });
    for (const { namespace, name } of preemption?.victims ?? []) {
      const victim = this.store.get('Pod', namespace, name);
      if (victim !== undefined) deletePod(this.store, victim);
    }
  }
}

/** kube-scheduler's try takes the nomination away: it led to a binding, or to nothing. */
function withoutNomination(pod: KubeObject): KubeObject {
  const { nominatedNodeName, ...status } = objectAt(pod, 'status');
  return nominatedNodeName === undefined ? pod : { ...pod, status };
}
