import { decodeSettings } from '../../shared/api/stack-settings.ts';
import { type StackSettings, stackSettings } from '../../shared/app/settings.ts';
import { meant } from '../../shared/contract/nearest.ts';
import { SETTING_KEYS, settingOf } from '../../shared/contract/settings.ts';
import { isJson, type Json, objectAt } from '../../shared/sim/json.ts';
import { BadInput } from '../bad-input.ts';
import { textOf } from '../manifest-files.ts';
import { issueText } from '../unknown-names.ts';
import { readYaml } from './yaml-text.ts';

/** Props of the stack that decisions go by, and the variables that functions read them from. */
const VARIABLES: ReadonlyMap<string, string> = new Map(
  SETTING_KEYS.filter((key) => settingOf(key).use === 'decisions').map((key) => [
    key,
    settingOf(key).variable,
  ]),
);

/** A value as a variable holds it: gates may be given as a map. */
function variable(value: unknown): string {
  if (!isJson(value)) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}=${String(each)}`)
    .join(',');
}

/** By variable; what is neither a prop nor a variable is a fault. */
function variablesIn(file: string, given: Json): Readonly<Record<string, string>> {
  const known = new Set<string>(VARIABLES.values());
  const nameOf = (key: string) => VARIABLES.get(key) ?? (known.has(key) ? key : undefined);
  const unknown = Object.keys(given).filter((key) => nameOf(key) === undefined);
  if (unknown.length > 0) {
    const valid = [...VARIABLES.keys()].join(', ');
    const near = (key: string) => meant(key, [...VARIABLES.keys(), ...known]);
    throw new BadInput(
      unknown.map((key) => `${file}: ${key} is not a setting${near(key)}; valid: ${valid}`),
    );
  }
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [nameOf(key) ?? key, variable(value)]),
  );
}

/**
 * Settings of a stack: a map by the names of its props, or the ConfigMap `joiner-settings` as
 * kubectl prints it. Throws {@link BadInput} that names every wrong one.
 */
export function readSettings(file: string): StackSettings {
  const problems: string[] = [];
  const [document, second] = readYaml(file, textOf(file, problems), problems);
  const value = document?.value ?? {};
  if (second !== undefined || !isJson(value)) {
    problems.push(`${file}: expected one map such as nodePrice: 0.01`);
  }
  if (problems.length > 0 || !isJson(value)) throw new BadInput(problems);
  // Of the stack's ConfigMap, which states what a newer version may know besides.
  const isStated = value['kind'] === 'ConfigMap';
  const stated = isStated ? objectAt(value, 'data') : variablesIn(file, value);
  const decoded = decodeSettings(stated);
  if (decoded.ok) return stackSettings(decoded.value);
  const propOf = (path: string) => [...VARIABLES].find(([, name]) => name === path)?.[0] ?? path;
  const line = (path: string) => document?.lineOf(path) ?? 1;
  throw new BadInput(
    decoded.issues.map((each) => {
      const prop = isStated ? `data.${each.path}` : propOf(each.path);
      return `${file}:${line(prop)}: ${issueText({ ...each, path: prop })}`;
    }),
  );
}
