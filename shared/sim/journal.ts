import type { ClusterEvent, DecisionRecord } from '../ports.ts';
import { listAt, textAt } from './json.ts';
import type { KubeObject, StoreChange } from './store.ts';
import type { Timeline } from './timeline.ts';

/** One line of the story of a run. */
export interface JournalEntry {
  /** Seconds since the start. */
  readonly at: number;
  readonly kind: string;
  /** `Kind/name`. */
  readonly object: string;
  readonly message: string;
  /** USD an hour of all instances, list prices, after the event. */
  readonly pricePerHour: number;
}

/** Conditions of a NodeClaim that are worth a line when they become true. */
const MILESTONES: readonly (readonly [string, string])[] = [
  ['Launched', 'launched'],
  ['Registered', 'registered'],
  ['Initialized', 'ready'],
  ['Drifted', 'drifted'],
  ['Drained', 'drained'],
  ['InstanceTerminating', 'terminating'],
];

/** Events of the cluster that say something that no object shows. */
const TOLD: ReadonlySet<string> = new Set([
  'CanaryFailed',
  'DisruptionBlocked',
  'DisruptionTerminating',
  'FailedScheduling',
  'LimitGroupDiffers',
  'LimitGroupReached',
  'InsufficientCapacityError',
  'LaunchesPaused',
  'NodeClassNotReady',
  'ProvenImageLaunched',
  'ReplacementNotReady',
  'MoveUndone',
  'SpotInterrupted',
  'SpotRebalanceRecommendation',
  'FailedDraining',
  'RolloutRestarted',
  'RolloutRefused',
  'InstanceStopping',
  'InstanceTerminating',
  'InstanceUnhealthy',
]);

/** Writes down what happens, in the order in which it happens. */
export class Journal {
  readonly entries: JournalEntry[] = [];
  private readonly timeline: Timeline;
  private readonly startMs: number;
  private readonly price: () => number;
  private readonly isSaid = new Set<string>();
  /** Pods that began to run at this moment, by node. */
  private readonly started = new Map<string, number>();
  private startedAtMs = 0;

  constructor(timeline: Timeline, price: () => number) {
    this.timeline = timeline;
    this.startMs = timeline.nowMs();
    this.price = price;
  }

  add(kind: string, object: string, message: string): void {
    this.flush();
    this.entries.push(this.entry(this.timeline.nowMs(), kind, object, message));
  }

  onEvent({ regarding, reason, message }: ClusterEvent): void {
    // What is said of a node of ours is said of its claim, too.
    const isSaidTwice = regarding.kind === 'Node' && reason.startsWith('Disruption');
    if (!TOLD.has(reason) || isSaidTwice) return;
    const path = [regarding.kind, regarding.namespace, regarding.name];
    this.add(reason, path.filter((each) => each !== undefined).join('/'), message);
  }

  /** That a NodeClaim expires is recorded when it is deleted already, and told before that. */
  onDecision({ object, message, detail }: DecisionRecord): void {
    if (detail['reason'] !== 'expired' || !this.once(`${object}/expired`)) return;
    const isDeletion = (each: JournalEntry): boolean =>
      each.kind === 'deleted' && each.object === object;
    const index = this.entries.findLastIndex(isDeletion);
    const entry = this.entry(this.timeline.nowMs(), 'expired', object, message);
    this.entries.splice(index === -1 ? this.entries.length : index, 0, entry);
  }

  /** A pod whose node no longer waits for it. */
  onPodDeleted(pod: KubeObject, claim: KubeObject | undefined, graceSeconds: number): void {
    const { namespace = '', name } = pod.metadata;
    const isLimited = textAt(claim, 'spec', 'terminationGracePeriod') !== undefined;
    const why = isLimited
      ? 'terminationGracePeriod of its node runs out'
      : 'its node does not wait';
    this.add('deleted', `Pod/${namespace}/${name}`, `${why}: ${graceSeconds}s left to stop`);
  }

  onChange({ kind, object }: StoreChange): void {
    if (object.kind === 'NodeClaim') this.onClaim(kind, object);
    if (object.kind === 'NodeOverlay' || object.kind === 'NodePool') this.onReady(object);
    if (object.kind === 'Pod' && kind === 'updated') this.onPod(object);
  }

