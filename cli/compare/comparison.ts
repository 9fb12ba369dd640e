import { offeringOf, type Rest, restOf } from '../../shared/core/comparison/cluster-at-rest.ts';
import { type JoinersWayResult, joinersWay } from '../../shared/core/comparison/joiners-way.ts';
import {
  karpentersWay,
  type WayInput,
  type WayResult,
} from '../../shared/core/comparison/karpenters-way.ts';
import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { HOURS_A_MONTH } from '../../shared/core/duration.ts';
import { claimOfNode } from '../../shared/core/model/joins.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL } from '../../shared/core/model/labels.ts';
import { BadInput } from '../bad-input.ts';
import { type Bound, lowerBound } from '../bound/bound.ts';
import { packingsOf } from '../packing/at-rest.ts';
import type { Packing } from '../packing/packing.ts';
import type { Progress } from '../progress.ts';
import { counted } from '../words.ts';
import type { Subject } from './subject.ts';

/** The version whose rules are played. */
export const KARPENTER_VERSION = '1.14';

/** Preferences are met from this share on, but for rounding. */
export const NEARLY_ALL = 0.9995;

/** Plans that either way may make to find what can be consolidated: about a minute's. */
export const PLANS_MAX = 400;

/** Nodes of one kind. */
export interface Kind {
  readonly instanceType: string;
  readonly capacityType: string;
  readonly count: number;
}

/** A cluster of NodePools' nodes: what runs, or what a way of deciding comes to. */
export interface Row {
  readonly nodes: number;
  /** List prices. */
  readonly usdPerHour: number;
  readonly usdPerMonth: number;
  /** Pods on these and other nodes, those of DaemonSets apart. */
  readonly podsPlaced: number;
  readonly podsLeft: number;
  /** Pods moved from a node that goes. */
  readonly evictions: number;
  readonly nodesRemoved: number;
  /** Most first. */
  readonly instanceTypes: readonly Kind[];
  /** Nodes whose price is not known: they are not in the sum. */
  readonly nodesUnpriced: number;
}

export interface WayRow extends Row {
  /** False: more could have been found, the plans that may be made were used up. */
  readonly isExhausted: boolean;
}

/** Pods that stay pending for one reason. */
export interface Left {
  readonly why: string;
  /** `namespace/name`, sorted. */
  readonly pods: readonly string[];
}

export interface JoinersRow extends WayRow {
  /** Measured in this run. */
  readonly decideSeconds: number;
  /** Share of the weight of all preferences that is met; undefined: there are none. */
  readonly preferencesMet: number | undefined;
  /** The most pods first. */
  readonly left: readonly Left[];
}

export interface PreferringRow extends WayRow {
  readonly preferencesMet: number;
}

export interface Comparison {
  readonly podsWaiting: number;
  readonly podsRunning: number;
  /** Undefined where no node runs. */
  readonly now: Row | undefined;
  readonly karpentersWay: WayRow;
  readonly joinersWay: JoinersRow;
  /** What any plan has to cost at least for the pods that wait; undefined: nobody asked. */
  readonly bound:
    | (Pick<Bound, 'gapPercent' | 'weaker'> & { readonly usdPerHour: number })
    | undefined;
  /** Joiner, were every preference worth its price; undefined: all are met, or a cluster runs. */
  readonly preferringWay: PreferringRow | undefined;
  readonly difference: {
    readonly usdPerHour: number;
    readonly usdPerMonth: number;
    /** By Karpenter's rules. */
    readonly percent: number;
    readonly nodes: number;
    readonly evictions: number;
  };
  /** The nodes of each way; `now` has none where no node runs. */
  readonly packings: {
    readonly now: Packing | undefined;
    readonly karpentersWay: Packing;
    readonly joinersWay: Packing;
  };
}

/** Nodes by instance type and capacity type, the most first. */
export function nodesByType(nodes: readonly Omit<Kind, 'count'>[]): readonly Kind[] {
  const byKind = Map.groupBy(
    nodes,
    ({ instanceType, capacityType }) => `${instanceType} ${capacityType}`,
  );
  return [...byKind]
    .toSorted(([a, own], [b, other]) => other.length - own.length || (a < b ? -1 : 1))
    .flatMap(([, [first, ...rest]]) =>
      first === undefined
        ? []
        : [
            {
              instanceType: first.instanceType,
              capacityType: first.capacityType,
              count: 1 + rest.length,
            },
          ],
    );
}

