import * as z from 'zod';
import type { Issue } from '../issue.ts';
import { show, unknownField } from '../read.ts';

type ZodIssue = z.core.$ZodIssue;

/** Everything wrong with a value, as people should read it. `schema` names the known fields. */
export function issuesOf(error: z.ZodError, schema: z.ZodType): readonly Issue[] {
  return error.issues.flatMap((issue) => describe(issue, schema));
}

function describe(issue: ZodIssue, schema: z.ZodType): readonly Issue[] {
  const path = pathText(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(schema, issue.path);
    return issue.keys.map((key) => unknownField(pathText([...issue.path, key]), key, known));
  }
  if (issue.code === 'invalid_value' && typeof issue.input === 'string') {
    const unknown = { word: issue.input, known: issue.values.map(String) };
    return [{ path, message: messageOf(issue), unknown }];
  }
  return [{ path, message: messageOf(issue) }];
}

function messageOf(issue: ZodIssue): string {
  const value = show(issue.input);
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${typeName(issue.expected)}, not ${value}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return `must be one of ${issue.values.map(String).join(', ')}, not ${value}`;
    case 'too_small':
      if (issue.inclusive === false) return `must be greater than ${issue.minimum}, not ${value}`;
      return `must ${bound(issue.origin, 'least', Number(issue.minimum))}, not ${size(issue)}`;
    case 'too_big':
      if (issue.inclusive === false) return `must be less than ${issue.maximum}, not ${value}`;
      return `must ${bound(issue.origin, 'most', Number(issue.maximum))}, not ${size(issue)}`;
    case 'invalid_union':
      return `must be ${issue.errors.map(([first]) => alternative(first)).join(' or ')}, not ${value}`;
    case 'invalid_key':
      return `has a key that is not valid: ${issue.issues.map(messageOf).join('; ')}`;
    default:
      return isPlain(issue.input) && !issue.message.includes(value)
        ? `${issue.message}, not ${value}`
        : issue.message;
  }
}

/** Values that help in a message; an object is already named by its path. */
function isPlain(input: unknown): boolean {
  return typeof input === 'string' || typeof input === 'number' || typeof input === 'boolean';
}

function alternative(issue: ZodIssue | undefined): string {
  if (issue?.code === 'invalid_type') return typeName(issue.expected);
  return issue?.message.replace(/^must be /, '') ?? 'something else';
}

function typeName(expected: string): string {
  const names: Readonly<Record<string, string>> = {
    string: 'a string',
    number: 'a number',
    int: 'an integer',
    boolean: 'true or false',
    object: 'an object',
    record: 'an object',
    array: 'a list',
  };
  return names[expected] ?? expected;
}

function bound(origin: string, side: 'least' | 'most', limit: number): string {
  if (origin === 'array' || origin === 'set') return `have at ${side} ${limit} items`;
  if (origin === 'string') return `have at ${side} ${limit} characters`;
  if (origin === 'record' || origin === 'object') return `have at ${side} ${limit} entries`;
  return `be at ${side} ${limit}`;
}

function size({ input }: ZodIssue): string {
  if (Array.isArray(input)) return String(input.length);
  if (typeof input === 'string') return `${input.length} (${show(input)})`;
  return typeof input === 'object' ? String(Object.keys(input ?? {}).length) : show(input);
}

function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const each of path) {
    if (typeof each === 'number') text += `[${each}]`;
    else text += text === '' ? String(each) : `.${String(each)}`;
  }
  return text;
}

/** The fields that the object at the path may have. */
function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: z.core.$ZodType = schema;
  for (const step of path) {
    at = unwrapped(at);
    if (at instanceof z.ZodObject) at = at.shape[String(step)];
    else if (at instanceof z.ZodArray) at = at.element;
    else if (at instanceof z.ZodRecord) at = at.valueType;
  }
  const found = unwrapped(at);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodPrefault) {
    at = at.unwrap();
  }
  return at;
}
