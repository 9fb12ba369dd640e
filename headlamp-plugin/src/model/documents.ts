import * as z from 'zod';
import { type ReadDecision, readDecisionSchema } from '../../../shared/api/decision-record.ts';
import { currencyOf } from '../../../shared/core/model/currency.ts';
import { explained, type Why } from './events.ts';
import { hourText, offeringText } from './offering.ts';
import type { Fact } from './target.ts';

/** One decision of a document. */
export interface DecisionRow {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly useCase: string;
  readonly action: string;
  /** `Kind/name`. */
  readonly object: string;
  /** What was launched, and the runner-up; empty: it is no launch. */
  readonly chosen: string;
  readonly runnerUp: string;
  readonly whys: readonly Why[];
}

/** A document of the command line as a panel shows it. */
export type Document =
  | { readonly kind: 'decisions'; readonly about: string; readonly rows: readonly DecisionRow[] }
  | {
      readonly kind: 'explanation';
      readonly about: string;
      readonly facts: readonly Fact[];
      readonly whys: readonly Why[];
    }
  | { readonly kind: 'problem'; readonly problem: string };

const EXPECTED =
  'expected what joiner decisions -o json or joiner explain -o json prints, or lines of decisions --follow';

const offering = z.looseObject({
  type: z.string().optional(),
  zone: z.string().optional(),
  capacityType: z.string().optional(),
  price: z.number().optional(),
});
type Offering = z.infer<typeof offering>;
const launch = z.looseObject({
  chosen: offering.nullish(),
  runnerUp: offering.extend({ why: z.string().optional() }).nullish(),
});
const reasons = z
  .array(z.looseObject({ code: z.string(), parameters: z.record(z.string(), z.unknown()) }))
  .default([]);

const decisionsSchema = z.looseObject({
  cluster: z.string().default(''),
  since: z.string().default(''),
  decisions: z.array(readDecisionSchema),
});

const placeSchema = launch.extend({
  kind: z.string(),
  node: z.string().optional(),
  nodePool: z.string().optional(),
  why: z.string().optional(),
  because: z.string().optional(),
  reasons,
});
const optionsSchema = z
  .array(
    z.looseObject({
      nodePool: z.string(),
      types: z.number(),
      left: z.number(),
      stages: z.array(z.looseObject({ what: z.string(), after: z.number() })),
    }),
  )
  .default([]);

const explanationSchema = z.union([
  z.looseObject({
    kind: z.literal('pod'),
    pod: z.string(),
    phase: z.string(),
    place: placeSchema,
    options: optionsSchema,
  }),
  z.looseObject({
    kind: z.literal('workload'),
    workload: z.string(),
    namespace: z.string(),
    name: z.string(),
    pods: z.array(z.looseObject({ pod: z.string(), phase: z.string(), place: placeSchema })),
    options: optionsSchema,
  }),
  z.looseObject({
    kind: z.literal('nodeclaim'),
    row: z.looseObject({
      node: z.string().optional(),
      nodeClaim: z.string().optional(),
      nodePool: z.string().optional(),
      instanceType: z.string().optional(),
      capacityType: z.string().optional(),
      zone: z.string().optional(),
      pricePerHour: z.number().optional(),
    }),
    planned: offering.extend({ runnerUp: offering.nullish() }).optional(),
    decision: z.string().optional(),
    fate: z.looseObject({
      kind: z.string(),
      why: z.union([z.string(), z.array(z.string())]).optional(),
      replacedBy: z.array(z.string()).default([]),
      reasons,
    }),
    further: z
      .looseObject({
        layers: z.array(z.looseObject({ why: z.string() })),
        goes: z.boolean(),
      })
      .optional(),
  }),
]);
type Explanation = z.infer<typeof explanationSchema>;

function pricedText(each: Offering | null | undefined): string {
  if (each === undefined || each === null || each.type === undefined) return '';
  const { type, capacityType, zone, price } = each;
  const cost = price === undefined ? '' : ` at ${hourText(price, currencyOf(zone ?? ''))}`;
  return `${offeringText({ type, capacityType, zone })}${cost}`;
}

function rowOf({
  id,
  atMs,
  useCase,
  action,
  object,
  message,
  reasons: codes,
  detail,
}: ReadDecision) {
  const read = launch.safeParse(detail);
  const { chosen, runnerUp } = read.success ? read.data : {};
  const [first] = codes;
  const next = pricedText(runnerUp);
  const why = runnerUp?.why === undefined ? '' : `: ${runnerUp.why}`;
  return {
    id,
    atMs,
    useCase,
    action,
    object,
    chosen: pricedText(chosen),
    runnerUp: next === '' ? '' : `${next}${why}`,
    whys: [explained(first?.code, message)],
  };
}

function fact(name: string, value: string | undefined): readonly Fact[] {
  return value === undefined || value === '' ? [] : [{ name, value }];
}

const PLACES: ReadonlyMap<string, string> = new Map([
  ['bound', 'is on a node'],
  ['existing', 'would go to a node that is there or starts'],
  ['new', 'would get a new node'],
  ['none', 'stays as it is'],
]);

