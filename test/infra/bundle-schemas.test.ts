import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
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
  });
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
