import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import { isTrue } from '../../../shared/core/lifecycle/conditions.ts';
import { CAPACITY_TYPE, INTERRUPTED, NODE_POOL } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import type { PausedPart } from '../../../shared/core/pause-windows.ts';
import type { FleetRequest, NewNodeClaim, ObjectRef } from '../../../shared/ports.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { violations } from '../invariants.ts';
import type { Invocation } from './awaits.ts';
import { type CheckerSettings, TOLERANCE_MS } from './checker-settings.ts';
import { isProtected } from './own-rules.ts';
import { PauseSafety } from './pause-safety.ts';
import { PoolSafety } from './pool-checkers.ts';
import { KNOWN_MS } from './reserved.ts';

/** So long after Karpenter has begun to lead the last write may take effect. */
const LEADING_MS = 15_000;

/** Calls of compute that change nothing. */
const HARMLESS = new Set(['list', 'describe', 'statuses', 'spotRequests']);

/** Nodes that drain are over the limit while they do; {@link PoolSafety} counts those that stay. */
export const OF_DRAINING = /^NodePool .* has /u;
/** What is not so while a call is on its way either, and is so once everything is at rest. */
const ON_THE_WAY = [/ has no NodeClaim$/u, OF_DRAINING];

/** What must hold at every moment. */
export class Safety {
  private readonly settings: CheckerSettings;
  private readonly pools: PoolSafety;
  private readonly pauses: PauseSafety;
  private checkedVersion = -1;

  constructor(settings: CheckerSettings) {
    this.settings = settings;
    this.pools = new PoolSafety(settings);
    this.pauses = new PauseSafety(settings);
  }

  /** After each change of an object. */
  check(): void {
    const { world, onProblem } = this.settings;
    if (world.store.version === this.checkedVersion) return;
    this.checkedVersion = world.store.version;
    for (const each of violations(world)) {
      if (!ON_THE_WAY.some((pattern) => pattern.test(each))) onProblem(each);
    }
    this.pools.check();
  }

  /** Right before a write takes effect. */
  onWrite(by: Invocation, call: string, [first]: readonly unknown[]): void {
    if (call === 'terminate') for (const id of first as readonly string[]) this.checkDrained(id);
    if (call === 'launch') {
      const { nodePool = '' } = first as FleetRequest;
      this.checkMinValuesOf(first as FleetRequest);
      this.checkReserved(first as FleetRequest);
      this.checkPaused('launch', by, { name: 'a launch', labels: { [NODE_POOL]: nodePool } });
    }
    const ref = first as ObjectRef | undefined;
    this.pauses.onWrite(by, call, ref);
    if (this.leadsLong(by) && !HARMLESS.has(call)) {
      this.settings.onProblem(`${by.function} calls ${call} while Karpenter leads`);
    }
    if (call === 'createNodeClaim') {
      this.checkPaused('launch', by, first as NewNodeClaim);
      this.pools.checkWeight(first as NewNodeClaim);
      this.checkMinValues(first as NewNodeClaim);
    }
    if (ref === undefined) return;
    if (call === 'evict') this.checkEviction(ref, by);
    if (call === 'deletePod') this.checkForced(ref);
    if (call === 'delete' && ref.kind === 'NodeClaim' && by.function === 'provision') {
      this.pools.checkSurplus(ref.name);
    }
    if (call === 'delete' && ref.kind === 'NodeClaim' && by.function === 'disrupt') {
      this.pools.checkDeletion(ref.name);
      const claim = this.objects.nodeClaims.find(({ name }) => name === ref.name);
      // A replacement that does not come is given up.
      if (claim && isTrue(claim, 'Initialized')) this.checkPaused('disrupt', by, claim);
    }
  }

  /** In its window a NodePool gets no node, or loses none of its own accord. */
  private checkPaused(part: PausedPart, by: Invocation, claim: Pick<NodeClaim, 'name' | 'labels'>) {
    const { world, users, onProblem } = this.settings;
    const span = users.pools.pausedSpan(claim.labels[NODE_POOL]);
    if (span?.part !== part) return;
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
    this.checkDetached(node.name);
  }

  /** What is written to a volume that goes with its instance may be lost. */
  private checkDetached(node: string): void {
    const { volumeAttachments, objects } = readState(this.settings.world.store);
    const attached = volumeAttachments.find(({ nodeName }) => nodeName === node);
    // The volumes of a pod whose kubelet cannot stop it are not waited for.
    const isStopped = objects.pods.every(({ nodeName }) => nodeName !== node);
    if (attached !== undefined && isStopped) {
      this.settings.onProblem(`terminates ${node} that has ${attached.name}`);
    }
  }

