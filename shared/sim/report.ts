import { resolveTypes } from '../app/planning/provisioning-input.ts';
import { type Reason, reason, sentence } from '../core/explain/reason.ts';
import { instanceIdOf } from '../core/lifecycle/actions.ts';
import { isTrue } from '../core/lifecycle/conditions.ts';
import type { Condition } from '../core/model/cluster.ts';
import { NODE_POOL } from '../core/model/labels.ts';
import { type Pod, podKey } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import { plannedPods } from '../core/nomination/planned-pods.ts';
import { overlayRemark } from '../core/overlay/remark.ts';
import { changedPrice } from '../core/overlay/resolve.ts';
import { formatResources } from '../core/quantity.ts';
import type { ClusterState, DecisionRecord } from '../ports.ts';
import { readState } from './decode.ts';
import type { JournalEntry } from './journal.ts';
import { isoSeconds } from './timeline.ts';
import type { World } from './world.ts';

export interface ClaimReport {
  readonly name: string;
  readonly nodePool: string | null;
  readonly instanceType: string | null;
  readonly zone: string | null;
  readonly capacityType: string | null;
  /** USD an hour, the list price now; null: no instance. */
  readonly pricePerHour: number | null;
  /** The same with the overlays that applied at its launch. */
  readonly adjustedPricePerHour: number | null;
  /** Those that applied at its launch. */
  readonly overlays: readonly string[];
  readonly pods: readonly string[];
  /** How many of them are there because each such node has one. */
  readonly daemonSetPods: number;
  readonly nodeName: string | null;
  readonly ageSeconds: number;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
    readonly lastTransitionTime: string;
  }[];
}

export interface NodeReport {
  readonly name: string;
  readonly nodeClaim: string | null;
  readonly ready: boolean;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly pods: readonly string[];
}

/** The state of a simulated world at the end of a run. */
export interface FinalState {
  readonly joiner: string;
  readonly region: string;
  readonly seed: number;
  readonly start: string;
  readonly end: string;
  readonly nodeClaims: readonly ClaimReport[];
  readonly nodes: readonly NodeReport[];
  readonly pods: {
    readonly running: number;
    readonly succeeded: number;
    readonly pending: readonly { readonly name: string; readonly reason: string }[];
  };
  readonly nodeOverlays: readonly {
    readonly name: string;
    readonly ready: boolean;
    readonly reason: string;
    readonly message: string;
    /** Why an overlay that is ready changes nothing; empty: it simply works. */
    readonly remark: string;
  }[];
  readonly nodePools: readonly {
    readonly name: string;
    readonly nodes: number;
    readonly resources: Readonly<Record<string, string>>;
    readonly ready: boolean;
  }[];
  readonly rejected: Readonly<Record<string, readonly string[]>>;
  readonly timeline: readonly JournalEntry[];
  readonly decisions: readonly DecisionRecord[];
  readonly totals: {
    readonly pricePerHour: number;
    readonly adjustedPricePerHour: number;
    readonly nodes: number;
    readonly pods: number;
    readonly launched: number;
    readonly terminated: number;
    readonly evictions: number;
    readonly cost: number;
  };
}

/** Sums of prices carry binary noise beyond the tenth digit. */
function dollars(amount: number): number {
  return Number(amount.toFixed(8));
}

function conditionText({ lastTransitionAtMs, ...rest }: Condition) {
  return { ...rest, lastTransitionTime: isoSeconds(lastTransitionAtMs) };
}

/** Pods by the node that they are bound to. */
type PodsByNode = ReadonlyMap<string | undefined, readonly Pod[]>;

