import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { onlyWhatRuns, plainBuiltins } from '../../infra/bundle/parts.ts';
import { calledMethods, callsOf } from '../../infra/bundle/zod-methods.ts';
import { decodeCapacityBuffer } from '../../shared/api/capacity-buffer.ts';
import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import type { Decoded } from '../../shared/api/issue.ts';
import { decodeNodeClaim } from '../../shared/api/node-claim.ts';
import { decodeNodeOverlay } from '../../shared/api/node-overlay.ts';
import { decodeNodePool } from '../../shared/api/node-pool.ts';
import type { UnknownFields } from '../../shared/api/schema/decode.ts';
import { API_ROWS, type ApiRow } from '../builders/api-objects.ts';

const ROOT = join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);
const scratch = mkdtempSync(join(tmpdir(), 'joiner-zod-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** A module as the functions get it, run on its own. */
async function bundled(contents: string): Promise<Record<string, unknown>> {
  const outfile = join(mkdtempSync(join(scratch, 'bundle-')), 'index.mjs');
  await build({
    stdin: { contents, resolveDir: ROOT },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    plugins: [plainBuiltins(), onlyWhatRuns(ROOT, 'provision')],
  });
  return await import(pathToFileURL(outfile).href);
}

type Decode = (object: unknown, unknownFields?: UnknownFields) => Decoded<unknown>;

const DECODERS: Readonly<Record<ApiRow['kind'], Decode>> = {
  NodePool: decodeNodePool,
  NodeClaim: decodeNodeClaim,
  NodeOverlay: decodeNodeOverlay,
  EC2NodeClass: decodeEC2NodeClass,
  CapacityBuffer: decodeCapacityBuffer,
};

describe('objects of our kinds, in a bundle', () => {
  const theirs = bundled(`
    export { decodeCapacityBuffer as CapacityBuffer } from './shared/api/capacity-buffer.ts';
    export { decodeEC2NodeClass as EC2NodeClass } from './shared/api/ec2-node-class.ts';
    export { decodeNodeClaim as NodeClaim } from './shared/api/node-claim.ts';
    export { decodeNodeOverlay as NodeOverlay } from './shared/api/node-overlay.ts';
    export { decodeNodePool as NodePool } from './shared/api/node-pool.ts';
  `);

  it.each(Object.keys(DECODERS) as ApiRow['kind'][])(
    'are read as they are here: %s',
    async (kind) => {
      const decode = (await theirs)[kind] as Decode;
      const rows = API_ROWS.filter((row) => row.kind === kind);
      expect(rows.length).toBeGreaterThan(10);
      for (const { object } of rows) {
        for (const unknownFields of ['refuse', 'ignore'] as const) {
          const both = [decode, DECODERS[kind]].map((each) => each(object, unknownFields));
          expect(JSON.stringify(both[0])).toBe(JSON.stringify(both[1]));
        }
      }
    },
  );
});

describe('methods of schemas', () => {
  const classic = join(dirname(require.resolve('zod/package.json')), 'v4/classic/schemas.js');

  it('that nobody calls refuse in a bundle, and others work', async () => {
    const { z } = (await bundled("export * as z from 'zod';")) as { z: typeof import('zod') };
    expect(z.string().min(2).safeParse('a').success).toBe(false);
    expect(() => z.string().nanoid()).toThrow('this part of a package is not in the bundle');
  });

  it('are told by how they are called', () => {
    const text =
      "z.string().min(1)\n  .regex(/a/); schema?.pick({}); z.record<K, V>(k); min; '.max'";
    expect(callsOf(text)).toEqual(['string', 'min', 'regex', 'pick', 'record']);
  });

  it('are written anew where they are not called, whatever else the module has', () => {
    const source = [
      'import { util } from "../core/index.js";',
      'export const A = core.$constructor("A", (inst, def) => {',
      '    if (def.kept) {',
      '        core.util.own(inst, "kept", {});',
      '    }',
      '}, {',
      '    kept(a, b) {',
      '        return this.check(a, b);',
      '    },',
      '    parse: function _parse(data) {',
      '        return parse.parse(this, data);',
      '    },',
      '    async dropped(data) {',
      '        return parse.parse(this, data);',
      '    },',
      '    encode: async function _encode(data) {',
      '        return parse.encode(this, data);',
      '    },',
      '});',
    ].join('\n');
    expect(calledMethods(source, new Set(['kept', 'parse']), 'not here').split('\n')).toEqual([
      'import * as util from "../core/util.js";',
      'export const A = core.$constructor("A", (inst, def) => {',
      '    if (def.kept) {',
      '        util.own(inst, "kept", {});',
      '    }',
      '}, {',
      '    kept(a, b) {',
      '        return this.check(a, b);',
      '    },',
      '    parse: function _parse(data) {',
      '        return parse.parse(this, data);',
      '    },',
      '    dropped() { refuse(); },',
      '    encode() { refuse(); },',
      '});',
      'function refuse() { throw new Error("not here"); }',
    ]);
  });

  it('of an unknown form are refused when the bundle is made', () => {
    const source = readFileSync(classic, 'utf8');
    const called = new Set<string>();
    expect(() => calledMethods('export const A = 1;', called, '')).toThrow('unknown form');
    expect(() => calledMethods(source.replaceAll('    ', '  '), called, '')).toThrow(
      'unknown form',
    );
    expect(() => calledMethods(source.replace('{ util }', 'util'), called, '')).toThrow(
      'do not say',
    );
  });
});
