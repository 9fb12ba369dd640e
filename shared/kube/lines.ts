const NEWLINE = 0x0a;

/** Bytes that one line may have; an object in etcd is at most 1.5 MiB, in JSON a few times that. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

/** The lines of a stream of bytes as text, without holding more than one line. */
export async function* splitLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of body) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      pending.push(chunk.subarray(start, end));
      const line = text(pending);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      if (line !== '') yield line;
    }
    const rest = chunk.subarray(start);
    pendingBytes += rest.length;
    if (pendingBytes > LINE_BYTES_MAX) throw new Error('a line of the stream is too long');
    if (rest.length > 0) pending.push(rest);
  }
  // A line without its end was cut off by a broken connection: whoever reads must not trust it.
}

function text(parts: readonly Uint8Array[]): string {
  return (parts.length === 1 ? Buffer.from(parts[0] ?? []) : Buffer.concat(parts)).toString();
}
