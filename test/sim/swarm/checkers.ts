import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import { isTrue } from '../../../shared/core/lifecycle/conditions.ts';
import { INTERRUPTED, NODE_POOL } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { isDisrupted } from '../../../shared/core/model/taint.ts';
import type { PausedPart } from '../../../shared/core/pause-windows.ts';
import type { FleetRequest, NewNodeClaim, ObjectRef } from '../../../shared/ports.ts';
import { readState } from '../../../shared/sim/decode.ts';
import type { World } from '../../../shared/sim/world.ts';
import { violations } from '../invariants.ts';
import type { Invocation } from './awaits.ts';
import type { Karpenter } from './karpenter.ts';
import { allowedBy, isProtected } from './own-rules.ts';
import { FIXED } from './rare-kinds.ts';
import type { Setting } from './setting.ts';
import type { Users } from './users.ts';

/** Clocks of invocations and reads may differ by so much from what was true. */
const TOLERANCE_MS = 4_000;
/** So long after Karpenter has begun to lead the last write may take effect. */
const LEADING_MS = 15_000;

/** Calls of compute that change nothing. */
const HARMLESS = new Set(['list', 'describe', 'statuses', 'spotRequests', 'freeReservations']);

/** So long a replacement may be on its way that was decided under other budgets. */
const EDITED_MS = 20 * 60_000;

/** An invocation that stands still writes nothing more once its Lease is another's. */
const DECIDED_MS = 60_000;

/** A static NodePool replaces so many nodes at once: its budget is the default of 10 %. */
const SURGE = 1;

/** Nodes that drain are over the limit while they do; {@link Safety} counts those that stay. */
export const OF_DRAINING = /^NodePool .* has /u;
/** What is not so while a call is on its way either, and is so once everything is at rest. */
const ON_THE_WAY = [/ has no NodeClaim$/u, OF_DRAINING];

export interface CheckerSettings {
  readonly world: World;
  readonly setting: Setting;
  readonly karpenter: Karpenter;
  readonly users: Pick<Users, 'touched' | 'budgetsEditedMs' | 'pausedSpan' | 'fixed'>;
  readonly onProblem: (problem: string) => void;
}

/** What must hold at every moment. */
export class Safety {
  private readonly settings: CheckerSettings;
  private checkedVersion = -1;

  constructor(settings: CheckerSettings) {
    this.settings = settings;
  }

  /** After each change of an object. */
  check(): void {
    const { world, onProblem } = this.settings;
    if (world.store.version === this.checkedVersion) return;
    this.checkedVersion = world.store.version;
    for (const each of violations(world)) {
      if (!ON_THE_WAY.some((pattern) => pattern.test(each))) onProblem(each);
    }
    this.checkLimit();
    this.checkGroup();
    this.checkFixed();
  }

  /** Right before a write takes effect. */
  onWrite(by: Invocation, call: string, [first]: readonly unknown[]): void {
    if (call === 'terminate') for (const id of first as readonly string[]) this.checkDrained(id);
    if (call === 'launch') this.checkMinValues(first as FleetRequest);
    const ref = first as ObjectRef | undefined;
    if (this.leadsLong(by) && !HARMLESS.has(call)) {
      this.settings.onProblem(`${by.function} calls ${call} while Karpenter leads`);
    }
    if (call === 'createNodeClaim') this.checkPaused('launch', by, first as NewNodeClaim);
    if (ref === undefined) return;
    if (call === 'evict') this.checkEviction(ref);
    if (call === 'deletePod') this.checkForced(ref);
    if (call === 'delete' && ref.kind === 'NodeClaim' && by.function === 'disrupt') {
      this.checkBudget(ref);
      const claim = this.objects.nodeClaims.find(({ name }) => name === ref.name);
      // A replacement that does not come is given up.
      if (claim && isTrue(claim, 'Initialized')) this.checkPaused('disrupt', by, claim);
    }
  }

