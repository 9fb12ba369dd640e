import { isJson, type Json, listAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import type { History } from '../../packing/film.ts';
import { clock, count, type Prices, podsText, pricesIn } from '../draw/text.ts';
import { decisionsOf, eventsOf, staysOf } from './decided.ts';
import { currencyIn, fact, price, unplacedBy } from './facts.ts';
import type { CostRow, DecisionModel, PageModel, Scene } from './model.ts';
import { coloursOf, packingAt, sceneOf } from './scene.ts';

function historyAt(json: Json): History | null {
  const found = objectAt(json, 'history');
  // Printed by this very version.
  return Array.isArray(found['frames']) ? (found as unknown as History) : null;
}

type Frames = History['frames'];

/** What was paid once the first nodes were there; undefined: there were none. */
function startOf(frames: Frames): Frames[number] | undefined {
  return frames.find(({ pricePerHour }) => pricePerHour > 0);
}

/** How the end compares with the start. */
function changeText(start: number, end: number, prices: Prices): string {
  if (Math.abs(end - start) < 5e-5) return 'as at the start';
  const amount = prices.perHour(Math.abs(end - start));
  return `${amount} an hour ${end < start ? 'less' : 'more'} than at the start`;
}

function costsOf(json: Json, history: History | null, prices: Prices): readonly CostRow[] {
  const end = price(json, 'totals', 'pricePerHour');
  const adjusted = price(json, 'totals', 'adjustedPricePerHour');
  const frames = history?.frames ?? [];
  const first = startOf(frames);
  const peak = Math.max(end, ...frames.map((each) => each.pricePerHour));
  const top = frames.find(({ pricePerHour }) => pricePerHour === peak);
  const rows: readonly (CostRow | undefined)[] = [
    first && {
      label: 'At the start',
      perHour: first.pricePerHour,
      note: `after the first launches, ${clock(first.at)}`,
      tone: 'before',
    },
    peak - Math.max(end, first?.pricePerHour ?? 0) > 1e-6
      ? {
          label: 'Most at one time',
          perHour: peak,
          note: top === undefined ? '' : `after ${clock(top.at)}`,
          tone: 'before',
        }
      : undefined,
    {
      label: 'At the end',
      perHour: end,
      note: `list prices${first === undefined ? '' : `; ${changeText(first.pricePerHour, end, prices)}`}`,
      tone: 'after',
    },
    Math.abs(adjusted - end) > 1e-6
      ? {
          label: 'The same after overlays',
          perHour: adjusted,
          note: 'what decisions compare',
          tone: 'bound',
        }
      : undefined,
  ];
  return rows.filter((each) => each !== undefined);
}

function overlayNotes(json: Json): readonly string[] {
  return listAt(json, 'nodeOverlays')
    .filter(isJson)
    .flatMap((each) => {
      const name = `NodeOverlay ${textAt(each, 'name') ?? ''}`;
      const said = [textAt(each, 'reason'), textAt(each, 'message')].filter(Boolean).join(': ');
      if (each['ready'] !== true) return [`${name} is not ready: ${said}`];
      const remark = textAt(each, 'remark') ?? '';
      return remark === '' ? [] : [`${name}: ${remark}`];
    });
}

function rejectedNotes(json: Json): readonly string[] {
  return Object.entries(objectAt(json, 'rejected')).map(
    ([step, reasons]) => `Not done: ${step}: ${Array.isArray(reasons) ? reasons.join('; ') : ''}`,
  );
}

function leadOf(json: Json, pending: number, prices: Prices): string {
  const claims = listAt(json, 'nodeClaims').filter(isJson);
  const daemons = claims.reduce((sum, each) => sum + price(each, 'daemonSetPods'), 0);
  const own = Math.max(0, price(json, 'pods', 'running') - daemons);
  const nodes = count(price(json, 'totals', 'nodes'), 'node');
  const starting = claims.filter(
    ({ instanceType, nodeName }) => typeof instanceType === 'string' && nodeName === null,
  ).length;
  const there =
    starting === 0 ? nodes : `${nodes}, and ${starting.toLocaleString('en')} more start,`;
  const waits =
    pending === 0 ? 'none waits' : `${count(pending, 'pod')} without a node or starting`;
  const end = prices.perHour(price(json, 'totals', 'pricePerHour'));
  const refused = Object.keys(objectAt(json, 'rejected')).length;
  const undone = refused === 0 ? '' : `; ${refused} not done, see the end of the page`;
  return `At the end ${podsText({ own, daemons })} run on ${there} for ${end} an hour; ${waits}${undone}.`;
}

/** Decisions after which a node is drained. */
const GOING: ReadonlySet<string> = new Set(['delete', 'replace']);

/** The scene, with the reason at each node that goes. */
function withReasons(scene: Scene, decisions: readonly DecisionModel[]): Scene {
  const reasons = new Map(
    decisions
      .filter(({ action }) => GOING.has(action))
      .flatMap(({ object, others, why }) => [object, ...others].map((each) => [each, why])),
  );
  const nodes = scene.nodes.map((node) => ({
    ...node,
    went: reasons.get(`NodeClaim/${node.claim || node.name}`) ?? '',
  }));
  return { ...scene, nodes };
}

/** The page of what `simulate -o json` prints. */
export function simulateModel(subject: string, json: Json): PageModel {
  const packing = packingAt(json, 'packing') ?? { workloads: [], ladders: [], nodes: [] };
  const scene: Scene = sceneOf('Nodes and pods', packing, coloursOf([packing]));
  const currency = currencyIn(json, [scene]);
  const prices = pricesIn(currency);
  const history = historyAt(json);
  const decisions = decisionsOf(json, packing, prices);
  const waiting = listAt(json, 'pods', 'pending').filter(isJson);
  const pairs = waiting.map(
    (each) => [textAt(each, 'name') ?? '', textAt(each, 'reason') ?? ''] as const,
  );
  const total = (key: string, noun: string, done: string) => {
    const amount = price(json, 'totals', key);
    const label = `${noun}${amount === 1 ? '' : 's'} ${done}`;
    return { value: amount.toLocaleString('en'), label };
  };
  return {
    command: 'simulate',
    subject,
    lead: leadOf(json, waiting.length, prices),
    headlines: [
      { value: prices.perHour(price(json, 'totals', 'pricePerHour')), label: 'an hour at the end' },
      { value: prices.perHour(price(json, 'totals', 'cost')), label: 'for the whole run' },
      total('launched', 'node', 'launched'),
      total('terminated', 'node', 'terminated'),
      total('evictions', 'pod', 'evicted'),
    ],
    facts: [
      ...fact('Region', textAt(json, 'region')),
      ...fact('Simulated', `${textAt(json, 'start') ?? ''} to ${textAt(json, 'end') ?? ''}`),
      ...fact('Seed', price(json, 'seed')),
      ...fact('Prices', textAt(json, 'source')?.split(' (')[0]),
      ...fact('Joiner', textAt(json, 'joiner')),
    ],
    currency,
    costs: costsOf(json, history, prices),
    verdict: '',
    scenes: [withReasons(scene, decisions)],
    history,
    decisions,
    stays: staysOf(json, history),
    events: eventsOf(json),
    unplaced: unplacedBy(pairs),
    notes: [...overlayNotes(json), ...rejectedNotes(json)],
  };
}
