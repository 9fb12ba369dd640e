import { isJson, type Json, listAt, numberAt, textAt } from '../../../shared/sim/json.ts';
import { count, type Prices, pricesIn } from '../draw/text.ts';
import { fact, price } from './facts.ts';
import type { DecisionModel, PageModel } from './model.ts';

/** Seconds from the first observation to what an entry says. */
function secondsAt(json: Json, each: Json): number {
  const [from, at] = [textAt(json, 'from'), textAt(each, 'at')];
  return Math.max(0, (Date.parse(at ?? '') - Date.parse(from ?? '')) / 1000);
}

function priceText({ perHour }: Prices, each: Json): string {
  const amount = numberAt(each, 'usdPerHour');
  return amount === undefined ? 'price not known' : perHour(amount);
}

function purposeText(each: Json): readonly string[] {
  const [pods, replaces] = [listAt(each, 'pods'), listAt(each, 'replaces')];
  if (pods.length > 0) return [`for ${count(pods.length, 'pod')}`];
  return replaces.length > 0 ? [`in place of ${replaces.map(String).join(', ')}`] : [];
}

function launched(json: Json, prices: Prices): readonly DecisionModel[] {
  return listAt(json, 'launches')
    .filter(isJson)
    .map((each) => ({
      at: secondsAt(json, each),
      action: `${textAt(each, 'by') ?? ''} launches`,
      object: `NodePool/${textAt(each, 'nodePool') ?? ''}`,
      others: [],
      why: [
        textAt(each, 'instanceType') ?? 'any type',
        ...['capacityType', 'zone'].flatMap((key) => textAt(each, key) ?? []),
        priceText(prices, each),
        ...purposeText(each),
      ].join(' '),
    }));
}

function removed(json: Json, prices: Prices): readonly DecisionModel[] {
  return listAt(json, 'removals')
    .filter(isJson)
    .map((each) => ({
      at: secondsAt(json, each),
      action: `${textAt(each, 'by') ?? ''} removes`,
      object: `NodeClaim/${textAt(each, 'nodeClaim') ?? ''}`,
      others: [],
      why: [
        priceText(prices, each),
        count(price(each, 'evictions'), 'eviction'),
        ...[textAt(each, 'why') ?? []].flat(),
      ].join(' '),
    }));
}

const FIGURES = [
  ['nodesLaunched', 'nodes launched'],
  ['nodesRemoved', 'nodes removed'],
  ['evictions', 'evictions'],
  ['pendingSeconds', 'pending, pod-seconds'],
] as const;

/** The page of what `shadow report -o json` prints. */
export function shadowModel(subject: string, json: Json): PageModel {
  const currency = textAt(json, 'currency') === 'CNY' ? 'CNY' : 'USD';
  const prices = pricesIn(currency);
  const [now, planned] = ['karpenter', 'joiner'].map((side) =>
    price(json, 'figures', side, 'meanUsdPerHour'),
  );
  const costs = [
    { label: 'Karpenter', perHour: now ?? 0, note: 'mean of all nodes', tone: 'before' as const },
    {
      label: 'Joiner',
      perHour: planned ?? 0,
      note: 'once its plans are made',
      tone: 'after' as const,
    },
  ];
  const span = `${textAt(json, 'from') ?? ''} to ${textAt(json, 'to') ?? ''}`;
  return {
    command: 'shadow',
    subject,
    lead: `Nodes cost ${prices.perHour(now ?? 0)} an hour under Karpenter; with Joiner's plans ${prices.perHour(planned ?? 0)}.`,
    headlines: FIGURES.map(([key, label]) => ({
      value: `${Math.round(price(json, 'figures', 'karpenter', key))} / ${Math.round(price(json, 'figures', 'joiner', key))}`,
      label: `${label}: Karpenter / Joiner`,
    })),
    facts: [...fact('Joiner', textAt(json, 'joiner')), ...fact('Time', span)],
    currency,
    costs,
    verdict: '',
    scenes: [],
    history: null,
    decisions: [...launched(json, prices), ...removed(json, prices)],
    stays: [],
    events: [],
    unplaced: [],
    notes: [...listAt(json, 'notes'), ...listAt(json, 'method')].map(String),
  };
}
