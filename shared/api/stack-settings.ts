import { type Settings, settingOf, settingsBy } from '../contract/settings.ts';
import type { Decoded, Issue } from './issue.ts';

/**
 * The settings that variables state: a function's environment, or the data of a stack's ConfigMap.
 * What they do not state has its default; what else they state is not looked at. An issue's path is
 * its variable.
 */
export function decodeSettings(variables: unknown): Decoded<Settings> {
  const issues: Issue[] = [];
  const stated: object = Object(variables);
  const value = settingsBy((key) => {
    const { variable, kind, default: standard } = settingOf(key);
    const text: unknown = Reflect.get(stated, variable);
    if (text === undefined) return standard;
    const read = typeof text === 'string' ? kind.read(text) : { fault: 'must be a text' };
    if ('value' in read) return read.value;
    const { fault, known } = 'known' in read ? read : { ...read, known: undefined };
    const unknown = known === undefined ? {} : { unknown: { word: String(text), known } };
    issues.push({ path: variable, message: fault, ...unknown });
    return standard;
  });
  return issues.length === 0 ? { ok: true, value } : { ok: false, issues };
}
