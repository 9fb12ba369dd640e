import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ReadableStream } from 'node:stream/web';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { PlainJson } from '../../infra/bundle/plain-json.ts';
import {
  type S3Endpoint,
  type S3EndpointParameters,
  s3Endpoint,
} from '../../infra/bundle/s3-endpoint.ts';
import { prunedModule, prunedSchemas } from '../../infra/bundle/schemas.ts';

const require = createRequire(import.meta.url);
const scratch = mkdtempSync(join(tmpdir(), 'joiner-parts-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** A module of a package, run on its own. */
async function run(source: string, resolveDir: string): Promise<Record<string, unknown>> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
  });
  const file = join(scratch, `${createHash('sha256').update(source).digest('hex')}.mjs`);
  await writeFile(file, outputFiles[0]?.contents ?? '');
  return await import(pathToFileURL(file).href);
}

describe('the rules of S3 that stand for the SDK’s', () => {
  const folder = join(
    dirname(require.resolve('@aws-sdk/client-s3/package.json')),
    'dist-es/endpoint',
  );
  const theirs = run("export * from './endpointResolver.js';", folder);
  const regions = ['us-east-1', 'eu-west-1', 'cn-north-1', 'us-gov-west-1', 'eu-isoe-west-1'];
  const buckets = ['joiner-demo', 'joiner.demo', 'Joiner_Demo', 'a1b', 'x'.repeat(63)];
  const places: readonly Partial<S3EndpointParameters>[] = [
    {},
    { ForcePathStyle: true },
    { Endpoint: 'http://127.0.0.1:8080', ForcePathStyle: true },
    { Endpoint: 'https://emulator.example/s3', ForcePathStyle: true },
    { Endpoint: 'https://emulator.example:444/s3/', ForcePathStyle: true },
  ];
  const cases = regions.flatMap((Region) =>
    buckets.flatMap((Bucket) => places.map((place) => ({ Region, Bucket, ...place }))),
  );

  it.each(cases)('say the same of %j', async (parameters) => {
    const resolve = (await theirs)['defaultEndpointResolver'] as typeof s3Endpoint;
    const plain = ({ url, properties, headers }: S3Endpoint) => ({
      url: url.href.replace(/\/$/, ''),
      properties,
      headers: headers ?? {},
    });
    expect(plain(s3Endpoint(parameters))).toEqual(plain(resolve(parameters)));
  });

  it.each([
    { UseFIPS: true, Bucket: 'a-bucket' },
    { UseDualStack: true, Bucket: 'a-bucket' },
    { Endpoint: 'https://emulator.example', Bucket: 'a-bucket' },
    { Bucket: 'arn:aws:s3:eu-west-1:111122223333:accesspoint/a' },
    { Bucket: 'directory--euw1-az1--x-s3' },
    {},
  ])('refuse %j', (parameters) => {
    expect(() => s3Endpoint({ Region: 'eu-west-1', ...parameters })).toThrow('part of this bundle');
  });
});

it('the class of streams that stands for what middy imports is the same', () => {
  expect(globalThis.ReadableStream).toBe(ReadableStream);
});

interface Writer {
  write(schema: unknown, value: unknown): void;
  flush(): string | Uint8Array;
}

describe('the JSON that stands for the SDK’s', () => {
  const folder = dirname(require.resolve('@smithy/core/package.json'));
  const inner = [3, 'ns', 'Inner', 0, ['Text', 'Number'], [0, 1]];
  const schema = [3, 'ns', 'Outer', 0, ['Name', 'Items'], [0, [1, 'ns', 'Inners', 0, () => inner]]];
  const theirs = run(
    "export * from './dist-es/submodules/protocols/json/codec-v2/JsonShapeSerializer2.js';",
    folder,
  );

  it.each([
    {},
    { Name: 'a' },
    { Name: 'quotes " and \\, lines \n, é and 🙂', Items: [] },
    { Name: undefined, Items: [{ Text: 'a', Number: 1.5 }, { Text: '{"kind":"tick"}' }] },
  ])('is the same of %j', async (value) => {
    const Theirs = (await theirs)['JsonShapeSerializer2'] as new (settings: object) => Writer;
    const settings = { jsonName: false, timestampFormat: { useTrait: true, default: 7 } };
    const both: readonly Writer[] = [new PlainJson(), new Theirs(settings)];
    const [plain, whole] = both.map((each) => {
      each.write(schema, value);
      const body = each.flush();
      return typeof body === 'string' ? body : new TextDecoder().decode(body);
    });
    expect(plain).toBe(whole);
  });

  it.each([{ a: new Date() }, { a: [new Uint8Array(1)] }, new Map()])('refuses %o', (value) => {
    expect(() => new PlainJson().write(undefined, value)).toThrow('only plain JSON');
  });
});

