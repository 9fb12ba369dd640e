import type * as z from 'zod';
import { isJson } from '../../shared/sim/json.ts';

/** What is wrong where the check says false. */
type Check<Value> = readonly [string, (value: Value) => boolean];

/** The schema with what the old API's webhook checked, asked also where other fields are wrong. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  ...checks: readonly Check<z.output<Schema>>[]
): Schema {
  return checks.reduce(
    (all, [message, check]) =>
      all.refine((value) => check(value as z.output<Schema>), {
        message,
        when: ({ value }) => isJson(value),
      }),
    schema,
  );
}
