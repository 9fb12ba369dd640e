import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  parseAllDocuments,
  visit,
  type YAMLError,
} from 'yaml';
import { isNamed, plainValue, type Substitution, substituted } from './variables.ts';

/** One document of a YAML text, with where its fields stand. */
export interface YamlDocument {
  readonly value: unknown;
  /** The line of a field path such as `spec.taints[0].key`, or of what is there of it. */
  readonly lineOf: (path: string) => number;
  /** The document as it is written, without its markers and directives. */
  readonly text: string;
}

/** How a text is read. */
export interface Reading {
  /** What stands for `${NAME}`; undefined: it is text. */
  readonly value?: Substitution;
}

/** What is wrong with the text itself, without the place and the quotation that follow it. */
function reason({ message }: YAMLError): string {
  const [first = message] = message.split('\n');
  return first.replace(/ at line \d+, column \d+:?$/, '').trimEnd();
}

function placeOf(file: string, { linePos }: YAMLError): string {
  const [at] = linePos ?? [];
  return at === undefined ? file : `${file}:${at.line}:${at.col}`;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) && node.range ? node.range[0] : undefined;
}

/** The rest of the path behind a key, or undefined where it is not the path's next field. */
function restBehind(path: string, { key }: Pair): string | undefined {
  const name = isScalar(key) ? String(key.value) : '';
  if (name === '' || !path.startsWith(name)) return undefined;
  const rest = path.slice(name.length);
  if (rest === '' || rest.startsWith('[')) return rest;
  return rest.startsWith('.') ? rest.slice(1) : undefined;
}

/** Keys may hold dots: the longest one that the path begins with is meant. */
function pairAt(pairs: readonly Pair[], path: string): readonly [Pair, string] | undefined {
  let best: readonly [Pair, string] | undefined;
  for (const pair of pairs) {
    const rest = restBehind(path, pair);
    if (rest !== undefined && (best === undefined || rest.length < best[1].length)) {
      best = [pair, rest];
    }
  }
  return best;
}

/** Where the deepest part of the path that exists begins. */
function offsetOf(document: Document.Parsed, from: unknown, path: string, above: number): number {
  const node = isAlias(from) ? from.resolve(document) : from;
  if (path === '') return above;
  if (isSeq(node)) {
    const [whole = '', index] = /^\[(\d+)\]\.?/.exec(path) ?? [];
    const item = index === undefined ? undefined : node.items[Number(index)];
    if (item === undefined) return above;
    return offsetOf(document, item, path.slice(whole.length), startOf(item) ?? above);
  }
  if (!isMap(node)) return above;
  const found = pairAt(node.items, path);
  if (found === undefined) return above;
  const [{ key, value }, rest] = found;
  return offsetOf(document, value, rest, startOf(key) ?? above);
}

/** Everything between the document before and the end of this one. */
function ownText(text: string, from: number, document: Document.Parsed<ParsedNode>): string {
  const [, , end] = document.range ?? [0, 0, text.length];
  const lines = text.slice(from, end).split('\n');
  const marker = /^(---(?=\s|$)|\.\.\.(?=\s|$)|%.*$)[ \t]*/;
  const first = lines.findIndex((line) => line.startsWith('---'));
  return lines
    .map((line, at) => (at <= first || line.startsWith('...') ? line.replace(marker, '') : line))
    .join('\n')
    .trim();
}

/** Puts values in, in strings only: keys, comments and everything around them stay as they are. */
function fill(document: Document.Parsed<ParsedNode>, value: Substitution): void {
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string') return;
      const text = substituted(node.value, value);
      if (text === node.value) return;
      node.value = node.type === 'PLAIN' ? plainValue(text) : text;
    },
  });
}

/** What is wrong with a document; a name without a value breaks flow lists. */
function syntaxProblems(
  file: string,
  text: string,
  errors: readonly YAMLError[],
): readonly string[] {
  const lines = text.split('\n');
  return errors.map((error) => {
    const said = `${placeOf(file, error)}: ${reason(error)}`;
    const [at] = error.linePos ?? [];
    const name = /\$\{\w+\}/.exec(lines[(at?.line ?? 0) - 1] ?? '')?.[0];
    return name === undefined ? said : `${said} (the line holds ${name})`;
  });
}

function read(
  file: string,
  text: string,
  from: number,
  document: Document.Parsed<ParsedNode>,
  { value: put }: Reading,
  problems: string[],
): readonly YamlDocument[] {
  problems.push(...syntaxProblems(file, text, document.errors));
  const { contents } = document;
  if (document.errors.length > 0 || contents === null) return [];
  const start = startOf(contents) ?? 0;
  const lineOf = (path: string): number => lineAt(text, offsetOf(document, contents, path, start));
  if (put !== undefined) fill(document, put);
  try {
    const value: unknown = document.toJS();
    return value === null ? [] : [{ value, lineOf, text: ownText(text, from, document) }];
  } catch (error) {
    // Aliases that nothing defines, or that would grow into gigabytes.
    const why = error instanceof Error ? error.message : String(error);
    problems.push(`${file}:${lineAt(text, start)}: cannot be read: ${why}`);
    return [];
  }
}

/** A key that is a list or a map, which no manifest has: what `{{ }}` without quotes is in YAML. */
function hasOddKey(document: Document.Parsed<ParsedNode>): boolean {
  let isOdd = false;
  visit(document, {
    Pair(_, { key }) {
      if (!isMap(key) && !isSeq(key)) return undefined;
      isOdd = true;
      return visit.BREAK;
    },
  });
  return isOdd;
}

/** Whether a text is a template that makes YAML, such as a file of a Helm chart, and none itself. */
export function isTemplate(text: string): boolean {
  if (!text.includes('{{')) return false;
  const documents = parsed(text);
  return documents.some((each) => each.errors.length > 0 || hasOddKey(each));
}

function parsed(text: string): readonly Document.Parsed<ParsedNode>[] {
  // kubectl reads YAML 1.1, where `<<` merges what an alias stands for; in 1.2 it is a field.
  const documents = parseAllDocuments(text, { logLevel: 'error', merge: true });
  return Array.isArray(documents) ? documents : [];
}

function isBroken(documents: readonly Document.Parsed<ParsedNode>[]): boolean {
  return documents.some(({ errors }) => errors.length > 0);
}

/** The documents of a text that hold anything; what is wrong with others is added to `problems`. */
export function readYaml(
  file: string,
  written: string,
  problems: string[],
  reading: Reading = {},
): readonly YamlDocument[] {
  let text = written;
  let documents = parsed(text);
  const { value } = reading;
  // `[${NAME}]` is YAML only once the value is there.
  if (value !== undefined && isBroken(documents) && isNamed(text, value)) {
    text = substituted(text, value);
    documents = parsed(text);
  }
  return documents.flatMap((document, index) => {
    const from = documents[index - 1]?.range[2] ?? 0;
    return read(file, text, from, document, reading, problems);
  });
}
