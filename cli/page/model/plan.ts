import { isJson, type Json, listAt, textAt } from '../../../shared/sim/json.ts';
import { count, pricesIn } from '../draw/text.ts';
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

function costsOf(json: Json): readonly CostRow[] {
  const unpriced = price(json, 'pricePerHour', 'unpriced');
  const note = unpriced > 0 ? `without ${count(unpriced, 'node')} of unknown price` : 'list prices';
  const { before } = json;
  const own = [
    { label: 'Now', perHour: price(json, 'pricePerHour', 'now'), note, tone: 'before' as const },
    {
      label: isJson(before) ? 'After, with the changes' : 'After',
      perHour: price(json, 'pricePerHour', 'after'),
      note,
      tone: 'after' as const,
    },
  ];
  if (!isJson(before)) return own;
  const perHour = price(before, 'pricePerHour', 'after');
  return [...own, { label: 'After, as it is', perHour, note, tone: 'bound' }];
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
  const [now, after] = ['now', 'after'].map((key) => price(json, 'pricePerHour', key));
  const change = (after ?? 0) - (now ?? 0);
  const [launches, removals] = [listAt(json, 'launches'), listAt(json, 'removals')];
  const left = price(json, 'summary', 'failed');
  const [scene] = scenes;
  return {
    command: 'plan',
    subject,
    lead: `${count(launches.length, 'node')} to launch, ${removals.length} to remove: ${prices.perHour(
      now ?? 0,
    )} an hour now, ${prices.perHour(after ?? 0)} after${
      left > 0 ? `; ${count(left, 'pod')} stay pending` : ''
    }.`,
    headlines: [
      { value: prices.perHour(after ?? 0), label: 'an hour after' },
      { value: `${change > 0 ? '+' : ''}${prices.perMonth(change)}`, label: 'a month' },
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
