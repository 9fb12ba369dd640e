import type { NormalizedSchema } from '@smithy/core/schema';
import type { Operation } from './operation.ts';
import { SERVICES, type ServiceName } from './operations.ts';
import type { Fields } from './request.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** A refusal as AWS words it. */
export class WireFault extends Error {
  override readonly name = 'WireFault';
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

function members(schema: NormalizedSchema, value: unknown): string {
  const fields = fieldsOf(value);
  let text = '';
  for (const [name, member] of schema.structIterator()) {
    const traits = member.getMergedTraits();
    const field = fields[name];
    if (field === undefined || traits.httpHeader !== undefined) continue;
    text += xml(member, field, member.getMemberTraits().xmlName ?? name);
  }
  return text;
}

/** A value as the SDK's XML deserialiser reads it. */
function xml(schema: NormalizedSchema, value: unknown, name: string): string {
  if (schema.isListSchema()) {
    const item = schema.getValueSchema();
    const isFlat = schema.getMergedTraits().xmlFlattened !== undefined;
    const itemName = isFlat ? name : (item.getMergedTraits().xmlName ?? 'member');
    const items = (Array.isArray(value) ? value : []).map((each) => xml(item, each, itemName));
    return isFlat ? items.join('') : element(name, items.join(''));
  }
  if (schema.isStructSchema()) return element(name, members(schema, value));
  if (schema.isMapSchema()) throw new Error(`maps in XML are not written: ${name}`);
  if (value instanceof Date) return element(name, value.toISOString());
  return element(name, escapeXml(String(value)));
}

/** JSON as AWS writes it: times in seconds since the epoch, blobs in base64. */
function json(value: unknown): unknown {
  if (value instanceof Date) return value.getTime() / 1000;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(json);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, json(each)]));
}

const XML = { 'content-type': 'text/xml' };
const JSON_TYPE = { 'content-type': 'application/x-amz-json-1.1' };

function restXml(operation: Operation, output: Fields): HttpResponse {
  const headers: Record<string, string> = {};
  let payload: Uint8Array | undefined;
  for (const [name, member] of operation.output.structIterator()) {
    const { httpHeader, httpPayload } = member.getMergedTraits();
    const value = output[name];
    if (value === undefined) continue;
    if (httpHeader !== undefined) {
      headers[httpHeader] = value instanceof Date ? value.toUTCString() : String(value);
    }
    if (httpPayload !== undefined && value instanceof Uint8Array) payload = value;
  }
  const status = operation.http?.[2] ?? 200;
  if (payload !== undefined) return { status, headers, body: payload };
  const content = members(operation.output, output);
  const body = content === '' ? '' : element(`${operation.name}Result`, content);
  return { status, headers: { ...headers, ...XML }, body };
}

export function writeOutput(
  service: ServiceName,
  operation: Operation,
  output: Fields,
): HttpResponse {
  const { name } = operation;
  const id = element('requestId', 'request');
  switch (SERVICES[service].protocol) {
    case 'ec2Query': {
      const body = element(`${name}Response`, id + members(operation.output, output));
      return { status: 200, headers: XML, body };
    }
    case 'awsQuery': {
      const result = element(`${name}Result`, members(operation.output, output));
      return { status: 200, headers: XML, body: element(`${name}Response`, result) };
    }
    case 'awsJson':
    case 'restJson':
      return { status: 200, headers: JSON_TYPE, body: JSON.stringify(json(output)) };
    case 'restXml':
      return restXml(operation, output);
  }
}

export function writeFault(service: ServiceName, fault: WireFault): HttpResponse {
  const { code, message, status } = fault;
  const content = element('Code', code) + element('Message', escapeXml(message));
  const error = element('Error', content);
  switch (SERVICES[service].protocol) {
    case 'ec2Query': {
      const body = element('Response', element('Errors', error));
      return { status, headers: XML, body };
    }
    case 'awsQuery':
      return { status, headers: XML, body: element('ErrorResponse', error) };
    case 'awsJson':
    case 'restJson': {
      const body = JSON.stringify({ __type: code, message });
      return { status, headers: { ...JSON_TYPE, 'x-amzn-errortype': code }, body };
    }
    case 'restXml':
      return { status, headers: XML, body: error };
  }
}