/** The cluster's nodes of NodePools, and what they cost. */
export function rowOf({ snapshot, evictions, removed }: Omit<Rest, 'made'>): Row {
  const nodes = snapshot.nodes.filter(({ labels }) => labels[NODE_POOL] !== undefined);
  const prices = nodes.map((node) => {
    const own = { ...claimOfNode(snapshot.nodeClaims, node)?.labels, ...node.labels };
    return offeringOf(snapshot, own)?.offering.listPrice;
  });
  const usdPerHour = prices.reduce<number>((sum, price) => sum + (price ?? 0), 0);
  const pods = snapshot.pods.filter(isReschedulable);
  const placed = pods.filter(({ nodeName }) => nodeName !== undefined).length;
  return {
    nodes: nodes.length,
    usdPerHour,
    usdPerMonth: usdPerHour * HOURS_A_MONTH,
    podsPlaced: placed,
    podsLeft: pods.length - placed,
    evictions,
    nodesRemoved: removed,
    instanceTypes: nodesByType(
      nodes.map(({ labels }) => ({
        instanceType: labels[INSTANCE_TYPE] ?? '?',
        capacityType: labels[CAPACITY_TYPE] ?? '?',
      })),
    ),
    nodesUnpriced: prices.filter((price) => price === undefined).length,
  };
}

function metOf({ plan }: JoinersWayResult): number | undefined {
  const { satisfiedWeight, totalWeight } = plan.preferences;
  return totalWeight > 0 ? satisfiedWeight / totalWeight : undefined;
}

function leftOf({ plan }: JoinersWayResult): readonly Left[] {
  const byReason = Map.groupBy(plan.unplaced, ([, { message }]) => message);
  return [...byReason]
    .map(([why, list]) => ({ why, pods: list.map(([pod]) => pod).sort() }))
    .sort((a, b) => b.pods.length - a.pods.length || (a.why < b.why ? -1 : 1));
}

/** The most that the settings of a stack may say that preferences are worth. */
const WORTH_MAX = 10;

/** What Joiner would plan were its preferences worth their price, as far as that differs. */
function preferringWay(
  { isLive, consolidation }: Subject,
  input: WayInput,
  met: number | undefined,
): PreferringRow | undefined {
  if (isLive || met === undefined || met > NEARLY_ALL) return undefined;
  const preferenceWorth = { zone: WORTH_MAX, other: WORTH_MAX };
  const scheduling = { ...input.scheduling, preferenceWorth };
  const way = joinersWay({ ...input, scheduling }, consolidation);
  return { ...wayRow(way), preferencesMet: metOf(way) ?? 1 };
}

function wayRow(way: WayResult): WayRow {
  return { ...rowOf(way), isExhausted: way.isExhausted };
}

/** What a comparison is made with. */
export interface CompareOptions {
  /** Plans that either way may make. @default 400 */
  readonly plansMax?: number;
  /** Told what is being worked out. @default nobody */
  readonly progress?: Pick<Progress, 'begin'>;
  /** The lower bound, too. @default false */
  readonly bound?: boolean;
}

/** What runs, what Karpenter's rules would make of it, and what Joiner would. */
export async function compared(
  subject: Subject,
  {
    plansMax = PLANS_MAX,
    progress = { begin: () => undefined },
    bound = false,
  }: CompareOptions = {},
): Promise<Comparison> {
  const { snapshot, scheduling, consolidation, nowMs } = subject;
  const input: WayInput = { snapshot, scheduling, nowMs, plansMax };
  const { pods, nodes } = snapshot;
  const size = `${counted(pods.length, 'pod')} and ${counted(nodes.length, 'node')}`;
  progress.begin(`${size}: Joiner`);
  const started = performance.now();
  const ours = joinersWay(input, consolidation);
  const decideSeconds = (performance.now() - started) / 1000;
  const isIgnored = scheduling.preferencePolicy === 'Ignore';
  const preferencesMet = isIgnored ? undefined : metOf(ours);
  const joiner = { ...wayRow(ours), decideSeconds, preferencesMet, left: leftOf(ours) };
  if (bound && snapshot.nodeOverlays.length > 0) {
    throw new BadInput(['--bound: not with NodeOverlays, since list prices are compared']);
  }
  const least = bound ? await lowerBound(snapshot, scheduling, ours.plan, progress) : undefined;
  progress.begin(`${size}: Karpenter's rules`);
  const theirs = karpentersWay(input);
  const karpenter = wayRow(theirs);
  const now = rowOf(restOf(snapshot));
  const usdPerHour = karpenter.usdPerHour - joiner.usdPerHour;
  return {
    podsWaiting: now.podsLeft,
    podsRunning: now.podsPlaced,
    now: now.nodes > 0 ? now : undefined,
    karpentersWay: karpenter,
    joinersWay: joiner,
    bound: least && {
      usdPerHour: least.pricePerHour,
      gapPercent: least.gapPercent,
      weaker: least.weaker,
    },
    preferringWay: preferringWay(subject, input, preferencesMet),
    difference: {
      usdPerHour,
      usdPerMonth: usdPerHour * HOURS_A_MONTH,
      percent: karpenter.usdPerHour > 0 ? (100 * usdPerHour) / karpenter.usdPerHour : 0,
      nodes: karpenter.nodes - joiner.nodes,
      evictions: karpenter.evictions - joiner.evictions,
    },
    packings: packingsOf(snapshot, ours, theirs),
  };
}
