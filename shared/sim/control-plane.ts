import type { ClusterState } from '../ports.ts';
import { reconcileBudget } from './controllers/budgets.ts';
import { reconcileCronJob } from './controllers/cron-jobs.ts';
import { collectGarbage } from './controllers/garbage.ts';
import { bindNamedVolume } from './controllers/volumes.ts';
import {
  type ControllerContext,
  deletePod,
  reconcileDaemonSet,
  reconcileDeployment,
  reconcileJob,
  reconcileReplicaSet,
  reconcileStatefulSet,
} from './controllers/workloads.ts';
import { daemonFits } from './daemon-fit.ts';
import { readState } from './decode.ts';
import { objectAt } from './json.ts';
import type { Kubelets } from './kubelet.ts';
import { isDeleting, setCondition, withSpec, withStatus } from './objects.ts';
import { type Binding, schedule } from './scheduler/schedule.ts';
import { schedulerView } from './scheduler/view.ts';
import type { KubeObject, ObjectStore } from './store.ts';
import type { Timeline } from './timeline.ts';

/** Rounds until everything rests; more than this means that two controllers fight. */
const ROUNDS_MAX = 100;

/** kube-controller-manager and kube-scheduler: bring the cluster to rest after each change. */
export class ControlPlane {
  private readonly context: ControllerContext;
  private readonly store: ObjectStore;
  private readonly timeline: Timeline;
  private readonly kubelets: Kubelets;

  constructor(timeline: Timeline, kubelets: Kubelets, context: ControllerContext) {
    this.store = context.store;
    this.timeline = timeline;
    this.kubelets = kubelets;
    this.context = context;
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
    collectGarbage(store);
    for (const each of store.list('Deployment')) reconcileDeployment(context, each);
    for (const each of store.list('ReplicaSet')) reconcileReplicaSet(context, each);
    for (const each of store.list('StatefulSet')) reconcileStatefulSet(context, each);
    const nowMs = this.timeline.nowMs();
    for (const each of store.list('CronJob')) reconcileCronJob(store, each, nowMs);
    for (const each of store.list('PersistentVolumeClaim')) bindNamedVolume(store, each);
    for (const each of store.list('Job')) reconcileJob(context, each);
    this.reconcileDaemonSets();
    for (const each of store.list('PodDisruptionBudget')) reconcileBudget(store, each);
  }

  private reconcileDaemonSets(): void {
    const sets = this.store.list('DaemonSet');
    if (sets.length === 0) return;
    const state = readState(this.store);
    const nodes = this.store.list('Node');
    const fits = (set: KubeObject, node: KubeObject): boolean => daemonFits(state, set, node);
    for (const set of sets) reconcileDaemonSet(this.context, set, nodes, fits);
  }

  private bind(): void {
    const state: ClusterState = readState(this.store);
    for (const binding of schedule(schedulerView(state.objects))) this.write(binding);
  }

  private write({ pod, node, message, preemption }: Binding): void {
    const object = this.store.get('Pod', pod.namespace, pod.name);
    if (object === undefined || isDeleting(object)) return;
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
