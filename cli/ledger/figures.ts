import type { RecordingJson } from '../../shared/app/recording/recording.ts';
import { consolidationOf, planningOf } from '../../shared/app/recording/replayed.ts';
import { offeringOf } from '../../shared/core/comparison/cluster-at-rest.ts';
import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { consolidate } from '../../shared/core/disruption/consolidation/consolidate.ts';
import { settingsFor } from '../../shared/core/disruption/consolidation/consolidation-guard.ts';
import type { Consolidation } from '../../shared/core/disruption/consolidation/search.ts';
import type { Currency } from '../../shared/core/model/currency.ts';
import { claimOfNode } from '../../shared/core/model/joins.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import { planWhole } from '../../shared/core/rollouts/part-plan.ts';
import { firstFit } from '../../shared/core/scheduling/first-fit/first-fit.ts';
import {
  type Move,
  type PlanAnswer,
  type Planned,
  recordedMoves,
  recordedPlan,
} from './answers.ts';
import type { NamedRecording } from './files.ts';
import { HOUR_MS } from './lives.ts';

/** A new node of a plan. */
export interface PlannedNode {
  readonly nodePool: string;
  readonly type: string;
  readonly zone: string;
  readonly capacityType: string;
  /** USD an hour, list price. */
  readonly usdPerHour: number;
  /** `namespace/name`, sorted; those that were expected are not among them. */
  readonly pods: readonly string[];
}

/** The new nodes that a plan of `provision` has. */
export interface LaunchFigures {
  readonly nodes: readonly PlannedNode[];
  readonly usdPerHour: number;
  /** Pods that wait and have a place, on nodes that are new or there. */
  readonly podsPlaced: number;
}

/** A node that comes in place of others. */
export type NewNode = Omit<PlannedNode, 'pods'>;

/** A move of a search. */
export interface MoveFigures {
  /** NodeClaims of the nodes that go, sorted. */
  readonly claims: readonly string[];
  /** USD an hour, list prices: of the nodes that go, and of what comes in their place. */
  readonly beforeUsdPerHour: number;
  readonly afterUsdPerHour: number;
  readonly replacements: number;
  /** Pods that are moved. */
  readonly evictions: number;
  /** The move has to pay back in this time: for so long its saving is counted. */
  readonly horizonHours: number;
}

/** A move with the nodes that come in place of those that go. */
export interface PlannedMove extends MoveFigures {
  readonly newNodes: readonly NewNode[];
}

interface Head {
  readonly file: string;
  readonly joiner: string;
  readonly atMs: number;
  /** Of all amounts; fields are named for USD. */
  readonly currency: Currency;
}

/** A recorded launch, and what Karpenter's documented rules plan for the same pods. */
export interface LaunchFacts extends Head {
  readonly useCase: 'provision';
  readonly recorded: LaunchFigures;
  readonly firstFit: LaunchFigures;
}

/** A recorded search for moves. */
export interface SearchFacts extends Head {
  readonly useCase: 'disrupt';
  readonly recorded: readonly PlannedMove[];
}

export type Facts = LaunchFacts | SearchFacts;

type ProvisionJson = Extract<RecordingJson, { readonly useCase: 'provision' }>;
type DisruptJson = Extract<RecordingJson, { readonly useCase: 'disrupt' }>;

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, each) => all + each, 0);
}

/** The new nodes of a plan that are for pods that are there, and what they cost. */
export function launchFigures(plan: PlanAnswer, isThere: (pod: string) => boolean): LaunchFigures {
  const nodes = plan.newNodeClaims
    .map((each): PlannedNode => ({ ...newNodeOf(each), pods: each.pods.filter(isThere) }))
    .filter(({ pods }) => pods.length > 0);
  const elsewhere = plan.existing.flatMap(({ pods }) => pods.filter(isThere));
  return {
    nodes,
    usdPerHour: sum(nodes.map(({ usdPerHour }) => usdPerHour)),
    podsPlaced: sum(nodes.map(({ pods }) => pods.length)) + elsewhere.length,
  };
}

/** Whether the recorded plan has nodes that are larger because of expected pods. */
function hasExpected(plan: PlanAnswer): boolean {
  return plan.newNodeClaims.some(({ expectedPods = 0 }) => expectedPods > 0);
}

