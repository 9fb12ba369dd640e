import { nearest } from '../../shared/contract/nearest.ts';
import { WELL_KNOWN_LABELS } from '../../shared/core/model/labels.ts';
import { isJson, type Json } from '../../shared/sim/json.ts';

/** The texts of a field and below it, keys too; paths are written as {@link unsetIn} writes them. */
function textsAt(value: unknown, path: string, at = ''): readonly string[] {
  if (typeof value === 'string') return at.startsWith(path) ? [value] : [];
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => textsAt(each, path, `${at}[${index}]`));
  }
  if (!isJson(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const field = at === '' ? key : `${at}.${key}`;
    return [...(field.startsWith(path) ? [key] : []), ...textsAt(each, path, field)];
  });
}

const QUANTITY = /^([0-9.]+) ?([a-z]+)$/i;

/** Suffixes as people write them, by what Kubernetes has for them. */
const SUFFIXES: Readonly<Record<string, string>> = {
  ki: 'Ki',
  mi: 'Mi',
  gi: 'Gi',
  ti: 'Ti',
  kib: 'Ki',
  mib: 'Mi',
  gib: 'Gi',
  tib: 'Ti',
  kb: 'k',
  mb: 'M',
  gb: 'G',
  tb: 'T',
  g: 'G',
};

/** `2G` for `2GB`, and `500m` for a CPU of `500mi`. */
function meantQuantity(text: string, path: string): string | undefined {
  const [, digits = '', suffix = ''] = QUANTITY.exec(text) ?? [];
  const lower = suffix.toLowerCase();
  if (path.endsWith('.cpu')) return lower.startsWith('m') ? `${digits}m` : undefined;
  const meant = SUFFIXES[lower];
  return meant === undefined ? undefined : `${digits}${meant}`;
}

/** What was probably meant by a value that is refused, such as ` (did you mean 2G?)`; else empty. */
export function suggestion(object: Json, path: string, message: string): string {
  const texts = textsAt(object, path);
  const meant = texts.flatMap((text) => {
    if (message.includes('must be a quantity')) return meantQuantity(text, path) ?? [];
    if (!message.startsWith('label domain') || WELL_KNOWN_LABELS.has(text)) return [];
    return nearest(text, WELL_KNOWN_LABELS) ?? [];
  });
  const [first] = meant;
  return first === undefined ? '' : ` (did you mean ${first}?)`;
}