  /** A NodeClaim keeps so many types open. */
  private checkMinValues({ name, labels, requirements }: NewNodeClaim): void {
    // What is static has the requirements of its NodePool.
    if (labels[NODE_POOL] !== 'default') return;
    const types = requirements.find(({ key }) => key === 'node.kubernetes.io/instance-type');
    if (types?.operator === 'In') this.checkTypes(name, types.values);
  }

  /**
   * And EC2 may choose of so many. As in Karpenter, a NodeClaim of several capacity types has them
   * in all, and is launched as one.
   */
  private checkMinValuesOf({ nodePool, overrides }: FleetRequest): void {
    if (nodePool !== 'default') return;
    const pool = this.objects.nodePools.find(({ name }) => name === nodePool);
    const { values = [] } =
      pool?.template.requirements.find(({ key }) => key === CAPACITY_TYPE) ?? {};
    const types = overrides.map(({ instanceType }) => instanceType);
    if (values.length === 1) this.checkTypes('a launch', types);
  }

  /** What is launched into a Capacity Block that is about to end would go with it. */
  private checkReserved({ overrides }: FleetRequest): void {
    const { world, onProblem } = this.settings;
    for (const { reservationId = '' } of overrides) {
      const isKnown = world.compute.reservations.isExpiring(reservationId, KNOWN_MS);
      if (isKnown) onProblem(`launches into ${reservationId}, which is about to end`);
    }
  }

  private checkTypes(what: string, types: readonly string[]): void {
    const { setting, onProblem } = this.settings;
    const { minValues } = setting.kinds;
    if (minValues === undefined) return;
    const isByFamily = minValues.key === 'karpenter.k8s.aws/instance-family';
    const values = new Set(types.map((type) => (isByFamily ? type.split('.')[0] : type)));
    if (values.size < minValues.minValues) {
      const wanted = JSON.stringify(minValues);
      onProblem(`minValues: ${what} has ${[...values].join(', ')} for ${wanted}`);
    }
  }

  private checkEviction(ref: ObjectRef, { frozenUntilMs }: Invocation): void {
    const pod = this.podOf(ref);
    const nowMs = this.settings.world.timeline.nowMs();
    if (pod === undefined) return;
    const sinceMs = this.settings.users.protectedAtMs.get(pod.uid) ?? Number.NEGATIVE_INFINITY;
    // Who read the pod before evicts it: the Eviction API has no precondition on annotations.
    const isSeen = Math.min(nowMs - sinceMs, nowMs - frozenUntilMs) > TOLERANCE_MS;
    if (isSeen && isProtected(pod, nowMs) && isProtected(pod, nowMs + TOLERANCE_MS))
      this.settings.onProblem(`evicts pod ${pod.name}, which is not to be disrupted`);
    this.checkRollout(pod, nowMs);
  }

  /**
   * A pod whose Deployment is restarted is not evicted before its time, unless EC2 takes the node,
   * or the restart would end one on another node that may not be disrupted.
   */
  private checkRollout({ name, annotations, controller, nodeName }: Pod, nowMs: number): void {
    if (annotations['joiner.dev/drain'] !== 'rollout' || controller?.kind !== 'ReplicaSet') return;
    const claim = this.objects.nodeClaims.find((each) => each.nodeName === nodeName);
    if (claim?.deletedAtMs === undefined || claim.annotations[INTERRUPTED] !== undefined) return;
    // As the pass may have read it.
    const isKept = this.objects.pods.some(
      (each) =>
        each.controller?.uid === controller.uid &&
        each.nodeName !== undefined &&
        each.nodeName !== nodeName &&
        isProtected(each, nowMs - TOLERANCE_MS),
    );
    if (!isKept && nowMs + TOLERANCE_MS < claim.deletedAtMs + 15 * 60_000) {
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

  /** Not one that has the name by now: the API server refuses what names another uid. */
  private podOf({ namespace, name, uid }: ObjectRef): Pod | undefined {
    const pod = this.objects.pods.find(
      (each) => each.namespace === namespace && each.name === name,
    );
    return uid === undefined || pod?.uid === uid ? pod : undefined;
  }
}