/**
 * What Karpenter's documented rules plan for the pods of a recorded plan. Where nodes of the plan
 * are larger because of expected pods, these are planned too, and nodes for them alone are left out
 * of both plans.
 */
export function firstFitFigures(
  recording: ProvisionJson,
  { snapshot, settings, expected } = planningOf(recording),
): LaunchFigures {
  const more = hasExpected(recordedPlan(recording.answer)) ? expected : [];
  const keys = keysOf(snapshot);
  const plan = firstFit({ ...snapshot, pods: [...snapshot.pods, ...more] }, settings);
  return launchFigures(plan, (pod) => keys.has(pod));
}

function keysOf({ pods }: ClusterSnapshot): ReadonlySet<string> {
  return new Set(pods.map(({ namespace, name }) => `${namespace}/${name}`));
}

/** What this version plans, on a snapshot that may have been changed. */
export function plannedFigures({
  snapshot,
  settings,
  expected,
}: ReturnType<typeof planningOf>): LaunchFigures {
  const keys = keysOf(snapshot);
  return launchFigures(planWhole(snapshot, settings, expected), (pod) => keys.has(pod));
}

function newNodeOf({ nodePool, chosen }: Planned): NewNode {
  const { type, zone, capacityType, listPrice: usdPerHour } = chosen;
  return { nodePool, type, zone, capacityType, usdPerHour };
}

function moveFigures(search: Consolidation, moves: readonly Move[]): readonly PlannedMove[] {
  const { snapshot, candidates, settings, pools } = search;
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  return moves.map(({ nodes: names, replacements }) => {
    const going = names.flatMap((name) => nodes.get(name) ?? []);
    const prices = going.map((node) => {
      const labels = { ...claimOfNode(snapshot.nodeClaims, node)?.labels, ...node.labels };
      return offeringOf(snapshot, labels)?.offering.listPrice ?? 0;
    });
    const gone = new Set(names);
    const own = candidates.filter(({ node }) => gone.has(node.name));
    return {
      claims: going.map((node) => claimOfNode(snapshot.nodeClaims, node)?.name ?? '').sort(),
      beforeUsdPerHour: sum(prices),
      afterUsdPerHour: sum(replacements.map(({ chosen }) => chosen.listPrice)),
      replacements: replacements.length,
      newNodes: replacements.map(newNodeOf),
      evictions: snapshot.pods.filter((pod) => gone.has(pod.nodeName ?? '') && isReschedulable(pod))
        .length,
      horizonHours: settingsFor(own, settings, pools).horizonMs / HOUR_MS,
    };
  });
}

/** What this version moves, on a search that may have been changed. */
export function searchedFigures(search: Consolidation): readonly MoveFigures[] {
  const moves = consolidate(search).moves.map(({ nodes, replacements }) => {
    return { nodes: nodes.map(({ node }) => node.name), replacements };
  });
  return moveFigures(search, moves);
}

function headOf({ file, recording }: NamedRecording, { currency }: SchedulingSettings): Head {
  return { file, joiner: recording.joiner, atMs: Date.parse(recording.at), currency };
}

function launchFacts(named: NamedRecording, recording: ProvisionJson): LaunchFacts {
  const planning = planningOf(recording);
  const keys = keysOf(planning.snapshot);
  return {
    ...headOf(named, planning.settings),
    useCase: 'provision',
    recorded: launchFigures(recordedPlan(recording.answer), (pod) => keys.has(pod)),
    firstFit: firstFitFigures(recording, planning),
  };
}

function searchFacts(named: NamedRecording, recording: DisruptJson): SearchFacts {
  const search = consolidationOf(recording);
  return {
    ...headOf(named, search.scheduling),
    useCase: 'disrupt',
    recorded: moveFigures(search, recordedMoves(recording.answer)),
  };
}

/** What a ledger needs of a recording: without the cluster that it contains. */
export function factsOf(named: NamedRecording): Facts {
  const { recording } = named;
  return recording.useCase === 'provision'
    ? launchFacts(named, recording)
    : searchFacts(named, recording);
}
