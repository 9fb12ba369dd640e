import * as z from 'zod';
import { customResourceDefinitions } from '../../../shared/api/crds/definitions.ts';
import { listAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import { scenarioSchema } from '../../../shared/sim/scenario.ts';
import { code, heading, pageOf, table } from './text.ts';

const DIALECT = 'http://json-schema.org/draft-07/schema#';
export const SCHEMAS = 'docs/reference/schemas';

/** What a definition's schema says, as an editor reads it. */
function kindSchemas(): readonly (readonly [string, string, object])[] {
  return customResourceDefinitions().map(({ spec }) => {
    const [version] = listAt(spec, 'versions');
    const kind = textAt(spec, 'names', 'kind') ?? '';
    const apiVersion = `${textAt(spec, 'group')}/${textAt(version, 'name')}`;
    const schema = objectAt(version, 'schema', 'openAPIV3Schema');
    const fixed = { apiVersion: { const: apiVersion }, kind: { const: kind } };
    const properties = { ...objectAt(schema, 'properties'), ...fixed };
    const whole = { $schema: DIALECT, title: kind, ...schema, properties };
    return [`${kind.toLowerCase()}.json`, `${kind}, ${code(apiVersion)}`, whole] as const;
  });
}

function all(): readonly (readonly [string, string, object])[] {
  const scenario = z.toJSONSchema(scenarioSchema, { target: 'draft-7', io: 'input' });
  return [
    ...kindSchemas(),
    ['scenario.json', 'a [scenario](../scenarios.md)', { title: 'Scenario', ...scenario }],
  ];
}

/** The schemas by their files. */
export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map(
    all().map(([name, , schema]) => [`${SCHEMAS}/${name}`, `${JSON.stringify(schema, null, 1)}\n`]),
  );
}

/** docs/reference/schemas.md. */
export function schemasPage(): string {
  const rows = all().map(([name, what]) => [`[${name}](schemas/${name})`, what]);
  return pageOf([
    ...heading('JSON Schemas', 'shared/api'),
    'For editors and for checks in a pipeline. An editor with the YAML language server completes and checks a file whose first',
    'line is:',
    '',
    '```yaml other',
    '# yaml-language-server: $schema=./schemas/nodepool.json',
    '```',
    '',
    ...table(['file', 'of'], rows),
    'The schemas contain the API server’s rules for single fields. Rules that involve several fields are in the tables of',
    '[NodePool](nodepool.md) and the other kinds. `joiner simulate` checks both and reports each error with its line. The format',
    'of `joiner solve` is in [The case format](../case.md).',
    '',
  ]);
}
