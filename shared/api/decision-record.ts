import * as z from 'zod';
import { DECISION_ACTIONS } from '../contract.ts';
import { REASONS } from '../core/explain/definitions.ts';
import type { Definition, ParameterType } from '../core/explain/parameters.ts';
import { parsedJson } from '../core/parsed-json.ts';
import { USE_CASES } from '../ports.ts';

const moneySchema = z
  .strictObject({ amount: z.number(), currency: z.enum(['USD', 'CNY']) })
  .meta({ description: 'an amount an hour, as AWS bills it' });

const stageSchema = z.strictObject({
  code: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  what: z.string(),
  before: z.int(),
  after: z.int(),
});

/** By the type of a parameter: what its values are. */
const VALUES: Readonly<Record<ParameterType, z.ZodType>> = {
  text: z.string(),
  texts: z.array(z.string()),
  count: z.int(),
  number: z.number(),
  money: moneySchema,
  time: z.iso.datetime(),
  offering: z.strictObject({
    type: z.string(),
    zone: z.string(),
    capacityType: z.string(),
    price: moneySchema,
    listPrice: moneySchema,
  }),
  pools: z.array(z.strictObject({ nodePool: z.string(), stages: z.array(stageSchema) })),
  remainders: z.array(z.strictObject({ what: z.string(), left: z.int() })),
  tallies: z.array(
    z.strictObject({ code: z.string(), count: z.int(), example: z.string(), text: z.string() }),
  ),
};

function schemaOf(code: string, { meaning, parameters }: Definition) {
  const values = Object.entries(parameters).map(
    ([name, { type, what }]) => [name, VALUES[type].meta({ description: what })] as const,
  );
  return z
    .strictObject({
      code: z.literal(code),
      parameters: z.strictObject(Object.fromEntries(values)),
    })
    .meta({ description: meaning });
}

/** One of the reasons of docs/reasons.md with its parameters. */
export const reasonSchema = z.union(
  Object.entries(REASONS).map(([code, definition]) => schemaOf(code, definition)),
);

/** A decision as it is recorded by this version. */
export const decisionRecordSchema = z.strictObject({
  id: z.string(),
  atMs: z.number().meta({ description: 'milliseconds since 1970' }),
  useCase: z.enum(USE_CASES),
  object: z.string().meta({ description: 'Kind/name' }),
  action: z.enum(Object.values(DECISION_ACTIONS)),
  reasons: z.array(reasonSchema).meta({ description: 'why, the one that decided first' }),
  message: z.string().meta({ description: 'the reasons in words' }),
  detail: z.record(z.string(), z.unknown()),
});

/** What is read of records of any version: another may know other reasons. */
export const readDecisionSchema = z.looseObject({
  id: z.string(),
  atMs: z.number(),
  useCase: z.string(),
  object: z.string(),
  action: z.string(),
  reasons: z
    .array(z.looseObject({ code: z.string(), parameters: z.record(z.string(), z.unknown()) }))
    .default([]),
  message: z.string(),
  detail: z.record(z.string(), z.unknown()).default({}),
});

export type ReadDecision = z.infer<typeof readDecisionSchema>;

/** The lines of an object that are records; `faulty`: how many are not. */
export function recordsOf(text: string): {
  readonly records: readonly ReadDecision[];
  readonly faulty: number;
} {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const records = lines.flatMap((line) => {
    const { data, success } = readDecisionSchema.safeParse(parsedJson(line));
    return success ? [data] : [];
  });
  return { records, faulty: lines.length - records.length };
}
