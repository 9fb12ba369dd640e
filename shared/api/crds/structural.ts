import * as z from 'zod';
import { STRUCTURAL } from '../schema/parts.ts';

type JsonSchema = Record<string, unknown>;

/** Facts of zod's conversion that a structural schema must not or need not have. */
const DROPPED = ['$schema', 'additionalProperties', 'propertyNames', 'id', 'examples'] as const;

/**
 * The OpenAPI v3 schema of a CRD for a zod schema: structural, everything inline.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function structuralSchema(schema: z.ZodType): JsonSchema {
  const json = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => tidy(jsonSchema as JsonSchema),
  });
  delete (json as JsonSchema)['$schema'];
  return json as JsonSchema;
}

/** Runs for every node of the schema, leaves first. */
function tidy(json: JsonSchema): void {
  const replacement = json[STRUCTURAL];
  if (replacement !== undefined) {
    for (const key of Object.keys(json)) delete json[key];
    Object.assign(json, replacement);
    return;
  }
  const values = json['additionalProperties'];
  for (const key of DROPPED) delete json[key];
  if (typeof values === 'object' && Object.keys(values ?? {}).length > 0) {
    json['additionalProperties'] = values;
  }
  if (json['type'] === 'integer') integer(json);
  if (json['format'] === 'date-time') delete json['pattern'];
}

/** Safe-integer bounds say nothing; the format does. */
function integer(json: JsonSchema): void {
  if (json['minimum'] === Number.MIN_SAFE_INTEGER) delete json['minimum'];
  if (json['maximum'] === Number.MAX_SAFE_INTEGER) delete json['maximum'];
  json['format'] = 'int64';
}
