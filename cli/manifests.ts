import { show } from '../shared/api/read.ts';
import { isJson, type Json, listAt, textAt } from '../shared/sim/json.ts';
import { type Foreign, foreignKind } from './foreign.ts';
import { type FoundFile, labelOf, textOf } from './manifest-files.ts';
import { withMarkers } from './simulate/json-documents.ts';
import type { Substitution } from './simulate/variables.ts';
import { isTemplate, readYaml, type YamlDocument } from './simulate/yaml-text.ts';

/** An object of a file, and where it stands there. */
export interface Manifest {
  readonly object: Json;
  /** The document as it is written; undefined for an item of a list. */
  readonly text: string | undefined;
  /** `file:line: kind/name` of a field of the object; of the object itself where none is given. */
  readonly place: (path?: string) => string;
}

export function nameOf(object: Json): string {
  return `${textAt(object, 'kind') ?? '?'}/${textAt(object, 'metadata', 'name') ?? '?'}`;
}

/** What reading finds beside manifests. */
export interface Finding {
  readonly problems: string[];
  /** Files of a folder that hold something else. */
  readonly foreign: Foreign[];
  /** What a command reads beside manifests, as an object with a kind; undefined: it does not. */
  readonly named?: (object: Json) => Json | undefined;
}

/** The objects of one file; a file of a folder may hold something else. */
export function manifestsOf(
  { file: path, name, isGiven }: FoundFile,
  { problems, foreign, named }: Finding,
  value?: Substitution,
): readonly Manifest[] {
  const file = labelOf(path);
  const text = withMarkers(textOf(path, problems));
  const leaveOut = (kind: string): readonly Manifest[] => {
    foreign.push({ kind, name });
    return [];
  };
  if (isTemplate(text)) return template();
  const wrong: string[] = [];
  const documents = readYaml(file, text, wrong, value === undefined ? {} : { value });
  // What does not so much as speak of a kind was never meant as a manifest.
  if (wrong.length > 0 && !isGiven && !/\bkind\b/.test(text)) return leaveOut(foreignKind(name));
  problems.push(...wrong);
  const manifests = documents.flatMap((document) =>
    objectsOf(file, document, { problems, other, named }),
  );
  const isUnnamed = text.includes('{{') && manifests.some(({ object }) => hasTemplateName(object));
  return isUnnamed ? template() : manifests;

  function template(): readonly Manifest[] {
    if (!isGiven) return leaveOut('template with {{ }}');
    const broken: string[] = [];
    readYaml(file, text, broken);
    problems.push(
      `${file}: is a template with {{ }}, no manifest: helm template CHART | joiner … -`,
      ...broken.slice(0, 1),
    );
    return [];
  }

  function other(problem: string): void {
    if (isGiven) problems.push(problem);
    else leaveOut(foreignKind(name));
  }
}

function hasTemplateName(object: Json): boolean {
  return textAt(object, 'metadata', 'name')?.includes('{{') === true;
}

/** What becomes of an object that is no manifest. */
interface Sinks {
  readonly problems: string[];
  readonly other: (problem: string) => void;
  readonly named: Finding['named'];
}

/** The objects of a document; lists are opened. */
function objectsOf(
  file: string,
  { value, lineOf, text }: YamlDocument,
  { problems, other, named }: Sinks,
): readonly Manifest[] {
  return itemsOf(value).flatMap(({ object: found, start }): readonly Manifest[] => {
    const object = isJson(found) ? (named?.(found) ?? found) : found;
    const at = (path = ''): string =>
      `${file}:${lineOf([start, path].filter((each) => each !== '').join('.'))}`;
    if (!isJson(object)) other(`${at()}: a Kubernetes object is expected`);
    else if (isMeant(object)) {
      const place = (path?: string): string => `${at(path)}: ${nameOf(object)}`;
      if (textAt(object, 'kind') !== undefined) {
        return [{ object, text: start === '' ? text : undefined, place }];
      }
      problems.push(`${at()}: ${noKind(object)}`);
    } else other(`${at()}: ${whatLacks(object)}`);
    return [];
  });
}

/** Whether it was written as an object, although it may lack its kind or its version. */
function isMeant(object: Json): boolean {
  const kind = textAt(object, 'kind');
  const version = textAt(object, 'apiVersion');
  if (kind !== undefined && version !== undefined) return true;
  const isNamed = textAt(object, 'metadata', 'name') !== undefined;
  return isNamed && (kind !== undefined || version !== undefined);
}

interface Item {
  readonly object: unknown;
  /** The field where it stands; empty for the document itself. */
  readonly start: string;
}

/** What a List holds, and what a list of one kind holds, such as a ConfigMapList. */
function itemsOf(value: unknown, start = ''): readonly Item[] {
  const kind = textAt(value, 'kind') ?? '';
  const isList = isJson(value) && kind.endsWith('List') && Array.isArray(value['items']);
  if (!isList) return [{ object: value, start }];
  const own = kind.slice(0, -'List'.length);
  const version = textAt(value, 'apiVersion');
  return listAt(value, 'items').flatMap((item, index) => {
    const at = start === '' ? `items[${index}]` : `${start}.items[${index}]`;
    // The API server leaves kind and version to the list.
    const isBare = isJson(item) && own !== '' && item['kind'] === undefined;
    return itemsOf(isBare ? { apiVersion: version, kind: own, ...item } : item, at);
  });
}

function whatLacks(object: Json): string {
  return textAt(object, 'kind') === undefined ? noKind(object) : 'no apiVersion in this document';
}

function noKind(object: Json): string {
  const { kind } = object;
  if (kind !== undefined && kind !== null) return `kind must be a string, not ${show(kind)}`;
  const fields = Object.keys(object).slice(0, 5).join(', ');
  return `no kind in this document${fields === '' ? '' : `; it has ${fields}`}`;
}
