import type * as z from 'zod';
import type { Condition } from '../../core/model/cluster.ts';
import type { Decoded, Issue } from '../issue.ts';
import { type Metadata, readConditions, readMetadata } from '../kubernetes/metadata.ts';
import { Reader } from '../read.ts';
import { issuesOf } from './issues.ts';

/** What a decoder does with fields that the schema does not have. */
export type UnknownFields =
  /** Manifests: a misspelt field is an error. */
  | 'refuse'
  /** Objects of an API server, whose CRD may be newer than this program. */
  | 'ignore';

export interface Definition<Spec extends z.ZodType> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: Spec;
}

export interface DecodedParts<Spec> {
  readonly metadata: Metadata;
  /** Defaults filled in. */
  readonly spec: Spec;
  /** Read leniently: it is written by programs. */
  readonly status: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Condition[];
  readonly generation: number;
  readonly read: Reader;
}

const ROOT = ['apiVersion', 'kind', 'metadata', 'spec', 'status'] as const;

/** Reads an object of one of our kinds; every fault of metadata, spec and status is noted at once. */
export function decodeParts<Spec extends z.ZodType, Value>(
  definition: Definition<Spec>,
  object: unknown,
  unknownFields: UnknownFields,
  build: (parts: DecodedParts<z.output<Spec>>) => Value,
): Decoded<Value> {
  const read = new Reader();
  const fields = read.fields(object, '');
  for (const key of ['apiVersion', 'kind'] as const) {
    // The items of a list come without them.
    if (fields[key] !== undefined && fields[key] !== definition[key]) {
      read.note(key, `must be ${definition[key]}, not ${JSON.stringify(fields[key])}`);
    }
  }
  if (unknownFields === 'refuse') {
    for (const key of Object.keys(fields)) {
      if (ROOT.some((each) => each === key)) continue;
      read.noteUnknownField('', key, ROOT);
    }
  }
  const metadata = readMetadata(read, fields);
  const generation =
    read.integer(read.fields(fields['metadata'], '')['generation'], 'metadata.generation') ?? 0;
  const status = read.fields(fields['status'], 'status');
  const conditions = readConditions(read, status['conditions'], 'status.conditions', generation);
  const spec = parse(definition.spec, fields['spec'], unknownFields);
  if (!spec.ok) return { ok: false, issues: [...read.issues, ...spec.issues] };
  const value = build({ metadata, spec: spec.value, status, conditions, generation, read });
  return read.result(value);
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  unknownFields: UnknownFields,
): Decoded<z.output<Schema>> {
  const first = schema.safeParse(value, { reportInput: true });
  if (first.success) return { ok: true, value: first.data };
  const set = withoutNulls(value);
  const known = unknownFields === 'ignore' ? without(set, first.error) : set;
  const second = schema.safeParse(known, { reportInput: true });
  if (second.success) return { ok: true, value: second.data };
  return { ok: false, issues: issuesOf(second.error, schema).map(inSpec) };
}

function inSpec(issue: Issue): Issue {
  return { ...issue, path: issue.path === '' ? 'spec' : `spec.${issue.path}` };
}

/** The API server takes a null for an absent field. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const set = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(set.map(([key, each]) => [key, withoutNulls(each)]));
}

/** The value without the fields that the error calls unknown; the value itself where there are none. */
function without(value: unknown, error: z.ZodError): unknown {
  const unknown = error.issues.filter((issue) => issue.code === 'unrecognized_keys');
  if (unknown.length === 0) return value;
  const copy: unknown = structuredClone(value);
  for (const { path, keys } of unknown) {
    let at = copy;
    for (const step of path) at = (at as Record<PropertyKey, unknown>)[step];
    for (const key of keys) delete (at as Record<string, unknown>)[key];
  }
  return copy;
}
