import { age } from '../../shared/core/duration.ts';
import { stageText } from '../../shared/core/explain/parameters.ts';
import { type Reason, sentence } from '../../shared/core/explain/reason.ts';
import type { OfferingChoice } from '../../shared/core/model/plan.ts';
import type { LaunchOptions } from '../../shared/core/scheduling/plan/reasons.ts';
import { isJson } from '../../shared/sim/json.ts';
import { priceText } from '../price-text.ts';
import { NODE_GONE, type NodeRow } from '../top/rows.ts';
import type { ClaimExplanation } from './claim.ts';
import type { BoundPlace, ExistingNodes, Place, PodExplanation } from './pod.ts';
import { remediesOf } from './remedies.ts';
import type { WorkloadExplanation } from './workload.ts';

/** Pods that are named; JSON has them all. */
const NAMED_MAX = 10;

type Line = readonly [string, string];

/** Labels in one column, what they stand for in the next. */
function lines(all: readonly Line[]): string {
  const width = Math.max(...all.map(([label]) => label.length));
  return all.map(([label, text]) => `  ${label.padEnd(width)}   ${text}`.trimEnd()).join('\n');
}

function offering({ type, capacityType, zone, price, listPrice }: OfferingChoice): string {
  const list = price === listPrice ? '' : ` after overlays, list price ${priceText(listPrice)}/h`;
  return `${type} ${capacityType} in ${zone} at ${priceText(price)}/h${list}`;
}

