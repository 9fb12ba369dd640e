import { isJson, type Json, listAt, numberAt, textAt } from '../../../shared/sim/json.ts';
import { count, pricesIn } from '../draw/text.ts';
import { currencyIn, fact, launchesIn, leftBy, price, weakerNote } from './facts.ts';
import type { CostRow, PageModel, Scene } from './model.ts';
import { coloursOf, packingAt, sceneOf } from './scene.ts';

function costsOf(json: Json): readonly CostRow[] {
  const list = price(json, 'totalListPricePerHour');
  const own = price(json, 'totalCheapestPricePerHour');
  const bound = numberAt(json, 'bound', 'pricePerHour');
  return [
    { label: 'New nodes', perHour: list, note: 'list prices', tone: 'after' },
    ...(Math.abs(own - list) < 1e-9
      ? []
      : [
          {
            label: 'After overlays',
            perHour: own,
            note: 'what decisions compare',
            tone: 'before' as const,
          },
        ]),
    ...(bound === undefined
      ? []
      : [
          {
            label: 'Lower bound',
            perHour: bound,
            note: boundNote(json),
            tone: 'bound' as const,
          },
        ]),
  ];
}

function boundNote(json: Json): string {
  const gap = numberAt(json, 'bound', 'gapPercent');
  const size = gap === undefined ? '' : `: the gap is ${gap.toFixed(2)} %`;
  return `no plan can be cheaper${size}${weakerNote(json)}`;
}

function verdictOf(json: Json): string {
  const gap = numberAt(json, 'bound', 'gapPercent');
  if (gap === undefined) return '';
  return gap < 0.005
    ? 'The plan costs what the lower bound says: no plan is cheaper.'
    : `The plan is at most ${gap.toFixed(2)} % above the cheapest one that there can be.`;
}

export function overlayNotes(json: Json): readonly string[] {
  return listAt(json, 'overlays')
    .filter((each) => textAt(each, 'ready', 'status') !== 'True')
    .filter(isJson)
    .map((each) => {
      const why = [textAt(each, 'ready', 'reason'), textAt(each, 'ready', 'message')];
      return `NodeOverlay ${textAt(each, 'name') ?? ''} is not ready: ${why.filter(Boolean).join(': ')}`;
    });
}

/** The page of what `solve` prints. */
export function solveModel(subject: string, json: Json): PageModel {
  const packing = packingAt(json, 'packing') ?? { workloads: [], ladders: [], nodes: [] };
  const scene: Scene = sceneOf('Nodes and pods', packing, coloursOf([packing]));
  const currency = currencyIn(json, [scene]);
  const prices = pricesIn(currency);
  const summary = (key: string): number => price(json, 'summary', key);
  const failed = summary('failed');
  const placed = `${count(summary('podsOnNewNodes'), 'pod')} on ${count(summary('newNodes'), 'new node')}`;
  const there = summary('podsOnExistingNodes');
  const cost = prices.perHour(price(json, 'totalListPricePerHour'));
  const gap = numberAt(json, 'bound', 'gapPercent');
  return {
    command: 'solve',
    subject,
    lead: `${placed}${there > 0 ? `, ${there} on nodes that are there` : ''}, for ${cost} an hour${
      failed > 0 ? `; ${count(failed, 'pod')} left over` : '; none left over'
    }.`,
    headlines: [
      { value: cost, label: 'an hour, list prices' },
      { value: prices.perMonth(price(json, 'totalListPricePerHour')), label: 'a month' },
      { value: summary('newNodes').toLocaleString('en'), label: 'new nodes' },
      { value: summary('pendingPods').toLocaleString('en'), label: 'pods to place' },
      ...(gap === undefined
        ? []
        : [{ value: `${gap.toFixed(2)} %`, label: 'above the lower bound, at most' }]),
    ],
    facts: [
      ...fact('Solved in', `${Math.round(price(json, 'timings', 'solveMs'))} ms`),
      ...fact('Digest', textAt(json, 'digest')),
      ...fact('Joiner', textAt(json, 'joiner')),
    ],
    currency,
    costs: costsOf(json),
    verdict: verdictOf(json),
    scenes: [scene],
    history: null,
    decisions: launchesIn(scene, prices),
    stays: [],
    events: [],
    unplaced: leftBy(json),
    notes: overlayNotes(json),
  };
}
