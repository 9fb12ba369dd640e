/** A series as an endpoint of remote write reads it: by the two formats' descriptions alone. */
export interface ReadSeries {
  /** In the order of the request, the name of the metric among them. */
  readonly labels: readonly (readonly [string, string])[];
  readonly samples: readonly { readonly atMs: number; readonly value: number; bits: bigint }[];
}

/**
 * Reads the body of a request: snappy's block format, in it protobuf.
 * https://github.com/google/snappy/blob/main/format_description.txt
 */
export function readWriteRequest(body: Uint8Array): readonly ReadSeries[] {
  return fieldsOf(uncompressed(body)).map(({ number, bytes }) => {
    if (number !== 1) throw new Error(`field ${number} of a WriteRequest`);
    const fields = fieldsOf(bytes);
    return {
      labels: fields.filter((each) => each.number === 1).map((each) => labelOf(each.bytes)),
      samples: fields.filter((each) => each.number === 2).map((each) => sampleOf(each.bytes)),
    };
  });
}

/** Series by name and labels as Prometheus shows them, with their last values. */
export function lastValues(series: readonly ReadSeries[]): ReadonlyMap<string, number> {
  return new Map(
    series.map(({ labels, samples }) => {
      const name = labels.find(([each]) => each === '__name__')?.[1] ?? '';
      const others = labels
        .filter(([each]) => each !== '__name__')
        .map(([each, value]) => `${each}="${value}"`);
      return [`${name}{${others.join(',')}}`, samples.at(-1)?.value ?? Number.NaN];
    }),
  );
}

function uncompressed(body: Uint8Array): Uint8Array {
  const [length, start] = varint(body, 0);
  const out = new Uint8Array(Number(length));
  let [at, to] = [start, 0];
  const byte = (): number => {
    at += 1;
    return body[at - 1] ?? Number.NaN;
  };
  const little = (bytes: number): number => {
    let value = 0;
    for (let each = 0; each < bytes; each += 1) value += byte() * 256 ** each;
    return value;
  };
  const copy = (offset: number, count: number): void => {
    for (let each = 0; each < count; each += 1, to += 1) out[to] = out[to - offset] ?? Number.NaN;
  };
  while (at < body.length) {
    const tag = byte();
    const kind = tag & 3;
    if (kind === 0) {
      const short = tag >> 2;
      const count = (short < 60 ? short : little(short - 59)) + 1;
      out.set(body.subarray(at, at + count), to);
      at += count;
      to += count;
    } else if (kind === 1) copy(((tag >> 5) << 8) + byte(), ((tag >> 2) & 7) + 4);
    else copy(little(kind === 2 ? 2 : 4), (tag >> 2) + 1);
  }
  if (to !== out.length) throw new Error(`${to} bytes of ${out.length}`);
  return out;
}

interface Field {
  readonly number: number;
  /** Of a varint, its value; of eight bytes, these. */
  readonly value: bigint;
  readonly bytes: Uint8Array;
}

function fieldsOf(message: Uint8Array): readonly Field[] {
  const fields: Field[] = [];
  for (let at = 0; at < message.length; ) {
    const [tag, after] = varint(message, at);
    const number = Number(tag >> 3n);
    const kind = Number(tag & 7n);
    if (kind === 0) {
      const [value, next] = varint(message, after);
      fields.push({ number, value, bytes: new Uint8Array() });
      at = next;
      continue;
    }
    const [length, start] = kind === 1 ? [8n, after] : varint(message, after);
    const end = start + Number(length);
    if ((kind !== 1 && kind !== 2) || end > message.length) throw new Error(`wire type ${kind}`);
    fields.push({ number, value: length, bytes: message.subarray(start, end) });
    at = end;
  }
  return fields;
}

function varint(bytes: Uint8Array, start: number): readonly [value: bigint, next: number] {
  let value = 0n;
  for (let at = start; ; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) throw new Error('a varint that does not end');
    value += BigInt(byte & 127) << BigInt(7 * (at - start));
    if (byte < 128) return [value, at + 1];
  }
}

function labelOf(bytes: Uint8Array): readonly [string, string] {
  const [name, value] = fieldsOf(bytes).map((each) => new TextDecoder().decode(each.bytes));
  return [name ?? '', value ?? ''];
}

function sampleOf(bytes: Uint8Array): ReadSeries['samples'][number] {
  const [value, atMs] = fieldsOf(bytes);
  if (value === undefined || atMs === undefined) throw new Error('half a sample');
  const view = new DataView(value.bytes.buffer, value.bytes.byteOffset, 8);
  return {
    atMs: Number(atMs.value),
    value: view.getFloat64(0, true),
    bits: view.getBigUint64(0, true),
  };
}
