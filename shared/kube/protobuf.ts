import { missing } from '../core/missing.ts';
import type { KeepKey, Message, Scalar, Shape } from './shape.ts';

/**
 * Decodes the API server's protobuf into the same objects that its JSON would project to, field by
 * field of the shape; everything else is skipped without being looked at. Measured on 10,000 pods
 * of 9.4 KB: a fifth of the time of parsing the JSON.
 * https://protobuf.dev/programming-guides/encoding/
 */

/** `k8s\0`, then runtime.Unknown { typeMeta = 1, raw = 2, … }. */
const MAGIC = 0x6b387300;
const RAW_TAG = 2;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** A list's metadata and items: metadata = 1, items = 2 in every Kubernetes list. */
export interface DecodedList {
  readonly resourceVersion: string;
  readonly continueToken: string;
  /** The bytes of each item, decoded one by one so that a page is never whole in memory twice. */
  readonly items: Iterable<unknown>;
}

export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

export function decodeList(bytes: Buffer, item: Message): DecodedList {
  const body = unwrap(bytes);
  const reader = new Reader(bytes, body.start, body.end);
  let resourceVersion = '';
  let continueToken = '';
  const positions: number[] = [];
  while (reader.next()) {
    if (reader.tag === 1 && reader.wire === BYTES) {
      const end = reader.length();
      const meta = new Reader(bytes, reader.at, end);
      while (meta.next()) {
        if (meta.tag === 2 && meta.wire === BYTES) resourceVersion = meta.text();
        else if (meta.tag === 3 && meta.wire === BYTES) continueToken = meta.text();
        else meta.skip();
      }
      reader.at = end;
    } else if (reader.tag === 2 && reader.wire === BYTES) {
      const end = reader.length();
      positions.push(reader.at, end);
      reader.at = end;
    } else reader.skip();
  }
  return { resourceVersion, continueToken, items: decodeItems(bytes, positions, item) };
}

/** One object by itself. */
export function decodeObject(bytes: Buffer, shape: Message): object {
  const { start, end } = unwrap(bytes);
  return decodeMessage(new Reader(bytes, start, end), shape, {});
}

function* decodeItems(
  bytes: Buffer,
  positions: readonly number[],
  item: Message,
): Iterable<unknown> {
  for (let index = 0; index + 1 < positions.length; index += 2) {
    const reader = new Reader(
      bytes,
      positions[index] ?? missing(index),
      positions[index + 1] ?? missing(index + 1),
    );
    yield decodeMessage(reader, item, {});
  }
}

function unwrap(bytes: Buffer): { readonly start: number; readonly end: number } {
  if (bytes.length < 4 || bytes.readUInt32BE(0) !== MAGIC) {
    throw new ProtobufError('the answer is not Kubernetes protobuf');
  }
  const reader = new Reader(bytes, 4, bytes.length);
  while (reader.next()) {
    if (reader.tag === RAW_TAG && reader.wire === BYTES) {
      const end = reader.length();
      return { start: reader.at, end };
    }
    reader.skip();
  }
  throw new ProtobufError('the answer has no object in it');
}

