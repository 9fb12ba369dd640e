/** SHA-256 (FIPS 180-4), pure: client tokens and version hashes are part of decisions. */
import { missing } from '../missing.ts';

const ROUND = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

const INITIAL = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/** How many bytes of UTF-8 the character takes. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** Of a first byte, by how many bytes follow. */
const LEADING = [0, 0xc0, 0xe0, 0xf0];

/** Room for the bytes, the bit after them and their number, in whole blocks. */
function blocksFor(length: number): Uint8Array {
  return new Uint8Array(Math.ceil((length + 9) / 64) * 64);
}

/** Names and annotations are ASCII but for a few: most texts are read once. */
function asciiBlocks(text: string): Uint8Array | undefined {
  const blocks = blocksFor(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) return undefined;
    blocks[at] = code;
  }
  return blocks;
}

function byteLength(text: string): number {
  let length = 0;
  for (const character of text) length += bytesOf(character.codePointAt(0) ?? 0);
  return length;
}

function utf8Blocks(text: string, length: number): Uint8Array {
  const blocks = blocksFor(length);
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const following = bytesOf(code) - 1;
    blocks[at] = (LEADING[following] ?? 0) | (code >> (6 * following));
    for (let left = following - 1; left >= 0; left -= 1) {
      blocks[at + following - left] = 0x80 | ((code >> (6 * left)) & 63);
    }
    at += following + 1;
  }
  return blocks;
}

function padded(text: string): DataView {
  const ascii = asciiBlocks(text);
  const length = ascii === undefined ? byteLength(text) : text.length;
  const blocks = ascii ?? utf8Blocks(text, length);
  const view = new DataView(blocks.buffer);
  view.setUint8(length, 0x80);
  view.setUint32(view.byteLength - 4, length * 8);
  return view;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** Puts the words of the block at the offset into `words`, which has 64. */
function schedule(view: DataView, offset: number, words: Int32Array): void {
  for (let i = 0; i < 16; i += 1) words[i] = view.getInt32(offset + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const a = words[i - 15] ?? missing(i - 15);
    const b = words[i - 2] ?? missing(i - 2);
    const small0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const small1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    words[i] =
      (words[i - 16] ?? missing(i - 16)) + small0 + (words[i - 7] ?? missing(i - 7)) + small1;
  }
}

/** Adds the block whose words these are to the digest so far. */
function compress(state: Int32Array, words: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i += 1) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + big1 + choice + (ROUND[i] ?? missing(i)) + (words[i] ?? missing(i))) | 0;
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) {
    state[at] = (state[at] ?? missing(at)) + word;
  }
}

/** Lower-case hexadecimal digest of the text's UTF-8 bytes. */
export function sha256(text: string): string {
  const view = padded(text);
  const state = new Int32Array(INITIAL);
  const words = new Int32Array(64);
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    schedule(view, offset, words);
    compress(state, words);
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}
