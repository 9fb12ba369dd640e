import { isTrue } from '../../../shared/core/lifecycle/conditions.ts';
import {
  LIMIT_GROUP,
  NODE_POOL,
  PRICE,
  REPLACED_BY,
  REPLACES,
} from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';
import { isDisrupted } from '../../../shared/core/model/taint.ts';
import type { NewNodeClaim } from '../../../shared/ports.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { AMOUNTS, amountsOf, capsOf } from './caps.ts';
import { type CheckerSettings, TOLERANCE_MS } from './checker-settings.ts';
import { momentOf } from './launch-counts.ts';
import { GROUP } from './more-pools.ts';
import { allowedBy, horizonHours, isMoved, leastAgeMs, leastSaving } from './own-rules.ts';
import { PoolHistory } from './pool-history.ts';
import { PoolLimits } from './pool-limits.ts';
import { FIXED } from './rare-kinds.ts';

/** An invocation that stands still writes nothing more once its Lease is another's. */
const DECIDED_MS = 60_000;
/** So long after an edit a static NodePool may have what it had before. */
const EDITED_MS = 20 * 60_000;
/** Pods that come and go within it may be noted as one. */
const NOTED_MS = 15_000;
/** USD an hour. */
const ROUNDING = 1e-6;
/** USD, of one pod. */
const EVICTION_PRICE = 0.02;
/** Nodes become so many times as dear in worlds that are about moves. */
const RISE = 2;

/** A node that goes, and what was decided of it. */
interface Going {
  readonly claim: NodeClaim;
  readonly reason: string;
  readonly decidedAtMs: number;
  /** Nodes of the NodePool that budgets counted then. */
  readonly nodesThen: number;
  /** The NodePool as it was at some moment since shortly before the decision, the newest first. */
  readonly pools: readonly NodePool[];
}

/** What a NodePool says of its nodes, by the versions of it that decisions may have seen. */
export class PoolSafety {
  private readonly settings: CheckerSettings;
  private readonly history = new PoolHistory();
  private readonly limits: PoolLimits;
  /** By the claim's uid, since when it is said of it that it goes, and of how many nodes. */
  private readonly decided = new Map<string, { readonly atMs: number; readonly nodes: number }>();
  /** By name, of all claims that there were, when they were decided on. */
  private readonly moments = new Map<string, string>();
  /** Names of claims that a static NodePool had too many. */
  private readonly surplus = new Set<string>();

  constructor(settings: CheckerSettings) {
    this.settings = settings;
    this.limits = new PoolLimits(settings);
  }

  /** After each change of an object. */
  check(): void {
    this.history.note(this.objects.nodePools, this.nowMs);
    for (const claim of this.objects.nodeClaims) this.noteDecision(claim);
    this.limits.check();
    this.checkGroup();
    this.checkFixed();
  }

  /** Right before `disrupt` deletes the claim. */
  checkDeletion(name: string): void {
    const claim = this.objects.nodeClaims.find((each) => each.name === name);
    const going = claim && this.goingOf(claim);
    if (going === undefined) return;
    this.checkBudget(going);
    this.checkAge(going);
    this.checkPolicy(going);
    this.checkQuiet(going);
    this.checkSaving(going);
    this.checkPayback(going);
  }

  /** Right before `provision` deletes the claim: a static NodePool has more than it should have. */
  checkSurplus(name: string): void {
    const claims = this.objects.nodeClaims.filter(({ labels }) => labels[NODE_POOL] === FIXED);
    const claim = claims.find((each) => each.name === name);
    if (claim === undefined || claim.deletedAtMs !== undefined) return;
    const during = { fromMs: this.nowMs - DECIDED_MS, untilMs: this.nowMs };
    const pools = this.history.during(FIXED, during);
    // What has come to nothing is deleted, too.
    if (pools.length === 0 || claim.providerId === undefined) return;
    this.surplus.add(name);
    // Others may have been deleted by somebody else since it was decided.
    const staying = claims.filter(({ name: each, deletedAtMs }) => {
      return (
        (deletedAtMs ?? this.nowMs) >= this.nowMs - DECIDED_MS &&
        !(this.surplus.has(each) && each !== name)
      );
    });
    const uids = new Set(staying.map(({ uid }) => uid));
    const { length } = staying.filter(
      ({ annotations }) => !annotations[REPLACES]?.split(',').some((uid) => uids.has(uid)),
    );
    const least = Math.min(...pools.map(({ replicas = 0 }) => replicas));
    if (length <= least) {
      this.settings.onProblem(`static: ${name} goes of ${length} nodes for ${least} replicas`);
    }
  }

