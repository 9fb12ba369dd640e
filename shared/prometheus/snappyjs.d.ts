/** Of the package, which has no types of its own. */
declare module 'snappyjs' {
  /** The block format, without frames. */
  export function compress(bytes: Uint8Array): Uint8Array;
}