function named(pods: readonly string[]): string {
  if (pods.length === 0) return 'none';
  const more = pods.length - NAMED_MAX;
  return `${pods.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function steps({ nodePool, types, stages, left }: LaunchOptions): Line {
  const all = [`${types} types`, ...stages.map(stageText)].join(' → ');
  return [nodePool, stages.length === 0 ? `${left} types, all suitable` : all];
}

/** What keeps a pod from the nodes that there are. */
function existingPart({ nodes, obstacles }: ExistingNodes): readonly string[] {
  if (obstacles.length === 0) return [];
  const of = (each: number): string => `${each} of ${nodes}`;
  const told = obstacles.map((each): Line => [of(each.nodes), `not by ${sentence(each.why)}`]);
  return [`Existing nodes that do not take it\n${lines(told)}`];
}

/** What a person can do, by the codes of docs/reasons.md. */
function remedyPart(reasons: readonly Reason[]): readonly string[] {
  const all = remediesOf(reasons).map(({ code, remedy }): Line => [code, remedy]);
  return all.length === 0 ? [] : [`What to do, by reason\n${lines(all)}`];
}

function rowText({ instanceType, capacityType, zone, nodePool, pricePerHour }: NodeRow): string {
  const price = pricePerHour === undefined ? 'of unknown price' : `${priceText(pricePerHour)}/h`;
  const what = `${instanceType ?? '?'} ${capacityType ?? '?'} in ${zone ?? '?'}, ${price}`;
  return nodePool === undefined ? `${what}, of no NodePool` : `${what}, of NodePool ${nodePool}`;
}

function boundLines({ node, isGone, row, because, otherPods }: BoundPlace): readonly Line[] {
  if (isGone) return [['is on', `${node}, which is gone`]];
  return [
    ['is on', node],
    ...(row === undefined ? [] : [['which is', rowText(row)] as const]),
    ['because', `kube-scheduler chose it${because === undefined ? '' : `; ${because}`}`],
    ['with', named(otherPods)],
  ];
}

function placeLines({ place }: PodExplanation): readonly Line[] {
  switch (place.kind) {
    case 'bound':
      return boundLines(place);
    case 'existing':
      return [['would go to', `${place.node}, which is there or on its way`]];
    case 'none':
      return [['stays pending', place.why]];
    case 'new': {
      const { nodePool, chosen, runnerUp, overlays, instanceTypes, otherPods } = place;
      return [
        ['would get', `a new node of NodePool ${nodePool}: ${offering(chosen)}`],
        ['runner-up', runnerUp === undefined ? 'none' : `${offering(runnerUp)}: ${runnerUp.why}`],
        ['overlays', overlays.length === 0 ? 'none' : overlays.join(', ')],
        ['types left', `${instanceTypes.length} for the launch, cheapest first`],
        ['with', named(otherPods)],
      ];
    }
  }
}

/** For people: where the pod goes, and what was there to choose from. */
export function renderPod(explanation: PodExplanation): string {
  const { pod, phase, place, options, existing } = explanation;
  const parts = [`Pod ${pod}\n${lines([['phase', phase], ...placeLines(explanation)])}`];
  if (options.length > 0) {
    parts.push(`A node of its own, by NodePool\n${lines(options.map(steps))}`);
  }
  if (place.kind === 'none' || place.kind === 'new') parts.push(...existingPart(existing));
  if (place.kind === 'none') parts.push(...remedyPart(place.reasons ?? []));
  return parts.join('\n\n');
}

/** The node of a pod, and what it is where that is known. */
function nodeText({ node, isGone, row }: BoundPlace): string {
  if (isGone) return `${node}, which is gone`;
  return row === undefined ? node : `${node}: ${rowText(row)}`;
}

/** A place in one line. */
function placeText(place: Place): string {
  switch (place.kind) {
    case 'bound':
      return `on ${nodeText(place)}`;
    case 'existing':
      return `would go to ${place.node}, which is there or on its way`;
    case 'none':
      return `stays as it is: ${place.why}`;
    case 'new':
      return `would get a new node of NodePool ${place.nodePool}: ${offering(place.chosen)}`;
  }
}

/** For people: pods in the same place or with the same reason are told together. */
export function renderWorkload(explanation: WorkloadExplanation): string {
  const { workload, namespace, name, pods, options, existing } = explanation;
  const groups = Map.groupBy(pods, ({ phase, place }) => `${phase}, ${placeText(place)}`);
  const told = [...groups].flatMap(([text, all]): readonly Line[] => [
    [`${all.length} of ${pods.length}`, text],
    ['', named(all.map(({ pod }) => pod))],
  ]);
  const parts = [`${workload} ${namespace}/${name}\n${lines(told)}`];
  if (options.length > 0) {
    parts.push(`A node for one of its pods, by NodePool\n${lines(options.map(steps))}`);
  }
  const waiting = pods.flatMap(({ place }) => (place.kind === 'none' ? [place] : []));
  if (waiting.length > 0) parts.push(...existingPart(existing));
  parts.push(...remedyPart(waiting.flatMap(({ reasons = [] }) => reasons)));
  return parts.join('\n\n');
}

function fateLine({ fate }: ClaimExplanation): Line {
  if (fate.kind === 'stays') {
    return ['now', fate.why === undefined ? 'stays as it is' : `stays: ${fate.why}`];
  }
  if (fate.kind === 'starts') return ['now', `starts: ${fate.why}`];
  if (fate.kind === 'held') return ['now', `is held back: ${fate.why.join('; ')}`];
  const { replacedBy, why } = fate;
  const when = replacedBy.length === 0 ? 'goes' : `goes once ${replacedBy.length} new are ready`;
  return ['now', `${when}: ${why}`];
}

/** What keeps the node beyond that, layer by layer. */
function furtherLines({ further, fate }: ClaimExplanation): readonly Line[] {
  if (further === undefined) return [];
  const { layers, goes } = further;
  const kept = layers.map(({ why }): Line => ['without that', `stays: ${why}`]);
  if (goes) return [...kept, ['without that', 'goes']];
  const now = fate.kind === 'stays' || fate.kind === 'held' ? fate.reasons : [];
  const last = layers.at(-1)?.reasons ?? now;
  // Nothing is wrong with a node whose pods run nowhere cheaper.
  const isRight = last.some(({ code }) => code === 'pods-not-cheaper');
  return isRight ? kept : [...kept, ['without that', 'not known']];
}

/** What the claim's annotation says of an offering. */
function noted({ type, capacityType, zone, price }: Readonly<Record<string, unknown>>): string {
  return `${type} ${capacityType} in ${zone}, ${priceText(Number(price))}/h`;
}

/** What the plan chose, and what it would have chosen else, where the annotation says so. */
function plannedLines({ planned }: ClaimExplanation): readonly Line[] {
  if (planned === undefined) return [];
  const { runnerUp } = planned;
  const next: readonly Line[] = isJson(runnerUp) ? [['runner-up', noted(runnerUp)]] : [];
  const none: readonly Line[] = runnerUp === null ? [['runner-up', 'none: no other fits']] : [];
  return [['planned as', noted(planned)], ...next, ...none];
}

/** For people: what the claim is, how it came to be, and what would become of it. */
export function renderClaim(explanation: ClaimExplanation): string {
  const { row, decision, conditions, annotations, pods, fate, further } = explanation;
  const price =
    row.pricePerHour === undefined ? 'of unknown price' : `${priceText(row.pricePerHour)}/h`;
  const about: readonly Line[] = [
    [
      'node',
      row.node ?? (row.state.includes(NODE_GONE) ? 'gone, after it had joined' : 'none yet'),
    ],
    ['NodePool', row.nodePool ?? 'none'],
    ['is', `${row.instanceType ?? '?'} ${row.capacityType ?? '?'} in ${row.zone ?? '?'}, ${price}`],
    ...plannedLines(explanation),
    ...(decision === undefined ? [] : [['decision', decision] as const]),
    ['age', age(row.ageSeconds)],
    ['pods', named(pods)],
    fateLine(explanation),
    ...furtherLines(explanation),
  ];
  const said = conditions.map(({ type: name, status, reason, message }): Line => {
    const why = [reason === name ? '' : reason, message].filter((each) => each !== '').join(': ');
    return [name, `${status.padEnd(7)} ${why}`];
  });
  const kept = fate.kind === 'goes' ? [] : fate.reasons;
  const layers = further?.layers.flatMap(({ reasons }) => reasons) ?? [];
  const parts = [`NodeClaim ${row.nodeClaim ?? ''}\n${lines(about)}`];
  parts.push(...remedyPart([...kept, ...layers]));
  if (said.length > 0) parts.push(`Conditions\n${lines(said)}`);
  const facts = Object.entries(annotations);
  if (facts.length > 0) parts.push(`Noted on it\n${lines(facts)}`);
  return parts.join('\n\n');
}