  /** Where heavier NodePools can take pods, lighter ones launch nothing. */
  checkWeight({ name, labels }: NewNodeClaim): void {
    const { setting, isCapacityCertain, onProblem } = this.settings;
    const { nodePools } = this.objects;
    const own = nodePools.find((each) => each.name === labels[NODE_POOL]);
    if (own === undefined || own.replicas !== undefined || !isCapacityCertain()) return;
    // Pods may be for it alone.
    if (own.template.taints.length > 0 || setting.nodesMax !== undefined) return;
    const during = { fromMs: this.nowMs - DECIDED_MS, untilMs: this.nowMs };
    const heavier = nodePools.find(
      (each) =>
        each.weight > own.weight &&
        each.replicas === undefined &&
        each.template.taints.length === 0 &&
        Object.keys(each.limits).length === 0 &&
        each.annotations[LIMIT_GROUP] === undefined &&
        isTrue(each, 'Ready') &&
        this.history.during(each.name, during).length === 1,
    );
    if (heavier !== undefined) {
      onProblem(`weight: ${name} is launched though NodePool ${heavier.name} is heavier`);
    }
  }

  private get nowMs(): number {
    return this.settings.world.timeline.nowMs();
  }

  private get objects() {
    return readState(this.settings.world.store).objects;
  }

  private noteDecision(claim: NodeClaim): void {
    const { name, uid, annotations, conditions, labels } = claim;
    this.moments.set(name, momentOf(claim));
    const isGoing =
      annotations[REPLACED_BY] !== undefined ||
      conditions.some(({ type }) => type === 'DisruptionReason');
    if (!isGoing) this.decided.delete(uid);
    else if (!this.decided.has(uid)) {
      const nodes = this.countedOf(labels[NODE_POOL]).length;
      this.decided.set(uid, { atMs: this.nowMs, nodes });
    }
  }

  /** As in Karpenter, a node is not counted any more once its instance is being terminated. */
  private countedOf(pool: string | undefined): readonly NodeClaim[] {
    return this.objects.nodeClaims.filter(
      (each) =>
        each.labels[NODE_POOL] === pool &&
        isTrue(each, 'Initialized') &&
        !isTrue(each, 'InstanceTerminating'),
    );
  }

  private goingOf(claim: NodeClaim): Going | undefined {
    const condition = claim.conditions.find(({ type }) => type === 'DisruptionReason');
    if (condition === undefined || claim.deletedAtMs !== undefined) return undefined;
    if (!isTrue(claim, 'Initialized')) return undefined;
    const { reason } = condition;
    const decided = this.decided.get(claim.uid);
    const { atMs: decidedAtMs, nodes: nodesThen } = decided ?? { atMs: this.nowMs, nodes: 0 };
    const during = { fromMs: decidedAtMs - DECIDED_MS, untilMs: this.nowMs };
    const pools = this.history.during(claim.labels[NODE_POOL], during);
    return pools.length === 0 ? undefined : { claim, reason, decidedAtMs, nodesThen, pools };
  }

  /** The caps of groups are never exceeded, whatever drains. */
  private checkGroup(): void {
    const { setting, onProblem } = this.settings;
    const { nodeClaims } = this.objects;
    const { nodesMax = Number.POSITIVE_INFINITY, groupCaps } = setting;
    if (nodeClaims.length > nodesMax) {
      onProblem(`limit group: ${nodeClaims.length} of ${nodesMax} nodes`);
    }
    if (groupCaps === undefined) return;
    const caps = capsOf(groupCaps);
    const used = amountsOf(
      nodeClaims.filter(({ annotations }) => annotations[LIMIT_GROUP] === GROUP),
    );
    for (const name of AMOUNTS) {
      const most = caps[name] ?? Number.POSITIVE_INFINITY;
      if (used[name] > most) onProblem(`limit group ${GROUP}: ${used[name]} of ${most} ${name}`);
    }
  }

