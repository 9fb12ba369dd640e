import { isJson, type Json, listAt, numberAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import { count, type Prices, pricesIn } from '../draw/text.ts';
import { differencesOf, partsText, SHOWN_MIN } from './differences.ts';
import { currencyIn, fact, launchesIn, price, textsIn, weakerNote } from './facts.ts';
import type { CostRow, PageModel, Unplaced } from './model.ts';
import { coloursOf, packingAt, sceneOf } from './scene.ts';

const WAYS = [
  ['now', 'Now', 'before'],
  ['karpentersWay', "Karpenter's rules", 'before'],
  ['joinersWay', 'Joiner', 'after'],
  ['preferringWay', 'Joiner, every preference met', 'bound'],
] as const;

function costsOf(json: Json): readonly CostRow[] {
  return WAYS.flatMap(([key, label, tone]) => {
    const row = json[key];
    if (!isJson(row)) return [];
    const left = price(row, 'podsLeft');
    const pods = count(price(row, 'podsPlaced'), 'pod');
    const note = `${count(price(row, 'nodes'), 'node')}, ${pods}${left > 0 ? `, ${left} left` : ''}`;
    return [{ label, perHour: price(row, 'usdPerHour'), note, tone }];
  });
}

/** What any plan costs at least, where it was computed. */
function boundOf(json: Json): readonly CostRow[] {
  const perHour = numberAt(json, 'bound', 'usdPerHour');
  if (perHour === undefined) return [];
  const gap = numberAt(json, 'bound', 'gapPercent');
  const above = gap === undefined ? '' : `; Joiner is at most ${gap.toFixed(1)} % above it`;
  const note = `no plan costs less${above}${weakerNote(json)}`;
  return [{ label: 'Lower bound', perHour, note, tone: 'bound' }];
}

function leftOf(json: Json): readonly Unplaced[] {
  return listAt(json, 'joinersWay', 'left')
    .filter(isJson)
    .map((each) => ({ why: textAt(each, 'why') ?? '', pods: textsIn(each, 'pods') }));
}

/** One sentence: what costs less than Karpenter's rules, and how much. */
function savedText(what: string, perHour: number, prices: Prices): string {
  if (Math.abs(perHour) < SHOWN_MIN) return `${what} costs the same as Karpenter's rules.`;
  const amount = prices.perMonth(Math.abs(perHour));
  return `${what} costs ${amount} a month ${perHour > 0 ? 'less' : 'more'} than Karpenter's rules.`;
}

/** Where a part of the saving is preferences that are not met; empty: all are, or there are none. */
function preferringText(json: Json, prices: Prices): readonly string[] {
  const [met, preferring] = [
    numberAt(json, 'joinersWay', 'preferencesMet'),
    numberAt(json, 'preferringWay', 'usdPerHour'),
  ];
  if (met === undefined || preferring === undefined) return [];
  const saved = price(json, 'karpentersWay', 'usdPerHour') - preferring;
  const left = `It leaves ${(100 * (1 - met)).toFixed(0)} % of the preferences by weight unmet.`;
  return [left, savedText('With every preference met it', saved, prices)];
}

/** The page of what `compare -o json` prints. */
export function compareModel(subject: string, json: Json): PageModel {
  const found = (['joinersWay', 'karpentersWay', 'now'] as const).flatMap((key) => {
    const packing = packingAt(json, 'packings', key);
    const title = WAYS.find(([each]) => each === key)?.[1] ?? key;
    return packing === undefined ? [] : [{ title, packing }];
  });
  const colours = coloursOf(found.map(({ packing }) => packing));
  const scenes = found.map(({ title, packing }) => sceneOf(title, packing, colours));
  const currency = currencyIn(json, scenes);
  const prices = pricesIn(currency);
  const saved = price(json, 'difference', 'usdPerHour');
  const less = price(json, 'difference', 'percent');
  const word = saved < 0 ? 'more' : 'less';
  const [joiner, theirs] = scenes;
  const version = textAt(objectAt(json, 'karpenter'), 'version');
  const seconds = numberAt(json, 'joinersWay', 'decideSeconds');
  const grouped = (key: string): string => price(json, key).toLocaleString('en');
  return {
    command: 'compare',
    subject,
    lead: [savedText('Joiner', saved, prices), ...preferringText(json, prices)].join(' '),
    headlines: [
      { value: prices.perMonth(Math.abs(saved)), label: `a month ${word}` },
      { value: `${Math.abs(less).toFixed(0)} %`, label: `${word} than Karpenter's rules` },
      { value: price(json, 'joinersWay', 'nodes').toLocaleString('en'), label: 'nodes, Joiner' },
      {
        value: price(json, 'karpentersWay', 'nodes').toLocaleString('en'),
        label: "nodes, Karpenter's rules",
      },
    ],
    facts: [
      ...fact('Region', textAt(json, 'region')),
      ...fact('Pods', `${grouped('podsWaiting')} wait, ${grouped('podsRunning')} run`),
      ...fact('Rules of Karpenter', version),
      ...fact('Lower bound', isJson(json['bound']) ? undefined : 'not computed; --bound does'),
      ...fact('Decided in', seconds === undefined ? undefined : `${seconds.toFixed(2)} s`),
      ...fact('Prices', textAt(json, 'source')?.split(' (')[0]),
      ...fact('Joiner', textAt(json, 'joiner')),
    ],
    currency,
    costs: [...costsOf(json), ...boundOf(json)],
    verdict: joiner === undefined || theirs === undefined ? '' : partsText(joiner, theirs, prices),
    scenes,
    differences: differencesOf(scenes, prices),
    basis: listAt(json, 'karpenter', 'rules').map(String).join(' '),
    history: null,
    decisions: joiner === undefined ? [] : launchesIn(joiner, prices),
    stays: [],
    events: [],
    unplaced: leftOf(json),
    notes: textsIn(json, 'notes'),
  };
}
