import { isJson, type Json, listAt, textAt } from '../../../shared/sim/json.ts';
import { count, pricesIn } from '../draw/text.ts';
import { fact, price } from './facts.ts';
import type { DecisionModel, PageModel } from './model.ts';

function launched(json: Json): readonly DecisionModel[] {
  return listAt(json, 'launches')
    .filter(isJson)
    .map((each) => ({
      at: undefined,
      action: `${textAt(each, 'by') ?? ''} launches`,
      object: `NodePool/${textAt(each, 'nodePool') ?? ''}`,
      others: [],
      why: ['at', 'instanceType', 'capacityType', 'zone']
        .flatMap((key) => textAt(each, key) ?? [])
        .join(' '),
    }));
}

function removed(json: Json): readonly DecisionModel[] {
  return listAt(json, 'removals')
    .filter(isJson)
    .map((each) => ({
      at: undefined,
      action: `${textAt(each, 'by') ?? ''} removes`,
      object: `NodeClaim/${textAt(each, 'nodeClaim') ?? ''}`,
      others: [],
      why: `${textAt(each, 'at') ?? ''} ${count(price(each, 'evictions'), 'eviction')} ${textAt(each, 'why') ?? ''}`.trim(),
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
    decisions: [...launched(json), ...removed(json)],
    stays: [],
    events: [],
    unplaced: [],
    notes: [...listAt(json, 'notes'), ...listAt(json, 'method')].map(String),
  };
}
