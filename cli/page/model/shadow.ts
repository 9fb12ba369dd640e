import { isJson, type Json, listAt, numberAt, textAt } from '../../../shared/sim/json.ts';
import { count, type Prices, pricesIn } from '../draw/text.ts';
import { fact, price, together } from './facts.ts';
import type { DecisionModel, Difference, PageModel, Side, Sides, Steps } from './model.ts';

/** Seconds from the first observation to what an entry says. */
function secondsAt(json: Json, each: Json): number {
  const [from, at] = [textAt(json, 'from'), textAt(each, 'at')];
  return Math.max(0, (Date.parse(at ?? '') - Date.parse(from ?? '')) / 1000);
}

function priceText({ perHour }: Prices, each: Json): string {
  const amount = numberAt(each, 'usdPerHour');
  return amount === undefined ? 'price not known' : `${perHour(amount)}/h`;
}

const NAMES: Readonly<Record<string, string>> = { karpenter: 'Karpenter', joiner: 'Joiner' };

function whoIn(each: Json): string {
  const by = textAt(each, 'by') ?? '';
  return NAMES[by] ?? by;
}

/** What a node is for, as far as it is known. */
function purposeText(each: Json): readonly string[] {
  const [pods, replaces] = [listAt(each, 'pods'), listAt(each, 'replaces')];
  const returned = textAt(each, 'returned');
  if (returned !== undefined) return [`in place of ${returned}, which a plan had removed before`];
  if (pods.length > 0) return [`for ${count(pods.length, 'pod')}`];
  return replaces.length > 0 ? [`in place of ${replaces.map(String).join(', ')}`] : [];
}

function machineText(each: Json, prices: Prices): string {
  const zone = textAt(each, 'zone');
  const kind = [
    textAt(each, 'instanceType') ?? 'any type',
    ...[textAt(each, 'capacityType') ?? []].flat(),
    ...(zone === undefined ? [] : [`in ${zone}`]),
  ].join(' ');
  const price = priceText(prices, each);
  return numberAt(each, 'usdPerHour') === undefined ? `${kind}, ${price}` : `${kind} at ${price}`;
}

function launched(json: Json, prices: Prices): readonly DecisionModel[] {
  return listAt(json, 'launches')
    .filter(isJson)
    .map((each) => ({
      at: secondsAt(json, each),
      action: `${whoIn(each)} launches`,
      object: `NodePool/${textAt(each, 'nodePool') ?? ''}`,
      others: [],
      why: [machineText(each, prices), ...purposeText(each)].join('; '),
    }));
}

function removed(json: Json, prices: Prices): readonly DecisionModel[] {
  return listAt(json, 'removals')
    .filter(isJson)
    .map((each) => ({
      at: secondsAt(json, each),
      action: `${whoIn(each)} removes`,
      object: `NodeClaim/${textAt(each, 'nodeClaim') ?? ''}`,
      others: [],
      why: [
        priceText(prices, each),
        count(price(each, 'evictions'), 'eviction'),
        ...[textAt(each, 'why') ?? []].flat(),
      ].join('; '),
    }));
}

const SIDES = ['karpenter', 'joiner'] as const;

const HEADLINES = [
  ['nodesLaunched', 'nodes launched'],
  ['nodesRemoved', 'nodes removed'],
  ['evictions', 'evictions'],
  ['pendingSeconds', 'pod-seconds pending'],
] as const;

/** The rows of the text report. */
function figuresOf(json: Json, { perHour }: Prices): readonly Difference[] {
  const whole = (amount: number): string => Math.round(amount).toLocaleString('en');
  const row = (what: string, key: string, show: (amount: number) => string): Difference => [
    what,
    SIDES.map((side) => show(price(json, 'figures', side, key))),
  ];
  return [
    row('Nodes launched', 'nodesLaunched', whole),
    row('Their price an hour', 'launchedUsdPerHour', perHour),
    row('Nodes removed', 'nodesRemoved', whole),
    row('Their price an hour', 'removedUsdPerHour', perHour),
    row('Evictions', 'evictions', whole),
    row('All nodes, an hour (mean)', 'meanUsdPerHour', perHour),
    row('Pending, pod-seconds', 'pendingSeconds', whole),
  ];
}

function sidesOf(json: Json, prices: Prices): Sides {
  const moments = listAt(json, 'timeline').filter(isJson);
  const sideOf = (key: (typeof SIDES)[number]): Side => {
    const steps = (what: string): Steps =>
      moments.map((each) => [secondsAt(json, each), price(each, key, what)] as const);
    return {
      name: NAMES[key] ?? key,
      nodes: steps('nodes'),
      cost: steps('usdPerHour'),
      pending: steps('pending'),
    };
  };
  return {
    seconds: secondsAt(json, { at: textAt(json, 'to') }),
    sides: [sideOf('karpenter'), sideOf('joiner')],
    figures: figuresOf(json, prices),
  };
}

/** The page of what `shadow report -o json` prints. */
export function shadowModel(subject: string, json: Json): PageModel {
  const currency = textAt(json, 'currency') === 'CNY' ? 'CNY' : 'USD';
  const prices = pricesIn(currency);
  const [now = 0, planned = 0] = SIDES.map((side) =>
    price(json, 'figures', side, 'meanUsdPerHour'),
  );
  const figure = (side: string, key: string): string =>
    Math.round(price(json, 'figures', side, key)).toLocaleString('en');
  const [caveat = '', ...method] = listAt(json, 'method').map(String);
  const decisions = [...launched(json, prices), ...together(removed(json, prices))];
  return {
    command: 'shadow',
    subject,
    lead: `Nodes cost ${prices.perHour(now)} an hour under Karpenter; Joiner's plans at the same moments come to ${prices.perHour(planned)}.`,
    headlines: HEADLINES.map(([key, label]) => ({
      value: SIDES.map((side) => figure(side, key)).join(' / '),
      label: `${label}: Karpenter / Joiner`,
    })),
    facts: [
      ...fact('Cluster', textAt(json, 'cluster')),
      ...fact('Time', `${textAt(json, 'from') ?? ''} to ${textAt(json, 'to') ?? ''}`),
      ...fact('Observations', price(json, 'observations').toLocaleString('en')),
      ...fact('Joiner', textAt(json, 'joiner')),
    ],
    currency,
    costs: [
      { label: 'Karpenter', perHour: now, note: 'mean of all nodes', tone: 'before' },
      { label: 'Joiner', perHour: planned, note: 'mean of what its plans leave', tone: 'after' },
    ],
    hasMonths: false,
    verdict: caveat,
    scenes: [],
    history: null,
    sides: sidesOf(json, prices),
    decisions: decisions.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0)),
    stays: [],
    events: [],
    unplaced: [],
    notes: [...listAt(json, 'notes').map(String), ...method],
  };
}
