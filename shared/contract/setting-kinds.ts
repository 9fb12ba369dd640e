import { FEATURE_GATES, type FeatureGate } from '../contract.ts';
import { durationText, parseDurationOrDaysMs } from '../core/duration.ts';
import {
  LIMIT_GROUPS_LIKE,
  LIMIT_GROUPS_RULES,
  limitGroupsOf,
  NO_LIMIT_GROUPS,
  sharedGroups,
} from '../core/limit-groups/limit-groups.ts';

/** A text as a setting's value, or what is wrong with it: "must be a whole number, not …". */
export type Reading<Value> =
  | { readonly value: Value }
  | {
      readonly fault: string;
      /** Where the value is one of a few words: these. */
      readonly known?: readonly string[];
    };

type KindName = 'count' | 'share' | 'money' | 'duration' | 'choice' | 'flag' | 'gates' | 'groups';

/** How the values of settings are read, checked and written. */
export interface SettingKind<Value, Name extends KindName = KindName> {
  readonly name: Name;
  /** The allowed values in words, e.g. `a whole number from 0 to 100`. */
  readonly words: string;
  /** Whether a prop may have this value; durations are in milliseconds. */
  accepts(value: unknown): boolean;
  /** The value of a variable, of a settings file, or of `-c`. */
  read(text: string): Reading<Value>;
  /** The text of a variable. */
  write(value: Value): string;
  /** The text that people write. */
  show(value: Value): string;
}

interface Parts<Value, Name extends KindName> {
  readonly name: Name;
  readonly words: string;
  /** Where the value is one of a few words: these. */
  readonly known?: readonly string[];
  readonly accepts: (value: unknown) => boolean;
  /** Undefined: the text has another form. */
  readonly parse: (text: string) => Value | undefined;
  readonly write: (value: Value) => string;
  /** As `write` where it is not given. */
  readonly show?: (value: Value) => string;
}

function kindOf<Value, Name extends KindName>({
  parse,
  ...parts
}: Parts<Value, Name>): SettingKind<Value, Name> {
  const read = (text: string): Reading<Value> => {
    const value = parse(text);
    if (value !== undefined && parts.accepts(value)) return { value };
    const fault = `must be ${parts.words}, not ${JSON.stringify(text)}`;
    return { fault, ...(parts.known === undefined ? {} : { known: parts.known }) };
  };
  return { show: parts.write, ...parts, read };
}

function isBetween(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

/** A whole number. */
export function count(min: number, max: number): SettingKind<number, 'count'> {
  return kindOf({
    name: 'count',
    words: `a whole number from ${min} to ${max}`,
    accepts: (value) => Number.isInteger(value) && isBetween(value, min, max),
    parse: (text) => (/^\d+$/.test(text) ? Number(text) : undefined),
    write: String,
  });
}

function decimal<Name extends 'share' | 'money'>(
  name: Name,
  max: number,
): SettingKind<number, Name> {
  return kindOf({
    name,
    words: `a number from 0 to ${max}`,
    accepts: (value) => isBetween(value, 0, max),
    parse: (text) => (/^(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(text) ? Number(text) : undefined),
    // Functions of older versions read no exponent.
    write: (value) => (String(value).includes('e') ? value.toFixed(20) : String(value)),
  });
}

/** A part of something: `0.1` is a tenth. */
export function share(max: number): SettingKind<number, 'share'> {
  return decimal('share', max);
}

/** USD; in China yuan, where the default is multiplied by a rate of exchange. */
export function money(max: number): SettingKind<number, 'money'> {
  return decimal('money', max);
}

/** Milliseconds; as text `300ms`, `3s`, `1h30m` or `30d`. */
export function duration(maxMs: number): SettingKind<number, 'duration'> {
  return kindOf({
    name: 'duration',
    words: `a duration from 0s to ${durationText(maxMs)}`,
    accepts: (value) => isBetween(value, 0, maxMs),
    parse: parseDurationOrDaysMs,
    write: (value) => `${value}ms`,
    show: durationText,
  });
}

/** One of some words. */
export function choice<const Value extends string>(
  ...values: readonly Value[]
): SettingKind<Value, 'choice'> {
  return kindOf({
    name: 'choice',
    words: values.map((each) => `'${each}'`).join(' or '),
    known: values,
    accepts: (value) => values.some((each) => each === value),
    parse: (text) => values.find((each) => each === text),
    write: (value) => value,
  });
}

export function flag(): SettingKind<boolean, 'flag'> {
  return kindOf({
    name: 'flag',
    words: 'true or false',
    accepts: (value) => typeof value === 'boolean',
    parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
    write: String,
  });
}

/** Limit groups as people write them, or `none`. */
export function groups(): SettingKind<string, 'groups'> {
  return kindOf({
    name: 'groups',
    words:
      `"${NO_LIMIT_GROUPS}", or limit groups such as "${LIMIT_GROUPS_LIKE}" ` +
      `(${LIMIT_GROUPS_RULES})`,
    accepts: (value) => typeof value === 'string' && limitGroupsOf(value) !== undefined,
    parse: (text) => text,
    write: (value) => value,
  });
}

/** Names of the groups in such a text that clusters share. */
export function sharedGroupsIn(text: string): readonly string[] {
  return sharedGroups(limitGroupsOf(text) ?? []);
}

type Gates = Readonly<Record<FeatureGate, boolean>>;

function isGate(name: string): name is FeatureGate {
  return Object.hasOwn(FEATURE_GATES, name);
}

/** All feature gates. */
export const GATE_NAMES: readonly FeatureGate[] = Object.keys(FEATURE_GATES).filter(isGate);

function readGates(text: string): Reading<Gates> {
  const gates: Record<FeatureGate, boolean> = { ...FEATURE_GATES };
  for (const entry of text.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', value] = entry.split('=').map((each) => each.trim());
    // A gate that only Karpenter has says nothing to us.
    if (!isGate(name)) continue;
    if (value !== 'true' && value !== 'false') return { fault: `${name} must be true or false` };
    gates[name] = value === 'true';
  }
  return { value: gates };
}

/** `Name=true,Name=false`; gates that are not named have their defaults. */
export function gates(): SettingKind<Gates, 'gates'> {
  const write = (value: Gates): string =>
    Object.entries({ ...FEATURE_GATES, ...value })
      .map(([name, isOn]) => `${name}=${isOn}`)
      .join(',');
  return {
    name: 'gates',
    words: `an object from ${GATE_NAMES.join(', ')} to true or false`,
    accepts: (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.entries(value).every(([name, isOn]) => isGate(name) && typeof isOn === 'boolean'),
    read: readGates,
    write,
    show: write,
  };
}
