import { isJson, type Json, listAt, numberAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import { STRETCH_GAP_MS } from '../../../shared/sim/memory.ts';
import type { History } from '../../packing/film.ts';
import type { PackedNode, Packing } from '../../packing/packing.ts';
import { clock, type Prices } from '../draw/text.ts';
import { boundText, plannedText, price, together } from './facts.ts';
import type { DecisionModel, StayModel } from './model.ts';
import { claimsOf, movesOf, moveText, reasonIn, withSavings } from './moves.ts';

/** Steps of every node's life, which the picture shows. */
const USUAL: ReadonlySet<string> = new Set([
  'created',
  'launched',
  'registered',
  'ready',
  'running',
  'drained',
  'terminating',
  'removed',
  'deleted',
]);

const NO_ACTIONS: ReadonlySet<string> = new Set(['none', 'unchanged']);

function secondsOf(json: Json, record: Json): number {
  const start = Date.parse(textAt(json, 'start') ?? '');
  return Math.round(price(record, 'atMs') - start) / 1000;
}

function recordsIn(json: Json): readonly Json[] {
  return listAt(json, 'decisions').filter(isJson);
}

/** What a node that no decision of its own created was launched as. */
function launchesOf(json: Json, nodes: readonly PackedNode[], prices: Prices) {
  const created = new Set(
    recordsIn(json)
      .filter((each) => textAt(each, 'action') === 'create')
      .map((each) => textAt(each, 'object') ?? ''),
  );
  return nodes.flatMap((node): readonly DecisionModel[] => {
    const object = `NodeClaim/${node.nodeClaim ?? node.name}`;
    if (node.life === null || created.has(object)) return [];
    const { instanceType, capacityType, zone, listPrice, runnerUp, replaces } = node;
    const next =
      runnerUp === null
        ? ''
        : `; runner-up ${runnerUp.type} ${runnerUp.capacityType} in ${runnerUp.zone} at ${prices.perHour(runnerUp.price)}/h: ${runnerUp.why}`;
    const cost = listPrice === null ? ', price unknown' : ` at ${prices.perHour(listPrice)}/h`;
    const what = `${instanceType ?? ''} ${capacityType ?? ''} in ${zone ?? ''}${cost}`;
    const instead = replaces.length === 0 ? '' : `, in the place of ${replaces.join(', ')}`;
    const action = replaces.length === 0 ? 'launch' : 'launch, as replacement';
    return [
      { at: node.life.launched, action, object, others: [], why: `${what}${instead}${next}` },
    ];
  });
}

/** Times in texts, as times since the start. */
function timed(why: string, start: string): string {
  const startMs = Date.parse(start);
  return why.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (text) => {
    const seconds = (Date.parse(text) - startMs) / 1000;
    return seconds >= 0 ? clock(seconds) : text;
  });
}

const GIVEN_UP: ReadonlySet<string> = new Set([
  'InsufficientCapacityError',
  'LaunchesPaused',
  'NodeClassNotReady',
]);

/** Why claims got no instance, by the claim: the record of it is one for all of a NodePool. */
function failuresIn(json: Json): ReadonlyMap<string, string> {
  const failed = listAt(json, 'timeline')
    .filter(isJson)
    .filter((each) => GIVEN_UP.has(textAt(each, 'kind') ?? ''))
    .map((each) => [textAt(each, 'object') ?? '', textAt(each, 'message') ?? ''] as const);
  return new Map(failed);
}