describe('schemas', () => {
  const STRING = 0;
  const inner = [3, 'ns', 'Inner', 0, ['Kept', 'Dropped'], [STRING, STRING]];
  const list = [1, 'ns', 'InnerList', 0, [() => inner, { xmlName: 'item' }]];
  const outer = [
    3,
    'ns',
    'Outer',
    0,
    ['Required', 'Dropped', 'Items', 'Token'],
    [STRING, STRING, [() => list, { ec2QueryName: 'Item', xmlName: 'itemSet' }], [STRING, 4]],
    2,
  ];
  const operation = [9, 'ns', 'Ask', 2, () => outer, () => 'unit'];
  const source = [
    'const _s = "smithy.ts.sdk.synthetic.ns";',
    'import { NsServiceException } from "../models/NsServiceException";',
  ].join('\n');

  it('keep the members that are named, their order, traits and how many are required', () => {
    const exported = { Outer$: outer, Inner$: inner, Ask$: operation, notASchema: 1 };
    const words = new Set(['Required', 'Items', 'Kept']);
    expect(prunedSchemas(exported, source, words).split('\n').slice(-6)).toMatchInlineSnapshot(`
      [
        "const registry = /* @__PURE__ */ (() => {",
        "      const made = new TypeRegistry("smithy.ts.sdk.synthetic.ns");",
        "      made.registerError(NsServiceException$, NsServiceException);",
        "      return made;",
        "    })();",
        "export const errorTypeRegistries = [registry];",
      ]
    `);
  });

  it('of an unknown form are refused', () => {
    expect(() => prunedSchemas({}, '', new Set())).toThrow('unknown form');
  });

  it('of a real client are those of the client, but for what nobody names', async () => {
    const path = require.resolve('@aws-sdk/client-ssm').replace('dist-cjs', 'dist-es');
    const file = join(dirname(path), 'schemas/schemas_0.js');
    const words = new Set(['Name', 'Parameter', 'Value']);
    const pruned = await run(prunedModule(file, words), dirname(file));
    const whole = require('@aws-sdk/client-ssm') as Record<string, readonly unknown[]>;
    const members = (schemas: Record<string, unknown>, name: string): unknown =>
      (schemas[name] as readonly unknown[])[4];
    expect(members(pruned, 'GetParameterRequest$')).toEqual(['Name']);
    expect(members(whole, 'GetParameterRequest$')).toEqual(['Name', 'WithDecryption']);
    expect(members(pruned, 'Parameter$')).toEqual(['Name', 'Value']);
    const names = Object.keys(whole).filter((name) => /^[A-Z]\w*\$$/.test(name));
    expect(names.length).toBeGreaterThan(100);
    expect(Object.keys(pruned)).toEqual(expect.arrayContaining(names));
  });

  it('of EC2 are the same in their short form, with every member named', async () => {
    const whole = require('@aws-sdk/client-ec2') as Record<string, unknown>;
    const path = require.resolve('@aws-sdk/client-ec2').replace('dist-cjs', 'dist-es');
    const file = join(dirname(path), 'schemas/schemas_0.js');
    const shapes = Object.entries(whole).filter(isShape);
    const words = new Set(shapes.flatMap(([, shape]) => (shape[4] as readonly string[]) ?? []));
    const source = prunedModule(file, words);
    expect(source).toContain('structure(');
    const pruned = await run(source, dirname(file));
    expect(shapes.length).toBeGreaterThan(1000);
    for (const [name, shape] of shapes) expect(plain(pruned[name])).toEqual(plain(shape));
  }, 60_000);
});

/** Structures and unions, which have members; of errors the bundle has one form only. */
function isShape(entry: readonly [string, unknown]): entry is [string, readonly unknown[]] {
  const [name, shape] = entry;
  return name.endsWith('$') && Array.isArray(shape) && (shape[0] === 3 || shape[0] === 4);
}

/** The members with their types; a type with traits of none is one without. */
function plain(shape: unknown): unknown {
  const [kind, namespace, name, traits, members, types, required] = shape as readonly unknown[];
  const all = (types as readonly unknown[]).map(typed);
  return { kind, namespace, name, traits, members, types: all, required: required ?? 0 };
}

function typed(type: unknown): unknown {
  if (typeof type === 'function') return typed(type());
  if (!Array.isArray(type)) return type;
  if (type.length === 2) return type[1] === 0 ? typed(type[0]) : [typed(type[0]), type[1]];
  const [kind, , name, traits, ...parts] = type;
  return kind === 1 || kind === 2 ? [kind, name, traits, ...parts.map(typed)] : name;
}
