import { EXTENDED_RESOURCES } from '../../shared/catalog/capacity.ts';
import { meant } from '../../shared/contract/nearest.ts';
import { consolidationGuardOf } from '../../shared/core/disruption/consolidation/consolidation-guard.ts';
import { limitsGuardOf } from '../../shared/core/disruption/consolidation/limits-guard.ts';
import { usageGuardOf } from '../../shared/core/disruption/consolidation/usage-guard.ts';
import { returnTermsOf } from '../../shared/core/disruption/first-choice.ts';
import { isWithin } from '../../shared/core/disruption/schedule.ts';
import { isReason, sentence } from '../../shared/core/explain/reason.ts';
import { drainFault } from '../../shared/core/lifecycle/drain.ts';
import * as labels from '../../shared/core/model/labels.ts';
import { pauseFault } from '../../shared/core/pause-windows.ts';
import { isJson, type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import type { Manifest } from '../manifests.ts';

/** Every name of a label or annotation that is read or written. */
const KNOWN = [...Object.values(labels), ...labels.WELL_KNOWN_LABELS].filter(
  (each): each is string => typeof each === 'string' && each.includes('/'),
);

/** Where objects have annotations: their own, those of their pods or nodes, those of Jobs' pods. */
const ANNOTATED = [
  ['metadata', 'annotations'],
  ['spec', 'template', 'metadata', 'annotations'],
  ['spec', 'jobTemplate', 'spec', 'template', 'metadata', 'annotations'],
];

/** Annotations that people set. */
const ANNOTATIONS: readonly string[] = [
  labels.DO_NOT_DISRUPT,
  labels.CONSOLIDATION_GUARD,
  labels.DRAIN,
  labels.EVICTION_ORDER,
  labels.LIMIT_GROUP,
  labels.LIMITS_GUARD,
  labels.PAUSE,
  labels.RETRY_LAUNCH,
  labels.RETURN_TO_FIRST_CHOICE,
  labels.USAGE_GUARD,
];

/** Annotations that are written as labels, where nothing reads them. */
function misplacedNotes({ object, place }: Manifest): readonly string[] {
  return ANNOTATED.flatMap((path) => {
    const field = [...path.slice(0, -1), 'labels'].join('.');
    return Object.keys(objectAt(object, ...field.split('.')))
      .filter((name) => ANNOTATIONS.includes(name))
      .map((name) => `${place(field)}: ${field}: ${name} is no label but an annotation`);
  });
}

/** Annotations that nothing reads: all unknown ones of Joiner's, of others those with a near name. */
function annotationNotes({ object, place }: Manifest): readonly string[] {
  return ANNOTATED.flatMap((path) => {
    const field = path.join('.');
    return Object.keys(objectAt(object, ...path))
      .filter((name) => !KNOWN.includes(name))
      .map((name) => ({ name, near: meant(name, KNOWN) }))
      .filter(({ name, near }) => name.startsWith('joiner.dev/') || near !== '')
      .map(({ name, near }) => `${place(field)}: ${field}: nothing reads ${name}${near}`);
  });
}

/** Values of annotations that cannot be read, of NodePools and of pods. */
function valueNotes({ object, place }: Manifest): readonly string[] {
  const told = (path: readonly string[], faults: readonly (string | undefined)[]) =>
    faults.flatMap((fault) => {
      const field = path.join('.');
      return fault === undefined ? [] : [`${place(field)}: ${field}: ${fault}`];
    });
  return ANNOTATED.flatMap((path) => {
    const read = Object.entries(objectAt(object, ...path));
    const annotations = Object.fromEntries(read.map(([name, value]) => [name, String(value)]));
    if (object['kind'] !== 'NodePool') return told(path, [drainFault({ annotations })]);
    if (path.length > 2) return [];
    const guards = [
      consolidationGuardOf({ annotations }),
      limitsGuardOf({ annotations }),
      usageGuardOf({ annotations }),
      returnTermsOf({ annotations }),
    ];
    const unread = guards.flatMap((each) => (each && isReason(each) ? [sentence(each)] : []));
    return told(path, [pauseFault({ annotations }), ...unread]);
  });
}

/** Schedules of disruption budgets that cannot be read: such a budget always lets no node go. */
function scheduleNotes({ object, place }: Manifest): readonly string[] {
  if (object['kind'] !== 'NodePool') return [];
  return listAt(object, 'spec', 'disruption', 'budgets').flatMap((budget, at) => {
    const schedule = isJson(budget) ? textAt(budget, 'schedule') : undefined;
    if (schedule === undefined || isWithin(schedule, 0, 0) !== undefined) return [];
    const field = `spec.disruption.budgets[${at}].schedule`;
    const fault = `"${schedule}" is no cron schedule (minute hour day month weekday, Sunday is 0)`;
    return [`${place(field)}: ${field}: ${fault}: no node of its reasons is ever disrupted`];
  });
}

interface LabelKey {
  readonly field: string;
  readonly name: string;
  /** The values that are named with it, and their field. */
  readonly values: readonly unknown[];
  readonly fieldOfValues: string;
}

/** Lists of requirements on nodes; other `key`s are of pods' labels, secrets and so on. */
const ON_NODES = /(?:^|\.)(?:requirements\[|nodeAffinity\.)/;

interface Field {
  readonly name: string;
  readonly path: string;
  readonly value: unknown;
  /** The object that has it, and where that is. */
  readonly parent: Json;
  readonly within: string;
}

/** Every field of the value at any depth, each before those below it. */
function* fieldsOf(value: unknown, within = ''): Generator<Field> {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* fieldsOf(each, `${within}[${index}]`);
    return;
  }
  if (!isJson(value)) return;
  for (const [name, each] of Object.entries(value)) {
    const path = within === '' ? name : `${within}.${name}`;
    yield { name, path, value: each, parent: value, within };
    yield* fieldsOf(each, path);
  }
}

/** The keys of nodes' labels that the object requires, prefers or spreads over. */
function labelKeys(object: Json): readonly LabelKey[] {
  return [...fieldsOf(object)].flatMap(({ name, path, value, parent, within }) => {
    if (name === 'nodeSelector' && isJson(value)) {
      const keys = Object.entries(value);
      return keys.map(([key, only]) => ({
        field: path,
        name: key,
        values: [only],
        fieldOfValues: path,
      }));
    }
    const isKey = name === 'topologyKey' || (name === 'key' && ON_NODES.test(path));
    if (!isKey || typeof value !== 'string') return [];
    const values = listAt(parent, 'values');
    return [{ field: path, name: value, values, fieldOfValues: `${within}.values` }];
  });
}

/** Names that are none of the known ones, and nearly one of them, each with what was meant. */
function misspelt(names: readonly string[], known: readonly string[]) {
  return names
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, near: meant(name, known) }))
    .filter(({ near }) => near !== '');
}

