import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { isJson, type Json } from '../../../shared/sim/json.ts';
import type { Note } from '../part.ts';

/** What is said about fields that the schema of a group does not have. */
export interface UnreadFields {
  /** What the group has where nobody gave the field: it is not noted. Nested as the group is. */
  readonly unset?: Json;
  /** By the field's own name, where more is to say than that it is left out. */
  readonly messages?: Readonly<Record<string, string>>;
}

const MESSAGE = 'left out: write in the EC2NodeClass or the NodePool what is to stay of it';

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJson(value) && Object.keys(value).length === 0;
}

/** The schema of the value itself, without `optional` around it and of a union the one it meets. */
function inner(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodOptional) return inner(schema.unwrap(), value);
  if (!(schema instanceof z.ZodUnion)) return schema;
  return schema.options.find((each) => z.safeParse(each, value).success);
}

/**
 * A note of every field, at any depth, that the schema does not have. What is read of a group is
 * what its schema has, so nothing is dropped without a word.
 */
export function leftOut(
  value: unknown,
  schema: unknown,
  field: string,
  { unset = {}, messages = {} }: UnreadFields = {},
): readonly Note[] {
  const known = inner(schema, value);
  if (known instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((each, index) =>
      leftOut(each, known.element, `${field}[${index}]`, { unset, messages }),
    );
  }
  if (!(known instanceof z.ZodObject) || !isJson(value)) return [];
  const { shape } = known;
  return Object.entries(value).flatMap(([key, below]): readonly Note[] => {
    const { [key]: given } = unset;
    const at = `${field}.${key}`;
    if (Object.hasOwn(shape, key)) {
      return leftOut(below, shape[key], at, { messages, ...(isJson(given) && { unset: given }) });
    }
    if (isNothing(below) || isDeepStrictEqual(below, given)) return [];
    return [{ field: at, message: messages[key] ?? MESSAGE }];
  });
}
