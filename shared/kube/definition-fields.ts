import { property } from './list.ts';

/** How the definition in the cluster relates to ours. */
export interface Comparison {
  /** Ours has them, the cluster's does not: the API server would drop their values. */
  readonly missing: readonly string[];
  /** The cluster's has them, ours does not: ours would make the API server drop their values. */
  readonly extra: readonly string[];
}

/**
 * Compares the fields of the versions that ours serves. Which of two definitions is the newer one
 * cannot be read off them; which fields each has can, and that is what decides.
 */
export function compareDefinitions(ours: unknown, theirs: unknown): Comparison {
  const missing: string[] = [];
  const extra: string[] = [];
  const known = schemas(theirs);
  for (const [version, schema] of schemas(ours)) {
    const other = known.get(version);
    if (other === undefined) {
      missing.push(version);
      continue;
    }
    const [mine, its] = [fieldsOf(schema), fieldsOf(other)];
    missing.push(...difference(mine, its).map((field) => `${version} ${field}`));
    extra.push(...difference(its, mine).map((field) => `${version} ${field}`));
  }
  return { missing, extra };
}

/** Versions that have stored objects and that ours does not know: it would lose them. */
export function lostVersions(ours: unknown, theirs: unknown): readonly string[] {
  const stored = property(property(theirs, 'status'), 'storedVersions');
  const known = schemas(ours);
  return list(stored)
    .map(String)
    .filter((version) => !known.has(version));
}

function schemas(definition: unknown): ReadonlyMap<string, unknown> {
  const versions = list(property(property(definition, 'spec'), 'versions'));
  return new Map(
    versions.map((version) => [
      String(property(version, 'name')),
      property(property(version, 'schema'), 'openAPIV3Schema'),
    ]),
  );
}

interface Fields {
  readonly paths: ReadonlySet<string>;
  /** Prefixes below which the API server keeps whatever it is given. */
  readonly open: readonly string[];
}

function fieldsOf(schema: unknown): Fields {
  const paths = new Set<string>();
  const open: string[] = [];
  const visit = (each: unknown, path: string): void => {
    if (property(each, 'x-kubernetes-preserve-unknown-fields') === true) open.push(path);
    for (const [name, below] of Object.entries(record(property(each, 'properties')))) {
      paths.add(`${path}${name}`);
      visit(below, `${path}${name}.`);
    }
    const items = property(each, 'items');
    if (items !== undefined) visit(items, path);
    const values = property(each, 'additionalProperties');
    if (typeof values === 'object') visit(values, `${path}*.`);
  };
  visit(schema, '');
  return { paths, open };
}

function difference(left: Fields, right: Fields): readonly string[] {
  return [...left.paths]
    .filter((field) => !right.paths.has(field))
    .filter((field) => !right.open.some((prefix) => field.startsWith(prefix)))
    .sort();
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