/** Keys that are no label of any node by themselves, and nearly one that is. */
function labelNotes({ place }: Manifest, keys: readonly LabelKey[]): readonly string[] {
  return keys.flatMap(({ field, name: key }) =>
    misspelt([key], KNOWN).map(
      ({ name, near }) => `${place(field)}: ${field}: ${name} is a label of your own here${near}`,
    ),
  );
}

/** Selectors and requirements that name a NodePool that is nearly one of these. */
function poolNotes(
  { place }: Manifest,
  keys: readonly LabelKey[],
  pools: readonly string[],
): readonly string[] {
  return keys
    .filter(({ name }) => name === labels.NODE_POOL)
    .flatMap(({ values, fieldOfValues: field }) =>
      misspelt(
        values.filter((each) => typeof each === 'string'),
        pools,
      ).map(({ name, near }) => `${place(field)}: ${field}: there is no NodePool ${name}${near}`),
    );
}

interface Amounts {
  readonly field: string;
  readonly names: readonly string[];
}

/** Every list of amounts under one of these names, at any depth. */
function amounts(object: Json, under: readonly string[]): readonly Amounts[] {
  return [...fieldsOf(object)].flatMap(({ name, path, value }) =>
    under.includes(name) && isJson(value) ? [{ field: path, names: Object.keys(value) }] : [],
  );
}

/** Requests and limits of resources that no node has, and nearly one that nodes may have. */
function resourceNotes({ object, place }: Manifest, known: readonly string[]): readonly string[] {
  return amounts(object, ['requests', 'limits']).flatMap(({ field, names }) =>
    misspelt(
      names.filter((name) => name.includes('/')),
      known,
    ).map(({ name, near }) => `${place(field)}: ${field}: no node has ${name}${near}`),
  );
}

/**
 * Names and values in metadata and selectors that a schema cannot refuse and that have no effect.
 * `isWhole`: no NodePool exists besides.
 */
export function misspeltNames(used: readonly Manifest[], isWhole: boolean): readonly string[] {
  const pools = used
    .filter(({ object }) => object['kind'] === 'NodePool')
    .map(({ object }) => textAt(object, 'metadata', 'name') ?? '');
  const own = used.flatMap(({ object }) => amounts(object, ['capacity', 'allocatable']));
  const resources = [...EXTENDED_RESOURCES, ...own.flatMap(({ names }) => names)];
  return used.flatMap((each) => {
    const keys = labelKeys(each.object);
    return [
      ...annotationNotes(each),
      ...misplacedNotes(each),
      ...valueNotes(each),
      ...scheduleNotes(each),
      ...labelNotes(each, keys),
      ...(isWhole ? poolNotes(each, keys, pools) : []),
      ...resourceNotes(each, resources),
    ];
  });
}
