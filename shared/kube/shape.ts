/**
 * Which fields of an object are read, written once and used twice: to project JSON, and to decode
 * the API server's protobuf without a generated library. A field that is not described here never
 * enters the process: environment variables, arguments, Secrets.
 */

export type Scalar =
  | 'string'
  | 'int'
  | 'bool'
  /** An int that JSON leaves out where it is zero. */
  | 'positiveInt'
  | 'intOrString'
  | 'time'
  | 'quantity';

export type Shape =
  | Scalar
  | { readonly kind: 'map'; readonly of: 'string' | 'quantity'; readonly keep?: KeepKey }
  | { readonly kind: 'list'; readonly of: Shape }
  | Message;

/** Whether an entry of a map is read. */
export type KeepKey = (key: string) => boolean;

export interface Message {
  readonly kind: 'message';
  readonly fields: readonly Field[];
  /** By protobuf tag. */
  readonly byTag: ReadonlyMap<number, Field>;
}

export interface Field {
  readonly name: string;
  readonly tag: number;
  readonly shape: Shape;
  /** JSON has this message's fields in the parent itself. */
  readonly inline: boolean;
}

/** A message of fields as `name: [protobuf tag, shape]`. */
export function message(
  fields: Readonly<Record<string, readonly [tag: number, shape: Shape, inline?: 'inline']>>,
): Message {
  const list = Object.entries(fields).map(
    ([name, [tag, shape, inline]]): Field => ({ name, tag, shape, inline: inline === 'inline' }),
  );
  return { kind: 'message', fields: list, byTag: new Map(list.map((each) => [each.tag, each])) };
}

export const list = (of: Shape): Shape => ({ kind: 'list', of });
export const strings: Shape = list('string');
export const stringMap: Shape = { kind: 'map', of: 'string' };
export const quantityMap: Shape = { kind: 'map', of: 'quantity' };
export const stringMapOf = (keep: KeepKey): Shape => ({ kind: 'map', of: 'string', keep });

/** The described fields of a JSON value; what has another form than described is passed as it is. */
export function project(value: unknown, shape: Shape): unknown {
  if (typeof value !== 'object' || value === null || typeof shape === 'string') return value;
  switch (shape.kind) {
    case 'list':
      return Array.isArray(value) ? value.map((each) => project(each, shape.of)) : value;
    case 'map':
      return shape.keep === undefined ? value : keepKeys(value, shape.keep);
    case 'message': {
      const projected: Record<string, unknown> = {};
      projectFields(value, shape, projected);
      return projected;
    }
  }
}

function projectFields(value: object, shape: Message, target: Record<string, unknown>): void {
  for (const field of shape.fields) {
    if (field.inline && typeof field.shape !== 'string' && field.shape.kind === 'message') {
      projectFields(value, field.shape, target);
      continue;
    }
    const found: unknown = Reflect.get(value, field.name);
    if (found !== undefined) target[field.name] = project(found, field.shape);
  }
}

function keepKeys(value: object, keep: KeepKey): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => keep(key)));
}