  /** In its window a NodePool gets no node, or loses none of its own accord. */
  private checkPaused(part: PausedPart, by: Invocation, claim: Pick<NodeClaim, 'name' | 'labels'>) {
    const { world, users, onProblem } = this.settings;
    const span = users.pausedSpan;
    if (span?.part !== part || claim.labels[NODE_POOL] !== 'default') return;
    // Who began before it may have read the NodePool as it was.
    const isSeen = by.startedMs > span.fromMs + TOLERANCE_MS;
    if (isSeen && world.timeline.nowMs() < span.untilMs - TOLERANCE_MS) {
      onProblem(`${by.function} ignores the pause of ${part}: ${claim.name}`);
    }
  }

  /** Who was frozen between the look at the Lease and the call looks again before the next one. */
  private leadsLong({ frozenUntilMs }: Invocation): boolean {
    const { world, karpenter } = this.settings;
    const awakeMs = world.timeline.nowMs() - frozenUntilMs;
    return karpenter.leadsForMs() > LEADING_MS && awakeMs > TOLERANCE_MS;
  }

  private get objects() {
    return readState(this.settings.world.store).objects;
  }

  /** Of a node that has joined the pods are evicted first, unless its time to drain is over. */
  private checkDrained(id: string): void {
    const { nodeClaims, nodes, pods } = this.objects;
    const claim = nodeClaims.find(({ providerId }) => instanceIdOf(providerId) === id);
    const node = nodes.find(({ providerId }) => instanceIdOf(providerId) === id);
    const nowMs = this.settings.world.timeline.nowMs();
    if (claim === undefined || node === undefined || !isTrue(claim, 'Registered')) return;
    const { terminationGracePeriodMs: graceMs = Number.POSITIVE_INFINITY, deletedAtMs } = claim;
    if ((deletedAtMs ?? nowMs) + graceMs < nowMs + TOLERANCE_MS) return;
    const left = pods.find(
      ({ nodeName, phase, deletedAtMs: goesAtMs }) =>
        nodeName === node.name && phase === 'Running' && goesAtMs === undefined,
    );
    if (left !== undefined) {
      this.settings.onProblem(`terminates ${node.name} on which ${left.name} runs`);
    }
  }

  /** NodeClaims that stay never have more than the limit; those that are replaced go first. */
  private checkLimit(): void {
    const { setting, onProblem } = this.settings;
    if (setting.limitMillis === undefined) return;
    const staying = this.objects.nodeClaims.filter(
      (claim) =>
        claim.deletedAtMs === undefined &&
        claim.labels[NODE_POOL] === 'default' &&
        claim.annotations['joiner.dev/replaced-by'] === undefined,
    );
    const used = staying.reduce((sum, { capacity }) => sum + (capacity['cpu'] ?? 0), 0);
    if (used > setting.limitMillis) {
      onProblem(`limit: ${used}m cpu of ${setting.limitMillis}m`);
    }
  }

  /** The cap of the group is never exceeded, whatever drains. */
  private checkGroup(): void {
    const { nodesMax = Number.POSITIVE_INFINITY } = this.settings.setting;
    const nodes = this.objects.nodeClaims.length;
    if (nodes > nodesMax) this.settings.onProblem(`limit group: ${nodes} of ${nodesMax} nodes`);
  }

  /** As many nodes as `replicas` says, or has said a moment ago, and those on their way in. */
  private checkFixed(): void {
    const { users, world, onProblem } = this.settings;
    const { replicas, before, editedMs } = users.fixed;
    const claims = this.objects.nodeClaims.filter(
      ({ labels, deletedAtMs }) => labels[NODE_POOL] === FIXED && deletedAtMs === undefined,
    );
    const isEdited = world.timeline.nowMs() - editedMs < EDITED_MS;
    const most = (isEdited ? Math.max(replicas, before) : replicas) + SURGE;
    if (claims.length > most) {
      onProblem(`static: ${claims.length} nodes for ${replicas} replicas`);
    }
  }

  /** EC2 may choose of so many. */
  private checkMinValues({ nodePool, overrides }: FleetRequest): void {
    const { setting, onProblem } = this.settings;
    const { minValues } = setting.kinds;
    if (minValues === undefined || nodePool !== 'default') return;
    const isByFamily = minValues.key === 'karpenter.k8s.aws/instance-family';
    const values = new Set(
      overrides.map(({ instanceType }) => {
        return isByFamily ? instanceType.split('.')[0] : instanceType;
      }),
    );
    if (values.size < minValues.minValues) {
      onProblem(`minValues: ${[...values].join(', ')} for ${JSON.stringify(minValues)}`);
    }
  }

