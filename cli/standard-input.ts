import { readSync } from 'node:fs';

const CHUNK_BYTES = 1 << 16;
/** Between two looks at a pipe into which nothing has been written yet. */
const PAUSE_MS = 10;

/**
 * Everything until the end of standard input. A pipe whose writer is slower than the reader, as
 * `helm template` is, answers EAGAIN where it does not block: then it is asked again.
 */
export function standardInput(): Buffer {
  const chunks: Buffer[] = [];
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const bytes = readChunk(chunk);
    if (bytes === 0) return Buffer.concat(chunks);
    if (bytes === undefined) Atomics.wait(clock, 0, 0, PAUSE_MS);
    else chunks.push(chunk.subarray(0, bytes));
  }
}

/** How many bytes there were; 0 is the end, undefined: none yet. */
function readChunk(chunk: Buffer): number | undefined {
  try {
    return readSync(0, chunk);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EAGAIN') return undefined;
    if (code === 'EOF') return 0;
    throw error;
  }
}
