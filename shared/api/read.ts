import { parseQuantity, quantityMax, type Rounding } from '../core/quantity.ts';
import type { Decoded, Issue, UnknownWord } from './issue.ts';

/** A JSON object whose fields are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** What the API server takes for an integer of 32 bits. */
export const INT32 = { least: -2_147_483_648, most: 2_147_483_647 };

/**
 * Amounts beyond what plans count exactly (2^53): a fault of a manifest, which nobody means. A pod
 * in a cluster may well have such a limit, and no node is so large.
 */
export type TooLarge = 'refuse' | 'cap';

/** What kubectl and Helm read as a boolean beside `true` and `false`, as YAML 1.1 has it. */
const YAML_1_1: Readonly<Record<string, boolean>> = { yes: true, on: true, no: false, off: false };

/**
 * Reads fields of unknown data and collects what is wrong with them. Every method returns a usable
 * value even where it noted an issue, so that reading goes on and all issues are found at once.
 */
export class Reader {
  readonly issues: Issue[] = [];
  readonly tooLarge: TooLarge;

  constructor(tooLarge: TooLarge = 'refuse') {
    this.tooLarge = tooLarge;
  }

  note(path: string, message: string, unknown?: UnknownWord): void {
    this.issues.push({ path, message, ...(unknown === undefined ? {} : { unknown }) });
  }

  /** A field that the object at the path (empty: the root) does not have. */
  noteUnknownField(path: string, field: string, known: readonly string[]): void {
    this.issues.push(unknownField(path === '' ? field : `${path}.${field}`, field, known));
  }

  /** The value, unless anything was noted. */
  result<Value>(value: Value): Decoded<Value> {
    if (this.issues.length === 0) return { ok: true, value };
    return { ok: false, issues: this.issues, partial: value };
  }

  fields(value: unknown, path: string): Fields {
    if (value === undefined || value === null) return {};
    if (typeof value === 'object' && !Array.isArray(value)) return value as Fields;
    this.note(path, `must be an object, not ${nameOf(value)}`);
    return {};
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.note(path, `must be a list, not ${nameOf(value)}`);
    return [];
  }

  /** Undefined where absent or null. */
  text(value: unknown, path: string): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string') return value;
    this.note(path, `must be a string, not ${nameOf(value)}`);
    return undefined;
  }

  requiredText(value: unknown, path: string): string {
    const text = this.text(value, path);
    if ((text === undefined && value === undefined) || value === null || text === '') {
      this.note(path, 'is required');
    }
    return text ?? '';
  }

  /** One of the named values; undefined where absent. */
  oneOf<Value extends string>(
    value: unknown,
    path: string,
    allowed: readonly Value[],
  ): Value | undefined {
    if (value === undefined || value === null || value === '') return undefined;
    const found = allowed.find((each) => each === value);
    if (found === undefined) {
      const message = `must be one of ${allowed.join(', ')}, not ${show(value)}`;
      const unknown = typeof value === 'string' ? { word: value, known: allowed } : undefined;
      this.note(path, message, unknown);
    }
    return found;
  }

  flag(value: unknown, path: string): boolean | undefined {
    if (value === undefined || value === null || typeof value === 'boolean')
      return value ?? undefined;
    const word = typeof value === 'string' ? value.toLowerCase() : '';
    if (Object.hasOwn(YAML_1_1, word)) return YAML_1_1[word];
    this.note(path, `must be true or false, not ${show(value)}`);
    return undefined;
  }

  integer(
    value: unknown,
    path: string,
    range: { readonly least?: number; readonly most?: number } = {},
  ): number | undefined {
    if (value === undefined || value === null) return undefined;
    const { least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER } = range;
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      this.note(path, `must be an integer, not ${show(value)}`);
      return undefined;
    }
    if (value < least || value > most) {
      const told = value > most ? { most, ...range } : { least, ...range };
      this.note(path, `must be ${rangeText(told)}, not ${value}`);
      return undefined;
    }
    return value;
  }

  /** A map of strings; undefined values are absent. */
  labels(value: unknown, path: string): Readonly<Record<string, string>> {
    const fields = this.fields(value, path);
    for (const key of Object.keys(fields)) {
      if (typeof fields[key] !== 'string') {
        this.note(`${path}.${key}`, `must be a string, not ${show(fields[key])}`);
        return {};
      }
    }
    return fields as Readonly<Record<string, string>>;
  }

  texts(value: unknown, path: string): readonly string[] {
    const list = this.list(value, path);
    return list.every((each) => typeof each === 'string')
      ? (list as readonly string[])
      : list.map((each, index) => this.text(each, `${path}[${index}]`) ?? '');
  }

  /** A resource list in base units; negative amounts and malformed quantities are issues. */
  resources(value: unknown, path: string, rounding: Rounding): Readonly<Record<string, number>> {
    const amounts: Record<string, number> = {};
    const fields = this.fields(value, path);
    for (const name of Object.keys(fields)) {
      const text = fields[name];
      const isQuantity = typeof text === 'string' || typeof text === 'number';
      const amount = isQuantity ? parseQuantity(text, name, rounding) : undefined;
      if (amount === undefined) {
        const most = isQuantity ? quantityMax(text, name) : undefined;
        if (most !== undefined && this.tooLarge === 'cap') {
          amounts[name] = Number.MAX_SAFE_INTEGER;
          continue;
        }
        const valid = most === undefined ? 'a quantity such as 500m or 2Gi' : `at most ${most}`;
        this.note(`${path}.${name}`, `must be ${valid}, not ${show(text)}`);
      } else if (amount < 0) {
        this.note(`${path}.${name}`, `must not be negative, but is ${show(text)}`);
      } else amounts[name] = amount;
    }
    return amounts;
  }

  /** RFC 3339 as milliseconds since the epoch; undefined where absent. */
  time(value: unknown, path: string): number | undefined {
    const text = this.text(value, path);
    if (text === undefined) return undefined;
    const time = Date.parse(text);
    if (Number.isNaN(time)) {
      this.note(path, `must be a time such as 2026-01-01T00:00:00Z, not ${show(text)}`);
      return undefined;
    }
    return time;
  }
}

/** The issue of a field that is not one of those that are known; `path` leads to the field. */
export function unknownField(path: string, word: string, known: readonly string[]): Issue {
  const message = `is not a known field; valid: ${known.join(', ')}`;
  return { path, message, unknown: { word, known } };
}

function rangeText({ least, most }: { readonly least?: number; readonly most?: number }): string {
  if (least === undefined) return `at most ${most}`;
  return most === undefined ? `at least ${least}` : `between ${least} and ${most}`;
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

/** A value as people may read it in a message, cut where it is long. */
export function show(value: unknown): string {
  // JSON has no word for NaN and the infinities.
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
