import { isJson, type Json, listAt, textAt } from '../../../shared/sim/json.ts';
import { count, type Prices, pricesIn } from '../draw/text.ts';
import { currencyIn, fact, launchesIn, leftBy, price, textsIn, together } from './facts.ts';
import type { CostRow, DecisionModel, PageModel } from './model.ts';
import { coloursOf, packingAt, sceneOf } from './scene.ts';
import { overlayNotes } from './solve.ts';

function said(json: Json, key: string, action: string, why: (each: Json) => string) {
  const list = listAt(json, key).filter(isJson);
  return together(
    list.map(
      (each): DecisionModel => ({
        at: undefined,
        action: textAt(each, 'action') ?? action,
        object: textAt(each, 'nodeClaim') ?? textAt(each, 'object') ?? '',
        others: [],
        why: why(each),
      }),
    ),
  );
}

function otherDecisions(json: Json): readonly DecisionModel[] {
  const text = (key: string) => (each: Json) => textAt(each, key) ?? '';
  return [
    ...said(json, 'removals', 'remove', text('why')),
    ...said(json, 'leaving', 'goes already', text('why')),
    ...said(json, 'drifted', 'drifted', (each) =>
      [text('reason')(each), text('message')(each)].filter((part) => part !== '').join(': '),
    ),
    ...said(json, 'held', 'held back', text('message')),
    ...said(json, 'failures', 'not done', text('message')),
  ];
}

/** An amount of the plan; null: no price of it is known. */
function amountOf(plan: Json, key: 'now' | 'after'): number | null {
  const known = price(plan, 'pricePerHour', key);
  return known === 0 && price(plan, 'pricePerHour', 'unpriced') > 0 ? null : known;
}

function unpricedText(plan: Json): string {
  const unpriced = price(plan, 'pricePerHour', 'unpriced');
  return unpriced === 0 ? '' : `${count(unpriced, 'node')} of unknown price`;
}

/** `$1.0179 an hour now, $0.9647 after`; what is not known is not counted as nothing. */
function pricesText(plan: Json, { perHour }: Prices): string {
  const unpriced = unpricedText(plan);
  const amount = (key: 'now' | 'after', unit: string): string => {
    const known = amountOf(plan, key);
    if (known === null) return `price unknown ${key}`;
    return `${unpriced === '' ? '' : 'at least '}${perHour(known)}${unit} ${key}`;
  };
  const more = unpriced === '' ? '' : ` (${unpriced})`;
  return `${amount('now', ' an hour')}, ${amount('after', '')}${more}`;
}

function costsOf(json: Json): readonly CostRow[] {
  const noteOf = (plan: Json): string => {
    const unpriced = unpricedText(plan);
    return unpriced === '' ? 'list prices' : `at least: without ${unpriced}`;
  };
  const { before } = json;
  const own = [
    { label: 'Now', perHour: amountOf(json, 'now'), note: noteOf(json), tone: 'before' as const },
    {
      label: isJson(before) ? 'After, with the changes' : 'After',
      perHour: amountOf(json, 'after'),
      note: noteOf(json),
      tone: 'after' as const,
    },
  ];
  if (!isJson(before)) return own;
  const perHour = amountOf(before, 'after');
  return [...own, { label: 'After, as it is', perHour, note: noteOf(before), tone: 'bound' }];
}

/** What the plan changes, where the price of every node is known. */
function changeText(json: Json, { perMonth }: Prices): string {
  if (unpricedText(json) !== '') return '–';
  const [now, after] = ['now', 'after'].map((key) => price(json, 'pricePerHour', key));
  const change = (after ?? 0) - (now ?? 0);
  return `${change > 0 ? '+' : ''}${perMonth(change)}`;
}

/** The page of what `plan -o json` prints. */
export function planModel(subject: string, json: Json): PageModel {
  const found = [
    { title: isJson(json['before']) ? 'With the changes' : 'Nodes and pods', path: ['packing'] },
    { title: 'As it is', path: ['before', 'packing'] },
  ].flatMap(({ title, path }) => {
    const packing = packingAt(json, ...path);
    return packing === undefined ? [] : [{ title, packing }];
  });
  const colours = coloursOf(found.map(({ packing }) => packing));
  const scenes = found.map(({ title, packing }) => sceneOf(title, packing, colours));
  const currency = currencyIn(json, scenes);
  const prices = pricesIn(currency);
  const [launches, removals] = [listAt(json, 'launches'), listAt(json, 'removals')];
  const left = price(json, 'summary', 'failed');
  const [scene] = scenes;
  return {
    command: 'plan',
    subject,
    lead: `${count(launches.length, 'node')} to launch, ${removals.length} to remove: ${pricesText(json, prices)}${
      left > 0 ? `; ${count(left, 'pod')} stay pending` : ''
    }.`,
    headlines: [
      { value: prices.perHour(amountOf(json, 'after')), label: 'an hour after' },
      { value: changeText(json, prices), label: 'a month' },
      { value: String(launches.length), label: 'nodes to launch' },
      { value: String(removals.length), label: 'nodes to remove' },
    ],
    facts: [
      ...fact('Prices', textAt(json, 'source')?.split(' (')[0]),
      ...fact('Joiner', textAt(json, 'joiner')),
    ],
    currency,
    costs: costsOf(json),
    verdict: '',
    scenes,
    history: null,
    decisions: [...(scene === undefined ? [] : launchesIn(scene, prices)), ...otherDecisions(json)],
    stays: [],
    events: [],
    unplaced: leftBy(json),
    notes: [...textsIn(json, 'notes'), ...overlayNotes(json)],
  };
}
