import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * The SDK describes all shapes of a service in one module of its client, as plain lists:
 * `[kind, namespace, name, traits, …]`, see StaticSchema of `@smithy/types`. A handler needs few of
 * them, and of those few members. This writes the module anew so that a bundler can leave out the
 * rest: no computed keys, no register of errors, and only members whose names occur in our sources.
 */

type Traits = number | Readonly<Record<string, unknown>>;
/** A number or text stands for a simple type; functions put off what is declared later. */
type Reference = number | string | Shape | (() => Reference) | Pair;
type Pair = readonly [Reference, Traits];
type Shape = readonly unknown[];

/** Of a structure. */
interface Member {
  readonly name: string;
  readonly type: Reference;
  readonly isRequired: boolean;
}

const KIND = { simple: 0, list: 1, map: 2, structure: 3, union: 4, error: -3, operation: 9 };

/** Bit of `idempotencyToken` in traits: the SDK itself sets such a member. */
const TOKEN_BIT = 4;

/** The module `schemas_0` of a client with all that its package exports. */
export function prunedSchemas(
  exported: Readonly<Record<string, unknown>>,
  source: string,
  words: ReadonlySet<string>,
): string {
  const writer = new SchemaWriter(exported, words);
  const body = writer.write();
  const [, base = ''] = /import \{ (\w+ServiceException) \} from/.exec(source) ?? [];
  const [, namespace = ''] = /^const _s = "([^"]+)";$/m.exec(source) ?? [];
  if (base === '' || namespace === '') throw new Error('schemas of an unknown form');
  return [
    "import { TypeRegistry } from '@smithy/core/schema';",
    `import { ${base} } from '../models/${base}';`,
    NAMES,
    STRUCTURE,
    ...body,
    // An error that is not described becomes this one, with AWS's code as its name.
    `const registry = /* @__PURE__ */ (() => {
      const made = new TypeRegistry(${JSON.stringify(namespace)});
      made.registerError(${base}$, ${base});
      return made;
    })();`,
    'export const errorTypeRegistries = [registry];',
  ].join('\n');
}

const NAMES = 'const names = (of, ec2QueryName, xmlName) => [of, { ec2QueryName, xmlName }];';

/** Most members of EC2 have their own name in questions, and the same in small in answers. */
const STRUCTURE = `const structure = (namespace, name, traits, members, types, ...required) => {
  const small = (member) => member[0].toLowerCase() + member.slice(1);
  const whole = (type, at) =>
    Array.isArray(type) ? type : names(type, members[at], small(members[at]));
  return [${KIND.structure}, namespace, name, traits, members, types.map(whole), ...required];
};`;

class SchemaWriter {
  private readonly names = new Map<unknown, string>();
  private readonly namespaces = new Map<string, string>();
  private readonly lines: string[] = [];
  private readonly words: ReadonlySet<string>;

  constructor(exported: Readonly<Record<string, unknown>>, words: ReadonlySet<string>) {
    this.words = words;
    for (const [name, shape] of Object.entries(exported)) {
      if (name.endsWith('$') && Array.isArray(shape)) this.names.set(shape, name);
    }
  }

  write(): readonly string[] {
    for (const [shape, name] of [...this.names]) {
      this.lines.push(`export var ${name} = ${this.shape(shape as Shape)};`);
    }
    const constants = [...this.namespaces].map(
      ([namespace, name]) => `const ${name} = ${JSON.stringify(namespace)};`,
    );
    return [...constants, ...this.lines];
  }

  private shape(shape: Shape): string {
    const [kind, namespace, name, traits] = shape;
    const head = [kind, this.namespace(String(namespace)), JSON.stringify(name), text(traits)];
    if (kind === KIND.structure || kind === KIND.union || kind === KIND.error) {
      const kept = this.kept(shape);
      if (kind === KIND.structure && kept.some(({ name: each, type }) => isOwnName(each, type))) {
        const parts = [...head.slice(1), ...this.members(kept, 'own names')];
        return `/* @__PURE__ */ structure(${parts.join(', ')})`;
      }
      return `[${[...head, ...this.members(kept, 'as they are')].join(', ')}]`;
    }
    const references = shape.slice(4).map((each) => this.reference(each as Reference));
    return `[${[...head, ...references].join(', ')}]`;
  }