function claimReport(world: World, pods: PodsByNode, claim: NodeClaim): ClaimReport {
  const own = claim.nodeName === undefined ? [] : (pods.get(claim.nodeName) ?? []);
  const machine = world.compute.machines.get(instanceIdOf(claim.providerId) ?? '');
  const { overlays = [], priceChange } = world.terms.get(machine?.id ?? '') ?? {};
  const price = machine?.offering.listPrice ?? null;
  return {
    name: claim.name,
    nodePool: claim.labels[NODE_POOL] ?? null,
    instanceType: machine?.instanceType ?? null,
    zone: machine?.zone ?? null,
    capacityType: machine?.capacityType ?? null,
    pricePerHour: price,
    adjustedPricePerHour:
      price === null || priceChange === undefined ? price : changedPrice(price, priceChange),
    overlays,
    pods: own.map(podKey).sort(),
    daemonSetPods: own.filter((pod) => pod.controller?.kind === 'DaemonSet').length,
    nodeName: claim.nodeName ?? null,
    ageSeconds: Math.round((world.timeline.nowMs() - claim.createdAtMs) / 1000),
    conditions: claim.conditions.map(conditionText),
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

function nodeReports(state: ClusterState, pods: PodsByNode): readonly NodeReport[] {
  const { nodes, nodeClaims } = state.objects;
  return [...nodes].sort(byName).map((node) => ({
    name: node.name,
    nodeClaim: nodeClaims.find((each) => each.providerId === node.providerId)?.name ?? null,
    ready: isTrue(node, 'Ready'),
    allocatable: formatResources(node.allocatable),
    pods: (pods.get(node.name) ?? []).map(podKey).sort(),
  }));
}

/** What the launch of a NodeClaim waits for, as it was recorded since it was created. */
function launchAwaits({ recorder }: World, { createdAtMs }: NodeClaim): Reason {
  const capped = recorder.decisions
    .filter(({ atMs }) => atMs >= createdAtMs)
    .flatMap(({ reasons }) => reasons)
    .findLast(({ code }) => code === 'launches-capped');
  return capped ?? reason('instance-awaited', {});
}

/** Why a pod has no node; the NodeClaim is the one that was planned for it. */
function waitingText(world: World, { spec }: Pod, claim: NodeClaim | undefined): string {
  if (spec.hasSchedulingGates) return sentence(reason('pod-gated', {}));
  if (claim === undefined) return 'waiting for a node';
  const isLaunched = claim.providerId !== undefined;
  const why = isLaunched ? reason('node-not-joined', {}) : launchAwaits(world, claim);
  return `waiting for its NodeClaim: ${sentence(why)}`;
}

function podReport(world: World, state: ClusterState): FinalState['pods'] {
  const { pods, nodeClaims } = state.objects;
  const planned = new Map(
    nodeClaims
      .filter((claim) => !isTrue(claim, 'Registered'))
      .flatMap((claim) => plannedPods(claim).map((uid) => [uid, claim] as const)),
  );
  const pending = pods
    .filter((pod) => pod.phase === 'Pending')
    .map((pod) => {
      const name = podKey(pod);
      const isBound = pod.nodeName !== undefined;
      const why = isBound ? 'starting' : waitingText(world, pod, planned.get(pod.uid));
      return { name, reason: world.unplaced.get(name) ?? why };
    });
  return {
    running: pods.filter((pod) => pod.phase === 'Running').length,
    succeeded: pods.filter((pod) => pod.phase === 'Succeeded').length,
    pending: pending.sort(byName),
  };
}

async function overlayReports(
  world: World,
  state: ClusterState,
): Promise<FinalState['nodeOverlays']> {
  const { overlays } = await resolveTypes(world.ports, world.settings, state);
  return [...state.nodeOverlayConditions]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, list]) => {
      const validation = list.find((each) => each.type === 'ValidationSucceeded');
      const ready = list.find((each) => each.type === 'Ready')?.status === 'True';
      const { reason = '', message = '' } = ready ? {} : (validation ?? {});
      const resolved = overlays.find((each) => each.name === name);
      const spec = state.objects.nodeOverlays.find((each) => each.name === name);
      const remark = ready && resolved && spec ? overlayRemark(resolved, spec) : undefined;
      return { name, ready, reason, message, remark: remark ?? '' };
    });
}

/** Everything that can be seen of the world now; arrays sorted, plain data. */
export async function finalState(
  world: World,
  version: string,
  seed: number,
  rejected: FinalState['rejected'],
): Promise<FinalState> {
  const state = readState(world.store);
  const pods = Map.groupBy(state.objects.pods, (pod) => pod.nodeName);
  const claims = [...state.objects.nodeClaims]
    .sort(byName)
    .map((claim) => claimReport(world, pods, claim));
  const nodePools = [...state.objects.nodePools].sort(byName).map((pool) => {
    const usage = state.nodePoolUsage.get(pool.name) ?? {};
    const ready = isTrue(pool, 'Ready');
    const resources = formatResources(usage);
    return { name: pool.name, nodes: usage['nodes'] ?? 0, resources, ready };
  });
  const sum = (price: (claim: ClaimReport) => number | null): number =>
    dollars(claims.reduce((total, claim) => total + (price(claim) ?? 0), 0));
  return {
    joiner: version,
    region: world.ports.catalog.region,
    seed,
    start: isoSeconds(world.startMs),
    end: isoSeconds(world.timeline.nowMs()),
    nodeClaims: claims,
    nodes: nodeReports(state, pods),
    pods: podReport(world, state),
    nodeOverlays: await overlayReports(world, state),
    nodePools,
    rejected,
    timeline: world.journal.entries.map((each) => ({
      ...each,
      pricePerHour: dollars(each.pricePerHour),
    })),
    decisions: world.recorder.decisions,
    totals: {
      pricePerHour: dollars(world.pricePerHour()),
      adjustedPricePerHour: sum((claim) => claim.adjustedPricePerHour),
      nodes: state.objects.nodes.length,
      pods: state.objects.pods.length,
      launched: world.launched,
      terminated: world.terminated,
      evictions: world.evictions,
      cost: dollars(world.cost),
    },
  };
}
