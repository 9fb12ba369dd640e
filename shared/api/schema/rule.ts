import type * as z from 'zod';

/**
 * A validation rule that the API server checks by its CEL expression and this code by its function;
 * test/contract runs one table of objects against both.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
export interface Rule<Value> {
  /** The CEL expression over `self`. */
  readonly cel: string;
  readonly message: string;
  /** True where the value is valid. Absent for rules about a change (`oldSelf`). */
  readonly check?: (value: Value) => boolean;
}

/** The extension by which a structural schema carries its rules. */
export const VALIDATIONS = 'x-kubernetes-validations';

/** The schema with further rules; what they report is at the schema's own path. */
export function withRules<Schema extends z.ZodType>(
  schema: Schema,
  rules: readonly Rule<z.output<Schema>>[],
): Schema {
  let ruled = schema;
  for (const { check, message } of rules) {
    if (check === undefined) continue;
    // A value whose fields are wrong is checked too, so that all faults are named at once.
    const when = ({ value }: { readonly value: unknown }) => value !== undefined;
    ruled = ruled.refine((value) => holds(check, value as z.output<Schema>), { message, when });
  }
  const validations = rules.map(({ cel, message }) => ({ rule: cel, message }));
  return ruled.meta({ ...ruled.meta(), [VALIDATIONS]: validations });
}

/** A check that fails on the shape of its value says nothing: the shape has been reported. */
function holds<Value>(check: (value: Value) => boolean, value: Value): boolean {
  try {
    return check(value);
  } catch (error) {
    if (error instanceof TypeError) return true;
    throw error;
  }
}