  private kept(shape: Shape): readonly Member[] {
    const names = shape[4] as readonly string[];
    const types = shape[5] as readonly Reference[];
    const required = typeof shape[6] === 'number' ? shape[6] : 0;
    return names.flatMap((name, at) => {
      const type = types[at] ?? 0;
      const isKept = this.words.has(name) || isToken(type);
      return isKept ? [{ name, type, isRequired: at < required }] : [];
    });
  }

  /** Names, types, and how many of the first are required. */
  private members(kept: readonly Member[], form: 'own names' | 'as they are'): readonly string[] {
    const types = kept.map(({ name, type }) => {
      if (form === 'as they are') return this.reference(type);
      if (isOwnName(name, type)) return this.reference(type[0]);
      // What has no traits says so, where a bare type is one with its own name.
      return isPair(type) ? this.reference(type) : `[${this.reference(type)}, 0]`;
    });
    const count = kept.filter(({ isRequired }) => isRequired).length;
    return [
      JSON.stringify(kept.map(({ name }) => name)),
      `[${types.join(', ')}]`,
      ...(count === 0 ? [] : [String(count)]),
    ];
  }

  private reference(reference: Reference): string {
    if (typeof reference === 'number' || typeof reference === 'string') return text(reference);
    if (typeof reference === 'function') return this.reference(reference());
    if (isPair(reference)) return member(this.reference(reference[0]), reference[1]);
    return `() => ${this.nameOf(reference)}`;
  }

  /** Lists and simple types have no name of their own in what the package exports. */
  private nameOf(shape: Shape): string {
    const known = this.names.get(shape);
    if (known !== undefined) return known;
    const name = `local${this.names.size}`;
    this.names.set(shape, name);
    this.lines.push(`var ${name} = ${this.shape(shape)};`);
    return name;
  }

  private namespace(namespace: string): string {
    const name = this.namespaces.get(namespace) ?? `n${this.namespaces.size}`;
    this.namespaces.set(namespace, name);
    return name;
  }
}

/** Most members of EC2 have two names more; with those written once the rest is short. */
function member(of: string, traits: Traits): string {
  const names = twoNames(traits);
  if (names === undefined) return `[${of}, ${text(traits)}]`;
  return `/* @__PURE__ */ names(${of}, ${text(names.query)}, ${text(names.xml)})`;
}

/** Of traits that are these two names and no more. */
function twoNames(traits: Traits): { readonly query: unknown; readonly xml: unknown } | undefined {
  if (typeof traits === 'number') return undefined;
  const { ec2QueryName: query, xmlName: xml, ...rest } = traits;
  if (query === undefined || xml === undefined || Object.keys(rest).length > 0) return undefined;
  return { query, xml };
}

/** Its own name in questions, and the same in small in answers. */
function isOwnName(name: string, type: Reference): type is Pair {
  const names = isPair(type) ? twoNames(type[1]) : undefined;
  return names?.query === name && names.xml === `${name[0]?.toLowerCase()}${name.slice(1)}`;
}

/** A type with traits; shapes have more than two parts. */
function isPair(reference: Reference): reference is Pair {
  return Array.isArray(reference) && reference.length === 2;
}

function isToken(type: Reference): boolean {
  if (!isPair(type)) return false;
  const [, traits] = type;
  return typeof traits === 'number' ? (traits & TOKEN_BIT) !== 0 : 'idempotencyToken' in traits;
}

function text(value: unknown): string {
  return JSON.stringify(value);
}

/** Every word of the TypeScript files below the folders: what is read or written by name is one. */
export function wordsOf(folders: readonly string[]): ReadonlySet<string> {
  const words = new Set<string>();
  for (const folder of folders) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      for (const [word] of readFileSync(join(folder, file), 'utf8').matchAll(/\w+/g)) {
        words.add(word);
      }
    }
  }
  return words;
}

const require = createRequire(import.meta.url);

/** The module anew, from its path inside `@aws-sdk/client-…`. */
export function prunedModule(path: string, words: ReadonlySet<string>): string {
  const [, client] = /(@aws-sdk[\\/]client-[\w-]+)[\\/]/.exec(path) ?? [];
  if (client === undefined) throw new Error(`${path} is not of a client of the SDK`);
  const exported: unknown = require(client.replaceAll('\\', '/'));
  return prunedSchemas(exported as Record<string, unknown>, readFileSync(path, 'utf8'), words);
}