/** What a node could be, by NodePool. */
function typesOf(options: z.infer<typeof optionsSchema>) {
  return options.map(({ nodePool: name, types, left, stages }) => {
    // A stage that left no type is a cause.
    const taken = stages.map(
      ({ what, after }) => `${after === 0 ? 'cause: ' : ''}${after} after ${what}`,
    );
    const text = [`${types} types`, ...taken, ...(taken.length === 0 ? [`${left} suitable`] : [])];
    return { name: `Types of ${name}`, value: text.join(' → ') };
  });
}

/** Each pod of a workload; reasons that several have are told once. */
function workloadExplanation(read: Extract<Explanation, { kind: 'workload' }>): Document {
  const { workload, namespace, name, pods, options } = read;
  const reasoned = new Map(
    pods.flatMap(({ place: { why, reasons: codes } }) =>
      why === undefined ? [] : [[why, whysOf(codes, why)] as const],
    ),
  );
  return {
    kind: 'explanation',
    about: `${workload} ${namespace}/${name}`,
    facts: [
      ...pods.map(({ pod, phase, place: { kind, node, nodePool } }) => ({
        name: pod,
        value: [phase, PLACES.get(kind) ?? kind, ...[node ?? nodePool ?? []].flat()].join(', '),
      })),
      ...typesOf(options),
    ],
    whys: [...reasoned.values()].flat(),
  };
}

function podExplanation(read: Extract<Explanation, { kind: 'pod' }>): Document {
  const { pod, phase, place, options } = read;
  const { node, nodePool, why, because, chosen, runnerUp } = place;
  const next = pricedText(runnerUp);
  return {
    kind: 'explanation',
    about: `Pod ${pod}`,
    facts: [
      { name: 'Phase', value: phase },
      { name: 'Place', value: PLACES.get(place.kind) ?? place.kind },
      ...fact('Node', node),
      ...fact('NodePool', nodePool),
      ...fact('Chosen', pricedText(chosen)),
      ...fact('Runner-up', runnerUp?.why === undefined ? next : `${next}: ${runnerUp.why}`),
      ...fact('Because', because),
      ...typesOf(options),
    ],
    whys: whysOf(place.reasons, why),
  };
}

/** The sentence of all, then what each code means. */
function whysOf(codes: z.infer<typeof reasons>, why: string | undefined): readonly Why[] {
  if (why === undefined) return [];
  const [first, ...others] = codes;
  return [explained(first?.code, why), ...others.map(({ code }) => explained(code, code))];
}

const FATES: ReadonlyMap<string, string> = new Map([
  ['stays', 'stays'],
  ['starts', 'starts'],
  ['goes', 'would be deleted'],
  ['held', 'would be deleted, and something keeps it'],
]);

/** What would become of the node without what keeps it now. */
function furtherText({ further }: Extract<Explanation, { kind: 'nodeclaim' }>): string {
  if (further === undefined) return '';
  const { layers, goes } = further;
  return [...layers.map(({ why }) => `stays: ${why}`), ...(goes ? ['goes'] : [])].join('; then ');
}

function claimExplanation(read: Extract<Explanation, { kind: 'nodeclaim' }>): Document {
  const { row, planned, decision, fate } = read;
  const { instanceType: type, capacityType, zone, pricePerHour: price } = row;
  const why = typeof fate.why === 'string' ? [fate.why] : (fate.why ?? []);
  const isOne = fate.reasons.length > 0;
  return {
    kind: 'explanation',
    about: `NodeClaim ${row.nodeClaim ?? ''}`,
    facts: [
      ...fact('Node', row.node),
      ...fact('NodePool', row.nodePool),
      ...fact('Instance', pricedText({ type, capacityType, zone, price })),
      ...fact('Planned as', pricedText(planned)),
      ...fact('Runner-up', pricedText(planned?.runnerUp)),
      ...fact('Decision', decision),
      { name: 'Now', value: FATES.get(fate.kind) ?? fate.kind },
      ...fact('Without what keeps it', furtherText(read)),
      ...fact('Replaced by', fate.replacedBy.join(', ')),
    ],
    whys: isOne ? whysOf(fate.reasons, why.join('; ')) : why.map((each) => explained('', each)),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `decisions --follow -o json` prints one record a line. */
function linesOf(text: string): unknown {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const records = lines.map(parsed);
  return records.includes(undefined) ? undefined : { decisions: records };
}

/** A document that somebody has pasted or opened; what it is not, it says. */
export function readDocument(text: string): Document {
  const whole = parsed(text) ?? linesOf(text);
  if (whole === undefined) return { kind: 'problem', problem: `not JSON: ${EXPECTED}` };
  const explanation = explanationSchema.safeParse(whole);
  if (explanation.success) {
    const { data } = explanation;
    if (data.kind === 'pod') return podExplanation(data);
    return data.kind === 'workload' ? workloadExplanation(data) : claimExplanation(data);
  }
  const list = decisionsSchema.safeParse(whole);
  const one = list.success ? list : decisionsSchema.safeParse({ decisions: [whole] });
  if (!one.success) return { kind: 'problem', problem: `another document: ${EXPECTED}` };
  const { cluster, since, decisions } = one.data;
  const rows = decisions.map(rowOf).sort((a, b) => b.atMs - a.atMs || (a.id < b.id ? -1 : 1));
  const from = since === '' ? '' : ` since ${since}`;
  const count = `${rows.length} ${rows.length === 1 ? 'decision' : 'decisions'}`;
  return {
    kind: 'decisions',
    about: `${count}${cluster === '' ? '' : ` of ${cluster}`}${from}`,
    rows,
  };
}