function decodeMessage(
  reader: Reader,
  shape: Message,
  target: Record<string, unknown>,
): Record<string, unknown> {
  while (reader.next()) {
    const field = shape.byTag.get(reader.tag);
    if (field === undefined) reader.skip();
    else if (typeof field.shape === 'string') {
      const value = decodeScalar(reader, field.shape);
      if (value !== undefined) target[field.name] = value;
    } else if (field.shape.kind === 'map') {
      const existing = target[field.name];
      const map = isMap(existing) ? existing : {};
      target[field.name] = map;
      decodeEntry(reader, field.shape.of, field.shape.keep, map);
    } else if (field.shape.kind === 'list') {
      const existing = target[field.name];
      const value = decodeElement(reader, field.shape.of);
      if (Array.isArray(existing)) existing.push(value);
      else target[field.name] = [value];
    } else {
      const end = reader.length();
      const inner = new Reader(reader.bytes, reader.at, end);
      if (field.inline) decodeMessage(inner, field.shape, target);
      else target[field.name] = decodeMessage(inner, field.shape, {});
      reader.at = end;
    }
  }
  return target;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function decodeElement(reader: Reader, shape: Shape): unknown {
  if (shape === 'string') return reader.text();
  if (typeof shape === 'string') return decodeScalar(reader, shape);
  if (shape.kind !== 'message') throw new ProtobufError('protobuf has no list of lists');
  const end = reader.length();
  const value = decodeMessage(new Reader(reader.bytes, reader.at, end), shape, {});
  reader.at = end;
  return value;
}

/** Undefined where the JSON would leave the field out. */
function decodeScalar(reader: Reader, shape: Scalar): unknown {
  switch (shape) {
    case 'string':
      return reader.text() || undefined;
    case 'int':
      return reader.int();
    case 'positiveInt':
      return reader.int() || undefined;
    case 'bool':
      return reader.int() !== 0;
    case 'quantity':
      return decodeQuantity(reader);
    case 'time':
      return decodeTime(reader);
    case 'intOrString':
      return decodeIntOrString(reader);
  }
}

function decodeEntry(
  reader: Reader,
  of: 'string' | 'quantity',
  keep: KeepKey | undefined,
  map: Record<string, unknown>,
): void {
  const end = reader.length();
  const entry = new Reader(reader.bytes, reader.at, end);
  let key = '';
  let value = '';
  while (entry.next()) {
    if (entry.tag === 1) {
      key = entry.text();
      if (keep !== undefined && !keep(key)) break;
    } else if (entry.tag === 2) {
      value = of === 'string' ? entry.text() : decodeQuantity(entry);
    } else entry.skip();
  }
  if (keep === undefined || keep(key)) map[key] = value;
  reader.at = end;
}

function decodeQuantity(reader: Reader): string {
  const end = reader.length();
  const inner = new Reader(reader.bytes, reader.at, end);
  let text = '0';
  while (inner.next()) {
    if (inner.tag === 1) text = inner.text();
    else inner.skip();
  }
  reader.at = end;
  return text;
}

/** Whole seconds, as the JSON of a metav1.Time; zero seconds stand for no time at all. */
function decodeTime(reader: Reader): string | undefined {
  const end = reader.length();
  const inner = new Reader(reader.bytes, reader.at, end);
  let seconds = 0;
  while (inner.next()) {
    if (inner.tag === 1) seconds = inner.int();
    else inner.skip();
  }
  reader.at = end;
  if (seconds === 0) return undefined;
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

function decodeIntOrString(reader: Reader): number | string {
  const end = reader.length();
  const inner = new Reader(reader.bytes, reader.at, end);
  let isText = false;
  let number = 0;
  let text = '';
  while (inner.next()) {
    if (inner.tag === 1) isText = inner.int() === 1;
    else if (inner.tag === 2) number = inner.int();
    else if (inner.tag === 3) text = inner.text();
    else inner.skip();
  }
  reader.at = end;
  return isText ? text : number;
}

/** Walks the fields of one message; `at` moves, `bytes` are shared by all. */
class Reader {
  readonly bytes: Buffer;
  readonly end: number;
  at: number;
  tag = 0;
  wire = 0;

  constructor(bytes: Buffer, start: number, end: number) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  /** Reads the next field's key; false at the end. */
  next(): boolean {
    if (this.at >= this.end) return false;
    const key = this.#varint();
    this.tag = Math.floor(key / 8);
    this.wire = key % 8;
    return true;
  }

  /** The end of a length-delimited field whose content begins at `at`. */
  length(): number {
    if (this.wire !== BYTES) throw new ProtobufError(`field ${this.tag} has wire ${this.wire}`);
    const length = this.#varint();
    const end = this.at + length;
    if (end > this.end) throw new ProtobufError('a field ends outside its message');
    return end;
  }

  text(): string {
    const end = this.length();
    const text = this.bytes.toString('utf8', this.at, end);
    this.at = end;
    return text;
  }

  int(): number {
    if (this.wire !== VARINT) throw new ProtobufError(`field ${this.tag} has wire ${this.wire}`);
    return this.#varint();
  }

  skip(): void {
    if (this.wire === VARINT) this.#varint();
    else if (this.wire === BYTES) this.at = this.length();
    else if (this.wire === FIXED64) this.at += 8;
    else if (this.wire === FIXED32) this.at += 4;
    else throw new ProtobufError(`wire type ${this.wire} is not known`);
    if (this.at > this.end) throw new ProtobufError('a field ends outside its message');
  }

  /** Positive integers stay below 2^53; negative ones are ten bytes of two's complement. */
  #varint(): number {
    const start = this.at;
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 10; count += 1) {
      const byte = this.bytes[this.at];
      if (byte === undefined || this.at >= this.end) {
        throw new ProtobufError('an integer is cut off');
      }
      this.at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return count === 9 ? this.#negative(start) : value;
      scale *= 128;
    }
    throw new ProtobufError('an integer is longer than ten bytes');
  }

  /** Ten bytes are too many for the exact integers of a double. */
  #negative(start: number): number {
    let value = 0n;
    for (let count = 0n; count < 10n; count += 1n) {
      value |=
        BigInt((this.bytes[start + Number(count)] ?? missing(start + Number(count))) & 0x7f) <<
        (7n * count);
    }
    return Number(BigInt.asIntN(64, value));
  }
}
