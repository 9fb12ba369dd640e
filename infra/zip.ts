import { crc32, deflateRawSync } from 'node:zlib';

/** A file of an archive. */
export interface ZipEntry {
  /** With `/` between folders. */
  readonly name: string;
  readonly data: Buffer;
}

/** 1980-01-01, the earliest that the format knows: the same files make the same bytes. */
const DATE = 0x0021;
const VERSION = 20;
const DEFLATED = 8;
/** Names in UTF-8. */
const FLAGS = 0x0800;
/** A plain file that all may read, made on Unix. */
const MADE_BY = (3 << 8) | VERSION;
const MODE = (0o100644 << 16) >>> 0;

/**
 * An archive for Lambda: the same entries give the same bytes, so that templates change only when
 * code does. https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data } of entries.toSorted(byName)) {
    const path = Buffer.from(name, 'utf8');
    const packed = deflateRawSync(data, { level: 9 });
    const shared = sharedFields(data, packed, path);
    const local = Buffer.concat([numbers([[4, 0x04034b50]]), shared, path, packed]);
    const central = numbers([
      [2, 0],
      [2, 0],
      [2, 0],
      [4, MODE],
      [4, offset],
    ]);
    const start = numbers([
      [4, 0x02014b50],
      [2, MADE_BY],
    ]);
    directory.push(start, shared, central, path);
    locals.push(local);
    offset += local.length;
  }
  const size = directory.reduce((sum, each) => sum + each.length, 0);
  return Buffer.concat([...locals, ...directory, endOf(entries.length, size, offset)]);
}

/** From "version needed" to "extra field length": the same in both places. */
function sharedFields(data: Buffer, packed: Buffer, path: Buffer): Buffer {
  return numbers([
    [2, VERSION],
    [2, FLAGS],
    [2, DEFLATED],
    [2, 0],
    [2, DATE],
    [4, crc32(data)],
    [4, packed.length],
    [4, data.length],
    [2, path.length],
    [2, 0],
  ]);
}

function endOf(count: number, size: number, offset: number): Buffer {
  return numbers([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, size],
    [4, offset],
    [2, 0],
  ]);
}

/** Little-endian numbers of two or four bytes. */
function numbers(fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) {
    buffer.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return buffer;
}

function byName(left: ZipEntry, right: ZipEntry): number {
  return left.name < right.name ? -1 : Number(left.name > right.name);
}
