import { customResourceDefinitions } from '../../../shared/api/crds/definitions.ts';
import { isJson, type Json, listAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import * as meanings from './field-meanings.ts';
import { cell, code, heading, pageOf, table } from './text.ts';

interface Page {
  readonly kind: string;
  readonly meanings: meanings.Meanings;
  readonly says: string;
}

/** By the file's name. */
export const FIELD_PAGES: Readonly<Record<string, Page>> = {
  nodepool: {
    kind: 'NodePool',
    meanings: meanings.NODE_POOL,
    says: 'The rules for a set of nodes.',
  },
  nodeclaim: {
    kind: 'NodeClaim',
    meanings: meanings.NODE_CLAIM,
    says: 'One requested node. Joiner writes it; people read and delete it. Its spec cannot be changed.',
  },
  nodeoverlay: {
    kind: 'NodeOverlay',
    meanings: meanings.NODE_OVERLAY,
    says: 'A change of price or capacity of matching instance types. [Overlays](../concepts/overlays.md) explains them.',
  },
  ec2nodeclass: {
    kind: 'EC2NodeClass',
    meanings: meanings.EC2_NODE_CLASS,
    says: 'How EC2 instances are made.',
  },
  capacitybuffer: {
    kind: 'CapacityBuffer',
    meanings: meanings.CAPACITY_BUFFER,
    says: 'Spare capacity for future pods. [Headroom](../tasks/headroom.md) shows how to use it.',
  },
};

interface Field {
  readonly path: string;
  readonly schema: Json;
  readonly isRequired: boolean;
}

/** Every field below a schema; of lists of objects the fields of the objects. */
function fieldsOf(path: string, schema: Json): readonly Field[] {
  const required = listAt(schema, 'required');
  return Object.entries(objectAt(schema, 'properties')).flatMap(([name, each]) => {
    if (!isJson(each)) return [];
    const field = { path: `${path}.${name}`, schema: each, isRequired: required.includes(name) };
    const items = objectAt(each, 'items');
    return [field, ...fieldsOf(`${field.path}[]`, items), ...fieldsOf(field.path, each)];
  });
}

function typeOf(schema: Json): string {
  const items = objectAt(schema, 'items');
  if (schema['x-kubernetes-int-or-string'] === true) return 'quantity';
  if (textAt(schema, 'type') === 'array') return `list of ${typeOf(items)}`;
  const values = schema['additionalProperties'];
  if (isJson(values)) return `map of ${typeOf(values)}`;
  return textAt(schema, 'format') === 'date-time' ? 'time' : (textAt(schema, 'type') ?? '');
}

/** What a value has to fulfil, in the words of the API server's refusals. */
function rulesOf(schema: Json): string {
  const { minimum, maximum } = schema;
  const choices = listAt(schema, 'enum').length > 0 ? schema : objectAt(schema, 'items');
  const range =
    minimum === undefined && maximum === undefined ? '' : `${minimum ?? ''} to ${maximum ?? ''}`;
  const messages = listAt(schema, 'x-kubernetes-validations').map((each) =>
    cell(textAt(each, 'message') ?? ''),
  );
  return [
    listAt(choices, 'enum')
      .map((each) => code(String(each)))
      .join(', '),
    range === 'undefined' ? '' : range.replace(/^(\d+) to $/, 'at least $1'),
    ...messages,
  ]
    .filter((each) => each !== '')
    .join('; ');
}

function standardOf(schema: Json): string {
  const standard = schema['default'];
  if (standard === undefined || isJson(standard)) return '';
  return code(typeof standard === 'string' ? standard : JSON.stringify(standard));
}

function row(
  { kind, meanings: known }: Page,
  { path, schema, isRequired }: Field,
): readonly string[] {
  const meaning = known[path];
  if (meaning === undefined) throw new Error(`${kind} ${path} has no meaning`);
  const required = isRequired ? ' (required)' : '';
  return [code(path) + required, typeOf(schema), meaning, standardOf(schema), rulesOf(schema)];
}

/** Parts of conditions, images and the like, which people read and do not write. */
function isDetail({ path }: Field): boolean {
  return /^status\.\w+(\[\])?\./.test(path);
}

function definitionOf(kind: string): Json {
  const found = customResourceDefinitions().find(
    ({ spec }) => textAt(spec, 'names', 'kind') === kind,
  );
  if (found === undefined) throw new Error(`there is no definition of ${kind}`);
  return found.spec;
}

/** docs/reference/nodepool.md and its like. */
export function fieldsPage(page: Page): string {
  const spec = definitionOf(page.kind);
  const [version] = listAt(spec, 'versions');
  const properties = objectAt(version, 'schema', 'openAPIV3Schema', 'properties');
  const columns = ['field', 'type', 'meaning', 'default', 'has to be'];
  const [fields, status] = ['spec', 'status'].map((part) =>
    fieldsOf(part, objectAt(properties, part)).filter((each) => !isDetail(each)),
  );
  const unused = Object.keys(page.meanings).filter(
    (path) => ![...(fields ?? []), ...(status ?? [])].some((each) => each.path === path),
  );
  if (unused.length > 0) throw new Error(`${page.kind} has no ${unused.join(', ')}`);
  const names = listAt(spec, 'names', 'shortNames').map((each) => code(String(each)));
  const short = names.length === 0 ? '' : ` Short names for kubectl: ${names.join(', ')}.`;
  const version1 = `${textAt(spec, 'group')}/${textAt(version, 'name')}`;
  const rules = rulesOf(objectAt(properties, 'spec'));
  return pageOf([
    ...heading(page.kind, 'shared/api'),
    `${page.says} Its API version is ${code(version1)}.${short}`,
    '',
    'The fields are Karpenter’s. An unknown field is an error in `joiner simulate` and `joiner plan -f`, and is',
    'removed by the API server.',
    '',
    '## Spec',
    '',
    ...(rules === '' ? [] : [`The spec as a whole: ${rules}.`, '']),
    ...table(
      columns,
      (fields ?? []).map((each) => row(page, each)),
    ),
    '## Status',
    '',
    ...table(
      columns.slice(0, 3),
      (status ?? []).map((each) => row(page, each).slice(0, 3)),
    ),
  ]);
}