/** What was done in a simulation, and what pods had no node. */
export function decisionsOf(
  json: Json,
  { nodes, ladders }: Packing,
  prices: Prices,
): readonly DecisionModel[] {
  const byClaim = claimsOf(nodes);
  const boundOf = (record: Json): string => {
    const name = (textAt(record, 'object') ?? '').replace(/^NodeClaim\//, '');
    const ladder = ladders[byClaim.get(name)?.ladder ?? -1];
    const bound = ladder === undefined ? '' : boundText(ladder);
    return reasonIn(record, 'only-offering') === undefined || bound === '' ? '' : `: ${bound}`;
  };
  const failures = failuresIn(json);
  const failureOf = (record: Json): string => {
    const why = failures.get(textAt(record, 'object') ?? '');
    return why === undefined || textAt(record, 'action') !== 'create'
      ? ''
      : `; not launched: ${why}`;
  };
  const records = recordsIn(json).filter((each) => {
    const action = textAt(each, 'action') ?? '';
    return action !== 'launch' && !NO_ACTIONS.has(action);
  });
  const rows = movesOf(records).map((move) => {
    const [record, ...others] = move;
    const isMove = others.length > 0;
    const own = plannedText(textAt(record, 'message') ?? '') + boundOf(record) + failureOf(record);
    const decision = {
      at: secondsOf(json, record),
      action: textAt(record, 'action') ?? '',
      object: textAt(record, 'object') ?? '',
      others: others.map((each) => textAt(each, 'object') ?? ''),
      why: isMove ? moveText(move, byClaim, prices) : own,
    };
    return { record, decision };
  });
  const keyOf = ({ at, action, object }: DecisionModel): string =>
    JSON.stringify([at, action, object]);
  const recordOf = new Map(rows.map(({ record, decision }) => [keyOf(decision), record]));
  const decisions = together(rows.map(({ decision }) => decision)).map((each) =>
    withSavings(each, recordOf.get(keyOf(each)) ?? {}, byClaim, prices),
  );
  const start = textAt(json, 'start') ?? '';
  return [...decisions, ...launchesOf(json, nodes, prices)]
    .map((each) => ({ ...each, why: timed(each.why, start) }))
    .toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

/** Why the passes of one record did nothing. */
function talliesIn(record: Json): readonly Pick<StayModel, 'object' | 'more' | 'why'>[] {
  const [reason] = listAt(record, 'reasons');
  const tallies = listAt(reason, 'parameters', 'reasons').filter(isJson);
  if (textAt(record, 'action') !== 'unchanged' || tallies.length === 0) {
    const object = textAt(record, 'object') ?? '';
    return [{ object, more: 0, why: textAt(record, 'message') ?? '' }];
  }
  return tallies.map((each) => ({
    object: textAt(each, 'example') ?? '',
    more: price(each, 'count') - 1,
    why: textAt(each, 'text') ?? '',
  }));
}

/** One row for what records of passes one after the other say of the same object. */
function merged(list: readonly StayModel[]): readonly StayModel[] {
  const alike = Map.groupBy(list, ({ useCase, object, more, why }) =>
    JSON.stringify([useCase, object, more, why]),
  );
  return [...alike.values()].flatMap((each) => {
    const rows: StayModel[] = [];
    for (const next of each.toSorted((a, b) => a.first - b.first)) {
      const row = rows.at(-1);
      if (row === undefined || next.first - row.last > STRETCH_GAP_MS / 1000) rows.push(next);
      else {
        const times = (row.times ?? 0) + (next.times ?? 0);
        rows[rows.length - 1] = { ...row, last: Math.max(row.last, next.last), times };
      }
    }
    return rows;
  });
}

/** What the passes that made a record did not do: the record itself where it was made once. */
function staysIn(json: Json, record: Json): readonly StayModel[] {
  const useCase = textAt(record, 'useCase') ?? '';
  const at = secondsOf(json, record);
  const once: Json = { first: at, last: at, times: 1, record };
  const repeats = listAt(json, 'history', 'repeats', textAt(record, 'id') ?? '').filter(isJson);
  return (repeats.length === 0 ? [once] : repeats).flatMap((each) => {
    const [first, last] = [price(each, 'first'), price(each, 'last')];
    const times = numberAt(each, 'times') ?? 1;
    const tallies = talliesIn(objectAt(each, 'record'));
    return tallies.map((tally) => ({ ...tally, useCase, first, last, times }));
  });
}

/** What was not done in a simulation, and why. */
export function staysOf(json: Json, history: History | null): readonly StayModel[] {
  const stays = recordsIn(json)
    .filter((each) => NO_ACTIONS.has(textAt(each, 'action') ?? ''))
    .flatMap((each) => staysIn(json, each));
  const paused = (history?.pauses ?? []).map(({ nodePool, part, window, from, to }) => ({
    object: `NodePool/${nodePool}`,
    more: 0,
    why: `${part === 'launch' ? 'Launches' : 'Disruptions'} are paused: ${window}`,
    useCase: part === 'launch' ? 'provision' : 'disrupt',
    first: from,
    last: to ?? history?.seconds ?? from,
    times: null,
  }));
  return [...paused, ...merged(stays)].toSorted((a, b) => a.first - b.first);
}

/** Of conditions, the first that all is well is nothing to tell. */
function toldIn(list: readonly Json[]): readonly Json[] {
  const known = new Set<string>();
  return list.filter((each) => {
    const kind = textAt(each, 'kind') ?? '';
    if (kind !== 'status') return !USUAL.has(kind);
    const object = textAt(each, 'object') ?? '';
    const isFirst = !known.has(object);
    known.add(object);
    return !isFirst || textAt(each, 'message') !== 'Ready=True';
  });
}

/** What happened beside decisions. */
export function eventsOf(json: Json): readonly DecisionModel[] {
  return together(
    toldIn(listAt(json, 'timeline').filter(isJson)).map((each) => ({
      at: price(each, 'at'),
      action: textAt(each, 'kind') ?? '',
      object: textAt(each, 'object') ?? '',
      others: [],
      why: textAt(each, 'message') ?? '',
    })),
  );
}
