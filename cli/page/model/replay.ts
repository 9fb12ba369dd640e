import { isJson, type Json, listAt, textAt } from '../../../shared/sim/json.ts';
import { count, pricesIn } from '../draw/text.ts';
import { currencyIn, fact, launchesIn, price, together, unplacedBy } from './facts.ts';
import type { CostRow, DecisionModel, PageModel, Scene } from './model.ts';
import { coloursOf, packingAt, sceneOf } from './scene.ts';

/** Recordings that are drawn: each has a whole cluster. */
const DRAWN_MAX = 20;

/** `provision of 2026-01-01T00:05:00Z`. */
function titleOf(recording: Json): string {
  const at = (textAt(recording, 'at') ?? '').replace(/\.\d+Z$/, 'Z');
  return `${textAt(recording, 'useCase') ?? ''} of ${at}`;
}

/** New nodes of a plan, or replacements of moves. */
function claimsIn(recording: Json): readonly Json[] {
  const moves = listAt(recording, 'answer', 'moves').filter(isJson);
  return [
    ...listAt(recording, 'answer', 'newNodeClaims'),
    ...moves.flatMap((move) => listAt(move, 'replacements')),
  ].filter(isJson);
}

function removedIn(recording: Json): number {
  const moves = listAt(recording, 'answer', 'moves').filter(isJson);
  return moves.reduce((sum, move) => sum + listAt(move, 'nodes').length, 0);
}

function costOf(recording: Json): CostRow {
  const claims = claimsIn(recording);
  const removed = removedIn(recording);
  const gone = removed > 0 ? `, ${count(removed, 'node')} removed` : '';
  return {
    label: titleOf(recording),
    perHour: claims.reduce((sum, claim) => sum + price(claim, 'chosen', 'listPrice'), 0),
    note: `${count(claims.length, 'new node')}${gone}`,
    tone: recording['same'] === true ? 'after' : 'before',
  };
}

/** Pairs of a name and a text, as answers have them. */
function pairsAt(recording: Json, key: string): readonly (readonly [string, string])[] {
  return listAt(recording, 'answer', key).flatMap((pair) => {
    if (!Array.isArray(pair)) return [];
    const [name, said]: readonly unknown[] = pair;
    const texts: unknown = Array.isArray(said) ? said.join('; ') : said;
    const why = isJson(said) ? textAt(said, 'message') : String(texts);
    return [[String(name), why ?? ''] as const];
  });
}

/** Where the result is another one now. */
function differencesIn(recording: Json): readonly DecisionModel[] {
  const list = listAt(recording, 'differences').filter(isJson);
  return list.map((each) => ({
    at: undefined,
    action: 'another result',
    object: `${titleOf(recording)}: ${textAt(each, 'path') || 'the whole'}`,
    others: [],
    why: `recorded ${textAt(each, 'recorded') ?? 'nothing'}, now ${textAt(each, 'now') ?? 'nothing'}`,
  }));
}

function decisionsIn(recording: Json, scene: Scene | undefined, isOne: boolean) {
  const prices = pricesIn(textAt(recording, 'currency') === 'CNY' ? 'CNY' : 'USD');
  const nodes = scene?.nodes ?? [];
  const removed = nodes
    .filter(({ state }) => state === 'leaves')
    .map(({ name, why }) => ({ at: undefined, action: 'remove', object: name, others: [], why }));
  const kept = pairsAt(recording, 'refusals').map(([object, why]) => {
    return { at: undefined, action: 'keep', object, others: [], why };
  });
  const launches = scene === undefined ? [] : launchesIn(scene, prices);
  return together([...launches, ...removed, ...kept]).map((each) => ({
    ...each,
    object: isOne ? each.object : `${titleOf(recording)}: ${each.object}`,
  }));
}

function scenesOf(recordings: readonly Json[]): readonly (Scene | undefined)[] {
  const packings = recordings.slice(0, DRAWN_MAX).map((each) => packingAt(each, 'packing'));
  const colours = coloursOf(packings.filter((each) => each !== undefined));
  return recordings.map((each, at) => {
    const packing = packings[at];
    return packing && sceneOf(titleOf(each), packing, colours);
  });
}

function leadOf(recordings: readonly Json[], others: number): string {
  const decisions = `${count(recordings.length, 'recorded decision')} made again`;
  if (others === 0) {
    return `${decisions}: ${recordings.length === 1 ? 'it is' : 'all are'} the same, byte for byte.`;
  }
  return `${decisions}: ${others} ${others === 1 ? 'has' : 'have'} another result.`;
}

function notesOf(recordings: readonly Json[], version: string): readonly string[] {
  const made = [...new Set(recordings.map((each) => textAt(each, 'joiner') ?? ''))];
  const other = made.filter((each) => each !== version);
  const more = recordings.length - DRAWN_MAX;
  return [
    ...(other.length > 0 ? [`Recorded by Joiner ${other.join(', ')}.`] : []),
    ...(more > 0 ? [`The last ${count(more, 'recording')} are in the table of costs only.`] : []),
  ];
}

/** Files are given in any order. */
function byTime(a: Json, b: Json): number {
  const [first, second] = [textAt(a, 'at') ?? '', textAt(b, 'at') ?? ''];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** The page of what `replay -o json` prints. */
export function replayModel(subject: string, json: Json): PageModel {
  const recordings = listAt(json, 'recordings').filter(isJson).toSorted(byTime);
  const others = recordings.filter((each) => each['same'] !== true).length;
  const found = scenesOf(recordings);
  const scenes = found.filter((each) => each !== undefined);
  const costs = recordings.map(costOf);
  const currency = currencyIn(json, scenes);
  const prices = pricesIn(currency);
  const launched = recordings.reduce((all, each) => all + claimsIn(each).length, 0);
  const isOne = recordings.length === 1;
  const version = textAt(json, 'joiner') ?? '';
  const left = recordings.flatMap((each) => [
    ...pairsAt(each, 'unplaced'),
    ...pairsAt(each, 'ignored'),
  ]);
  return {
    command: 'replay',
    subject,
    lead: leadOf(recordings, others),
    headlines: [
      { value: (recordings.length - others).toLocaleString('en'), label: 'the same' },
      { value: others.toLocaleString('en'), label: 'with another result' },
      { value: launched.toLocaleString('en'), label: 'new nodes' },
      // Nodes of different moments did not run together: only those of one have a price an hour.
      ...(isOne ? costs : []).map(({ perHour }) => {
        return { value: prices.perHour(perHour), label: 'an hour for these' };
      }),
    ],
    facts: fact('Joiner', version),
    currency,
    costs,
    verdict: '',
    scenes,
    history: null,
    decisions: [
      ...recordings.flatMap(differencesIn),
      ...recordings.flatMap((each, at) => decisionsIn(each, found[at], isOne)),
    ],
    stays: [],
    events: [],
    unplaced: unplacedBy(left),
    notes: notesOf(recordings, version),
  };
}
