import { currencyOf } from '../../../shared/core/model/currency.ts';
import { isJson, type Json, listAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import { count } from '../draw/text.ts';
import { fact, price } from './facts.ts';
import type { DecisionModel, PageModel, PriceChange } from './model.ts';

/** What every node has; an overlay that changes capacity mostly adds something else. */
const USUAL: ReadonlySet<string> = new Set(['cpu', 'memory', 'pods', 'ephemeral-storage']);

function capacityText(type: Json): string {
  if (type['capacityOverlaid'] !== true) return '';
  const all = Object.entries(objectAt(type, 'capacity'));
  const added = all.filter(([name]) => !USUAL.has(name));
  return (added.length > 0 ? added : all).map(([name, each]) => `${name} ${each}`).join(', ');
}

function lowest(offerings: readonly Json[], key: string): number {
  // What can be bought counts; where nothing can, the prices are shown all the same.
  const available = offerings.filter((each) => each['available'] === true);
  const counted = available.length > 0 ? available : offerings;
  return Math.min(...counted.map((each) => price(each, key)));
}

/** What NodeOverlays change of a type, by capacity type. */
function changesOf(pool: string, type: Json): readonly PriceChange[] {
  const capacity = capacityText(type);
  const offerings = listAt(type, 'offerings').filter(isJson);
  const byCapacity = Map.groupBy(offerings, (each) => textAt(each, 'capacityType') ?? '');
  return [...byCapacity]
    .filter(([, own]) => capacity !== '' || own.some((each) => each['overlaid'] === true))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([capacityType, own]) => ({
      pool,
      type: textAt(type, 'name') ?? '',
      capacityType,
      listPrice: lowest(own, 'basePrice'),
      price: lowest(own, 'price'),
      capacity,
    }));
}

/** What an overlay sets: a price, an adjustment of it, capacity. */
function changeTexts(overlay: Json): readonly string[] {
  const price = textAt(overlay, 'price');
  const adjustment = textAt(overlay, 'priceAdjustment')?.replace('-', '−').replace('%', ' %');
  const capacity = Object.entries(objectAt(overlay, 'capacity'));
  return [
    ...(price === undefined ? [] : [`price ${price} an hour`]),
    ...(adjustment === undefined
      ? []
      : [`price ${adjustment}${adjustment.endsWith('%') ? '' : ' an hour'}`]),
    ...(capacity.length === 0
      ? []
      : [`capacity ${capacity.map(([name, each]) => `${name} ${each}`).join(', ')}`]),
  ];
}

/** For which instance types and offerings an overlay is. */
function requirementTexts(overlay: Json): readonly string[] {
  const list = listAt(overlay, 'requirements').filter(isJson);
  const texts = list.map((each) => {
    const values = listAt(each, 'values').map(String);
    const all = values.length === 0 ? '' : ` [${values.join(', ')}]`;
    return `${textAt(each, 'key') ?? ''} ${textAt(each, 'operator') ?? ''}${all}`;
  });
  return texts.length === 0 ? [] : [`where ${texts.join(' and ')}`];
}

function overlaysOf(json: Json): readonly DecisionModel[] {
  return listAt(json, 'overlays')
    .filter(isJson)
    .map((each) => {
      const isReady = textAt(each, 'ready', 'status') === 'True';
      const message = textAt(each, 'ready', 'message') ?? '';
      const reason = isReady ? '' : (textAt(each, 'ready', 'reason') ?? '');
      const said = [reason, message].filter((part) => part !== '').join(': ');
      const parts = [
        `weight ${price(each, 'weight')}`,
        said,
        `changes ${count(price(each, 'changedTypes'), 'instance type')}`,
        ...changeTexts(each),
        ...requirementTexts(each),
        textAt(each, 'remark') ?? '',
      ];
      return {
        at: undefined,
        action: isReady ? 'ready' : 'not ready',
        object: textAt(each, 'name') ?? '',
        others: [],
        why: parts.filter((part) => part !== '').join('; '),
      };
    });
}

function zoneIn(json: Json): string {
  const types = Object.values(objectAt(json, 'nodePools')).flat().filter(isJson);
  const [first] = types.flatMap((type) => listAt(type, 'offerings')).filter(isJson);
  return first === undefined ? '' : (textAt(first, 'zone') ?? '');
}

function rejectedNotes(json: Json): readonly string[] {
  return Object.entries(objectAt(json, 'rejected')).map(
    ([name, why]) => `Refused, and left out: ${name}: ${Array.isArray(why) ? why.join('; ') : ''}`,
  );
}

/** The page of what `diagnose -o json` prints. */
export function diagnoseModel(subject: string, json: Json): PageModel {
  const pools = Object.entries(objectAt(json, 'nodePools'));
  const changes = pools.flatMap(([pool, types]) =>
    (Array.isArray(types) ? types : []).filter(isJson).flatMap((type) => changesOf(pool, type)),
  );
  const overlays = overlaysOf(json);
  const unready = overlays.filter(({ action }) => action !== 'ready').length;
  const types = new Set(changes.map(({ type }) => type)).size;
  const changed = `${count(overlays.length, 'NodeOverlay')} ${
    overlays.length === 1 ? 'changes' : 'change'
  } ${count(types, 'instance type')} in ${count(pools.length, 'NodePool')}`;
  return {
    command: 'diagnose',
    subject,
    lead: `${changed}${unready > 0 ? `; ${unready} not ready` : ''}.`,
    headlines: [
      { value: String(overlays.length - unready), label: 'ready' },
      { value: String(unready), label: 'not ready' },
      { value: types.toLocaleString('en'), label: 'instance types changed' },
    ],
    facts: [
      ...fact('Region', textAt(json, 'region')),
      ...fact('Prices', textAt(json, 'source')?.split(' (')[0]),
      ...fact('Joiner', textAt(json, 'joiner')),
    ],
    currency: currencyOf(textAt(json, 'region') ?? zoneIn(json)),
    costs: [],
    verdict: '',
    scenes: [],
    history: null,
    decisions: overlays,
    stays: [],
    events: [],
    unplaced: [],
    priceChanges: changes,
    notes: rejectedNotes(json),
  };
}
