import { XmlShapeDeserializer } from '@aws-sdk/core/protocols';
import type { NormalizedSchema } from '@smithy/core/schema';
import type { Operation } from './operation.ts';
import { SERVICES, type ServiceName } from './operations.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Call {
  readonly operation: Operation;
  readonly input: Fields;
}

/** `LaunchTemplateConfigs.1.Version` → `{ LaunchTemplateConfigs: { 1: { Version } } }`. */
interface Tree {
  [key: string]: Tree | string;
}

function treeOf(form: URLSearchParams): Tree {
  const root: Tree = Object.create(null);
  for (const [path, value] of form) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    let node = root;
    for (const key of keys) {
      const next = node[key];
      const child: Tree = typeof next === 'object' ? next : Object.create(null);
      node[key] = child;
      node = child;
    }
    node[last] = value;
  }
  return root;
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function readScalar(schema: NormalizedSchema, text: string): unknown {
  if (schema.isBooleanSchema()) return text === 'true';
  if (schema.isNumericSchema()) return Number(text);
  if (schema.isTimestampSchema()) return new Date(text);
  if (schema.isBlobSchema()) return Buffer.from(text, 'base64');
  return text;
}

function inOrder(node: Tree): readonly (Tree | string)[] {
  const keys = Object.keys(node).sort((a, b) => Number(a) - Number(b));
  return keys.flatMap((key) => node[key] ?? []);
}

/** The inverse of the SDK's query serialisers. */
function readForm(schema: NormalizedSchema, node: Tree | string, isEc2: boolean): unknown {
  if (typeof node === 'string') {
    return schema.isListSchema() ? [] : readScalar(schema, node);
  }
  if (schema.isListSchema()) {
    const traits = schema.getValueSchema().getMergedTraits();
    const isFlat = isEc2 || schema.getMergedTraits().xmlFlattened !== undefined;
    const list = isFlat ? node : node[String(traits.xmlName ?? 'member')];
    if (typeof list !== 'object') return [];
    return inOrder(list).map((each) => readForm(schema.getValueSchema(), each, isEc2));
  }
  const fields: Record<string, unknown> = {};
  for (const [name, member] of schema.structIterator()) {
    const { xmlName, ec2QueryName } = member.getMergedTraits();
    const plain = String(xmlName ?? name);
    const key = isEc2 ? String(ec2QueryName ?? upperFirst(plain)) : plain;
    const value = node[key];
    if (value !== undefined) fields[name] = readForm(member, value, isEc2);
  }
  return fields;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function operationNamed(service: ServiceName, name: string): Operation {
  const operation = SERVICES[service].operations.get(name);
  if (operation === undefined) throw new Error(`${service} has no operation "${name}"`);
  return operation;
}

function readQuery(service: ServiceName, request: HttpRequest): Call {
  const form = new URLSearchParams(request.body.toString('utf8'));
  const operation = operationNamed(service, form.get('Action') ?? '');
  const input = readForm(operation.input, treeOf(form), service === 'ec2');
  return { operation, input: isFields(input) ? input : {} };
}

function readJson(service: ServiceName, request: HttpRequest): Call {
  const [, name = ''] = (request.headers['x-amz-target'] ?? '').split('.');
  const input: unknown = JSON.parse(request.body.toString('utf8'));
  return { operation: operationNamed(service, name), input: isFields(input) ? input : {} };
}

/** The labels of a path template where it matches; `{Key+}` takes the rest of the path. */
function matchPath(template: string, path: string): Fields | undefined {
  const names: string[] = [];
  const pattern = template.replaceAll(/\{(\w+)(\+?)\}/g, (_, name: string, rest: string) => {
    names.push(name);
    return rest === '+' ? '(.+)' : '([^/]+)';
  });
  const match = new RegExp(`^${pattern}/?$`).exec(path);
  if (match === null) return undefined;
  return Object.fromEntries(
    names.map((name, at) => [name, decodeURIComponent(match[at + 1] ?? '')]),
  );
}

function queryMatches(template: string, url: URL): boolean {
  return [...new URLSearchParams(template)].every(([key, value]) =>
    value === '' ? url.searchParams.has(key) : url.searchParams.get(key) === value,
  );
}

const XML = new XmlShapeDeserializer({
  httpBindings: true,
  serviceNamespace: 'com.amazonaws.s3',
  timestampFormat: { useTrait: true, default: 5 },
  xmlNamespace: 'http://s3.amazonaws.com/doc/2006-03-01/',
});

function readXml(schema: NormalizedSchema, body: Buffer): unknown {
  return XML.read(schema, body);
}

function bodyFields(operation: Operation, request: HttpRequest): Fields {
  for (const [name, member] of operation.input.structIterator()) {
    if (member.getMergedTraits().httpPayload === undefined) continue;
    return { [name]: member.isStructSchema() ? readXml(member, request.body) : request.body };
  }
  if (request.body.length === 0 || operation.http?.[0] === 'GET') return {};
  const json: unknown = JSON.parse(request.body.toString('utf8'));
  return isFields(json) ? json : {};
}

function boundFields(operation: Operation, request: HttpRequest): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, member] of operation.input.structIterator()) {
    const { httpHeader, httpQuery } = member.getMergedTraits();
    const text =
      httpHeader === undefined
        ? httpQuery === undefined
          ? null
          : request.url.searchParams.get(httpQuery)
        : (request.headers[httpHeader.toLowerCase()] ?? null);
    if (text !== null) fields[name] = readScalar(member, text);
  }
  return fields;
}

/** S3 is spoken to in path style: its bucket is no part of the SDK's templates. */
function readRest(service: ServiceName, request: HttpRequest): Call {
  const [, bucket = '', ...rest] = request.url.pathname.split('/');
  const path = service === 's3' ? `/${rest.join('/')}` : request.url.pathname;
  const candidates = [...SERVICES[service].operations.values()].flatMap((operation) => {
    const [method, template = ''] = operation.http ?? [];
    const [templatePath = '', query = ''] = template.split('?');
    if (method !== request.method || !queryMatches(query, request.url)) return [];
    const labels = matchPath(templatePath, path);
    return labels === undefined ? [] : [{ operation, labels, query }];
  });
  const [best] = candidates.sort((a, b) => b.query.length - a.query.length);
  if (best === undefined) throw new Error(`${service}: ${request.method} ${path} is unknown`);
  const { operation, labels } = best;
  const own = service === 's3' ? { Bucket: bucket } : {};
  const input = { ...bodyFields(operation, request), ...boundFields(operation, request) };
  return { operation, input: { ...input, ...labels, ...own } };
}

export function readCall(service: ServiceName, request: HttpRequest): Call {
  switch (SERVICES[service].protocol) {
    case 'ec2Query':
    case 'awsQuery':
      return readQuery(service, request);
    case 'awsJson':
      return readJson(service, request);
    case 'restJson':
    case 'restXml':
      return readRest(service, request);
  }
}
