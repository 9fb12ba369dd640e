import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Every schema of zod has all of zod's methods, so that a bundler keeps each check, format and
 * wrapper that any of them makes. This writes the module of schemas anew: what is called by name
 * neither in our sources nor within zod refuses, and what only that needs goes.
 */

/** A method in the tables of zod's classes, as the compiler prints it: its name, and its body. */
const METHOD =
  /^ {4}(?:(\w+): )?(?:async )?(?:function )?(\w+)\([^)]*\) \{\n(?: {8}.*\n)+? {4}\},$/gm;

/** As that looks, too. */
const KEYWORDS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'switch']);

/** Names of methods that a text calls, on whatever object. */
export function callsOf(text: string): readonly string[] {
  return [...text.matchAll(/\.(\w+)(?:<[^()]*>)?\(/g)].map(([, name = '']) => name);
}

/** Names of methods that the TypeScript files below the folders call. */
export function callsBelow(folders: readonly string[]): ReadonlySet<string> {
  return new Set(
    folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .flatMap((file) => callsOf(readFileSync(join(folder, file), 'utf8'))),
    ),
  );
}

/** Calls of zod's methods within zod: on `this`, and on what is being made. */
function ownCalls(path: string, source: string): readonly string[] {
  const core = join(dirname(path), '../core');
  const files = readdirSync(core).filter((file) => file.endsWith('.js'));
  const texts = [source, ...files.map((file) => readFileSync(join(core, file), 'utf8'))];
  return texts.flatMap((text) =>
    [...text.matchAll(/\b(?:this|inst|schema)\??\.(\w+)\(/g)].map(([, name = '']) => name),
  );
}

/** The module `zod/v4/classic/schemas.js` with methods of those names only; others refuse. */
export function calledMethods(
  source: string,
  called: ReadonlySet<string>,
  refusal: string,
): string {
  let count = 0;
  const written = source.replaceAll(METHOD, (whole, key: string | undefined, own: string) => {
    const name = key ?? own;
    if (KEYWORDS.has(name)) return whole;
    count += 1;
    return called.has(name) ? whole : `    ${name}() { refuse(); },`;
  });
  if (count === 0) throw new Error('the schemas of zod have methods of an unknown form');
  return `${plainUtil(written)}
function refuse() { throw new Error(${JSON.stringify(refusal)}); }`;
}

/**
 * A namespace that comes by way of another module is an object to esbuild, with everything in it.
 * https://github.com/evanw/esbuild/issues/1420
 */
function plainUtil(source: string): string {
  const line = 'import { util } from "../core/index.js";';
  if (!source.includes(line)) throw new Error(`the schemas of zod do not say: ${line}`);
  return source
    .replace(line, 'import * as util from "../core/util.js";')
    .replaceAll('core.util.', 'util.');
}

/** The module anew, from its path. */
export function zodSchemas(path: string, called: ReadonlySet<string>, refusal: string): string {
  const source = readFileSync(path, 'utf8');
  return calledMethods(source, new Set([...called, ...ownCalls(path, source)]), refusal);
}