  /** As many nodes as `replicas` says, or has said a moment ago, and those on their way in. */
  private checkFixed(): void {
    const { users, onProblem } = this.settings;
    const { replicas, before, editedMs } = users.fixed;
    const own = this.objects.nodeClaims.filter(({ labels }) => labels[NODE_POOL] === FIXED);
    const claims = own.filter(({ deletedAtMs }) => deletedAtMs === undefined);
    if (claims.length <= replicas) return;
    const isEdited = this.nowMs - editedMs < EDITED_MS;
    const most = isEdited ? Math.max(replicas, before) : replicas;
    const during = { fromMs: this.nowMs - EDITED_MS, untilMs: this.nowMs };
    const surges = this.history
      .during(FIXED, during)
      // Budgets count replacements that are ready, too.
      .map((pool) => allowedBy(pool, 'Drifted', own.length, during));
    if (claims.length > most + Math.max(0, ...surges)) {
      onProblem(`static: ${claims.length} nodes for ${replicas} replicas`);
    }
  }

  private checkBudget({ claim, reason, decidedAtMs, nodesThen, pools }: Going): void {
    const { users, onProblem } = this.settings;
    const { nodes } = this.objects;
    const counted = this.countedOf(claim.labels[NODE_POOL]);
    const others = counted.filter((each) => {
      const node = nodes.find(({ providerId }) => providerId === each.providerId);
      const isGoing = each.deletedAtMs !== undefined || node === undefined || isDisrupted(node);
      const isOurs = each.conditions.some(({ type }) => type === 'DisruptionReason');
      // Budgets are asked when a node begins to go: what has begun since is judged by its own.
      const isEarlier = (this.decided.get(each.uid)?.atMs ?? 0) <= decidedAtMs;
      const isOther = each.name !== claim.name && !users.touched.has(each.name);
      return isOther && isGoing && isOurs && isEarlier;
    });
    // What has begun is carried out, whatever the schedule or the budgets say by now, and however
    // many nodes somebody else has deleted since.
    const nodesMost = Math.max(counted.length, nodesThen);
    const during = { fromMs: decidedAtMs - DECIDED_MS, untilMs: this.nowMs + TOLERANCE_MS };
    const allowed = Math.max(...pools.map((pool) => allowedBy(pool, reason, nodesMost, during)));
    if (others.length + 1 > allowed) {
      const count = `${others.length + 1} of ${nodesMost} nodes`;
      onProblem(`budget: ${count} for ${reason}, ${allowed} allowed (${claim.name})`);
    }
  }

  /** A node is not moved, and does not return, before it is as old as its NodePool wants. */
  private checkAge({ claim, reason, decidedAtMs, pools }: Going): void {
    const least = Math.min(...pools.map((pool) => leastAgeMs(pool, reason)));
    // Times of objects are whole seconds.
    const ageMs = decidedAtMs - claim.createdAtMs + TOLERANCE_MS;
    if (ageMs < least) {
      this.settings.onProblem(`age: ${claim.name} goes for ${reason} after ${ageMs / 1000} s`);
    }
  }

  /** `WhenEmpty` and `Never`; what goes as empty has had no pods. */
  private checkPolicy({ claim, reason, decidedAtMs, pools }: Going): void {
    const { onProblem } = this.settings;
    const isForCost = reason === 'Underutilized';
    const isKept = ({ disruption: { consolidateAfter, consolidationPolicy } }: NodePool): boolean =>
      consolidateAfter === 'Never' || (isForCost && consolidationPolicy === 'WhenEmpty');
    if ((isForCost || reason === 'Empty') && pools.every(isKept)) {
      onProblem(`policy: ${claim.name} goes for ${reason}`);
    }
    if (isForCost && pools.every(({ replicas }) => replicas !== undefined)) {
      onProblem(`static: ${claim.name} goes for ${reason}`);
    }
    const left = this.podsOf(claim).find(
      (pod) => (pod.startedAtMs ?? this.nowMs) < decidedAtMs - TOLERANCE_MS,
    );
    if (reason === 'Empty' && left !== undefined) {
      onProblem(`policy: ${claim.name} goes as empty with pod ${left.name}`);
    }
  }

