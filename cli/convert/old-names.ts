import { isJson, type Json } from '../../shared/sim/json.ts';
import { RENAMED } from './metadata.ts';
import type { Note } from './part.ts';

/** Names of Karpenter's that v1 does not know, in objects that go through as they are. */
export function oldNames(object: Json): readonly Note[] {
  return namesBelow(object, '');
}

function namesBelow(value: unknown, path: string): readonly Note[] {
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => namesBelow(each, `${path}[${index}]`));
  }
  if (typeof value === 'string') return renamed(value, path);
  if (!isJson(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const field = path === '' ? key : `${path}.${key}`;
    return [...renamed(key, field), ...namesBelow(each, field)];
  });
}

function renamed(name: string, field: string): readonly Note[] {
  if (!Object.hasOwn(RENAMED, name)) return [];
  const message = `${name} has no meaning in v1: write ${RENAMED[name]}`;
  return [{ field, message }];
}