  private checkEviction(ref: ObjectRef): void {
    const pod = this.podOf(ref);
    const nowMs = this.settings.world.timeline.nowMs();
    if (pod === undefined) return;
    if (isProtected(pod, nowMs) && isProtected(pod, nowMs + TOLERANCE_MS))
      this.settings.onProblem(`evicts pod ${pod.name}, which is not to be disrupted`);
    this.checkRollout(pod, nowMs);
  }

  /** A pod whose Deployment is restarted is not evicted before its time, unless EC2 takes the node. */
  private checkRollout({ name, annotations, controller, nodeName }: Pod, nowMs: number): void {
    if (annotations['joiner.dev/drain'] !== 'rollout' || controller?.kind !== 'ReplicaSet') return;
    const claim = this.objects.nodeClaims.find((each) => each.nodeName === nodeName);
    if (claim?.deletedAtMs === undefined || claim.annotations[INTERRUPTED] !== undefined) return;
    if (nowMs + TOLERANCE_MS < claim.deletedAtMs + 15 * 60_000) {
      this.settings.onProblem(`evicts pod ${name}, whose Deployment is restarted`);
    }
  }

  private checkForced(ref: ObjectRef): void {
    const pod = this.podOf(ref);
    const node = this.objects.nodes.find((each) => each.name === pod?.nodeName);
    const claim = this.objects.nodeClaims.find((each) => each.providerId === node?.providerId);
    if (claim === undefined) return;
    const hasEnd =
      claim.terminationGracePeriodMs !== undefined ||
      claim.annotations['karpenter.sh/nodeclaim-termination-timestamp'] !== undefined;
    if (!hasEnd)
      this.settings.onProblem(`deletes pod ${ref.name} on a node that has time to drain`);
  }

  private checkBudget({ name }: ObjectRef): void {
    const nowMs = this.settings.world.timeline.nowMs();
    if (nowMs - this.settings.users.budgetsEditedMs < EDITED_MS) return;
    const { nodeClaims, nodes, nodePools } = this.objects;
    const claim = nodeClaims.find((each) => each.name === name);
    const pool = nodePools.find((each) => each.name === claim?.labels[NODE_POOL]);
    const condition = claim?.conditions.find(({ type }) => type === 'DisruptionReason');
    const { reason, lastTransitionAtMs = nowMs } = condition ?? {};
    if (claim === undefined || pool === undefined || reason === undefined) return;
    if (claim.deletedAtMs !== undefined || !isTrue(claim, 'Initialized')) return;
    // As in Karpenter, a node is not counted any more once its instance is being terminated.
    const counted = nodeClaims.filter(
      (each) =>
        each.labels[NODE_POOL] === pool.name &&
        isTrue(each, 'Initialized') &&
        !isTrue(each, 'InstanceTerminating'),
    );
    const others = counted.filter((each) => {
      const node = nodes.find(({ providerId }) => providerId === each.providerId);
      const isGoing = each.deletedAtMs !== undefined || node === undefined || isDisrupted(node);
      const isOurs = each.conditions.some(({ type }) => type === 'DisruptionReason');
      return each.name !== name && isGoing && isOurs && !this.settings.users.touched.has(each.name);
    });
    // What has begun is carried out, whatever the schedule says by now.
    const during = { fromMs: lastTransitionAtMs - DECIDED_MS, untilMs: nowMs + TOLERANCE_MS };
    const allowed = allowedBy(pool, reason, counted.length, during);
    if (others.length + 1 > allowed) {
      const count = `${others.length + 1} of ${counted.length} nodes`;
      this.settings.onProblem(`budget: ${count} for ${reason}, ${allowed} allowed (${name})`);
    }
  }

  /** Not one that has the name by now: the API server refuses what names another uid. */
  private podOf({ namespace, name, uid }: ObjectRef): Pod | undefined {
    const pod = this.objects.pods.find(
      (each) => each.namespace === namespace && each.name === name,
    );
    return uid === undefined || pod?.uid === uid ? pod : undefined;
  }
}