  /** No pod has come to the node shortly before it was decided that it goes for cost. */
  private checkQuiet({ claim, reason, decidedAtMs, pools }: Going): void {
    if (reason !== 'Underutilized') return;
    const quietMs = Math.min(
      ...pools.map(({ disruption: { consolidateAfter: after } }) =>
        after === 'Never' ? 0 : after,
      ),
    );
    const late = this.podsOf(claim).find(({ startedAtMs = 0 }) => {
      return startedAtMs > decidedAtMs - quietMs + NOTED_MS && startedAtMs < decidedAtMs - NOTED_MS;
    });
    if (late !== undefined) {
      this.settings.onProblem(`consolidateAfter: ${claim.name} goes soon after ${late.name} came`);
    }
  }

  /**
   * Of moves of one node to others, at prices that nobody has changed. Of nodes that nothing
   * replaces several may have gone together, which saves more than each; so may nodes whose
   * replacements were decided on at the same moment, each waiting for one of its own, though a
   * write that failed may have kept the others' from being made.
   */
  private checkSaving({ claim, reason, decidedAtMs, pools }: Going): void {
    const { users, onProblem } = this.settings;
    if (reason !== 'Underutilized' || users.havePricesChanged) return;
    const price = Number(claim.annotations[PRICE]);
    const names = claim.annotations[REPLACED_BY]?.split(',') ?? [];
    const made = this.objects.nodeClaims.filter(({ name }) => names.includes(name));
    const isOfOne = made.every(({ annotations }) => annotations[REPLACES] === claim.uid);
    if (names.length === 0 || made.length < names.length || !isOfOne) return;
    const moments = new Set(made.map(momentOf));
    // Some may be gone: what they were for has stayed, and the rest of the move goes on.
    const others = [...this.moments].filter(([name]) => !names.includes(name));
    if (others.some(([, moment]) => moments.has(moment))) return;
    const isTogether = this.objects.nodeClaims.some(({ uid, annotations }) => {
      const atMs = this.decided.get(uid)?.atMs ?? Number.NEGATIVE_INFINITY;
      const isBegun = annotations[REPLACED_BY] !== undefined;
      return uid !== claim.uid && isBegun && Math.abs(atMs - decidedAtMs) < TOLERANCE_MS;
    });
    if (isTogether) return;
    const saving = made.reduce((left, each) => left - Number(each.annotations[PRICE]), price);
    const least = Math.min(...pools.map((pool) => leastSaving(pool, price)));
    if (least > 0 && saving < least - ROUNDING) {
      onProblem(`guard: ${claim.name} goes for $${saving.toFixed(4)}, least $${least.toFixed(4)}`);
    }
  }

  /**
   * Moves save no more than their nodes cost, and they cost what the evictions of the pods count
   * as. Those that are decided at one time may have been one.
   */
  private checkPayback({ claim, reason, decidedAtMs, pools }: Going): void {
    const { users, onProblem } = this.settings;
    if (reason !== 'Underutilized' || users.havePricesChanged) return;
    const hours = Math.max(...pools.map(horizonHours));
    const moved = this.objects.nodeClaims.filter(({ uid }) => {
      const atMs = this.decided.get(uid)?.atMs ?? Number.NEGATIVE_INFINITY;
      return uid === claim.uid || Math.abs(atMs - decidedAtMs) < DECIDED_MS;
    });
    const pods = moved
      .flatMap((each) => this.podsOf(each))
      .filter(({ startedAtMs }) => {
        return startedAtMs !== undefined && startedAtMs < decidedAtMs - DECIDED_MS;
      });
    const price = moved.reduce((sum, { annotations }) => sum + Number(annotations[PRICE]), 0);
    if (RISE * price * hours < pods.length * EVICTION_PRICE) {
      onProblem(`guard: ${claim.name} goes with ${pods.length} pods, unpaid in ${hours * 60} min`);
    }
  }

  /** Those that a drain moves elsewhere, and that nobody has told to go. */
  private podsOf({ providerId }: NodeClaim): readonly Pod[] {
    const node = this.objects.nodes.find((each) => each.providerId === providerId);
    return this.objects.pods.filter(
      (pod) => pod.nodeName === node?.name && pod.deletedAtMs === undefined && isMoved(pod),
    );
  }
}