  /** Pods that started at one moment are one line for each node. */
  flush(): void {
    const atMs = this.startedAtMs;
    const nodes = [...this.started].sort(([a], [b]) => (a < b ? -1 : 1));
    this.started.clear();
    for (const [node, count] of nodes) {
      const message = `${count} ${count === 1 ? 'pod' : 'pods'} running`;
      this.entries.push(this.entry(atMs, 'running', `Node/${node}`, message));
    }
  }

  private entry(atMs: number, kind: string, object: string, message: string): JournalEntry {
    const at = Math.round(atMs - this.startMs) / 1000;
    return { at, kind, object, message, pricePerHour: this.price() };
  }

  private once(key: string): boolean {
    if (this.isSaid.has(key)) return false;
    this.isSaid.add(key);
    return true;
  }

  private onClaim(change: StoreChange['kind'], claim: KubeObject): void {
    const { name, uid, labels, deletionTimestamp } = claim.metadata;
    const object = `NodeClaim/${name}`;
    if (change === 'created') {
      this.add('created', object, `for NodePool ${labels['karpenter.sh/nodepool'] ?? '-'}`);
      // A claim of a cluster that runs was launched before this run.
      for (const [type] of milestonesOf(claim)) this.once(`${uid}/${type}`);
    }
    const isLaunched = textAt(claim, 'status', 'providerID') !== undefined;
    const end = isLaunched ? 'the instance is gone' : 'it never had an instance';
    if (change === 'removed') this.add('removed', object, end);
    if (change !== 'updated') return;
    if (deletionTimestamp !== undefined && this.once(`${uid}/deleted`)) {
      this.add('deleted', object, isLaunched ? 'to drain, then terminate' : 'not launched');
    }
    for (const [type, kind, condition] of milestonesOf(claim)) {
      if (this.once(`${uid}/${type}`))
        this.add(kind, object, milestoneText(type, claim, condition));
    }
  }

  private onReady(object: KubeObject): void {
    const ready = listAt(object, 'status', 'conditions').find(
      (each) => textAt(each, 'type') === 'Ready',
    );
    const status = textAt(ready, 'status');
    if (status === undefined) return;
    const reason = textAt(ready, 'reason') ?? '';
    const key = `${object.kind}/${object.metadata.name}`;
    if (!this.changed(key, `${status}/${reason}`)) return;
    const cause = status === 'True' ? '' : ` (${reason}: ${textAt(ready, 'message') ?? ''})`;
    this.add('status', key, `Ready=${status}${cause}`);
  }

  private readonly last = new Map<string, string>();

  private changed(key: string, value: string): boolean {
    if (this.last.get(key) === value) return false;
    this.last.set(key, value);
    return true;
  }

  private onPod(pod: KubeObject): void {
    if (textAt(pod, 'status', 'phase') !== 'Running') return;
    if (!this.once(`${pod.metadata.uid}/running`)) return;
    if (this.startedAtMs !== this.timeline.nowMs()) this.flush();
    this.startedAtMs = this.timeline.nowMs();
    const node = textAt(pod, 'spec', 'nodeName') ?? '';
    this.started.set(node, (this.started.get(node) ?? 0) + 1);
  }
}

/** The conditions that have become true. */
function milestonesOf(claim: KubeObject): readonly (readonly [string, string, unknown])[] {
  const isTrue = listAt(claim, 'status', 'conditions').filter(
    (each) => textAt(each, 'status') === 'True',
  );
  return MILESTONES.flatMap(([type, kind]) => {
    const condition = isTrue.find((each) => textAt(each, 'type') === type);
    return condition === undefined ? [] : [[type, kind, condition] as const];
  });
}

function milestoneText(type: string, claim: KubeObject, condition: unknown): string {
  const { labels } = claim.metadata;
  switch (type) {
    case 'Launched': {
      const kind = labels['node.kubernetes.io/instance-type'] ?? '?';
      const bought = labels['karpenter.sh/capacity-type'] ?? '?';
      return `${kind} ${bought} in ${labels['topology.kubernetes.io/zone'] ?? '?'}`;
    }
    case 'Drifted':
      return `${textAt(condition, 'reason') ?? '?'}: ${textAt(condition, 'message') ?? ''}`;
    case 'Registered':
      return `as ${textAt(claim, 'status', 'nodeName') ?? '?'}`;
    default:
      return textAt(claim, 'status', 'nodeName') ?? '';
  }
}
