/**
 * One thing wrong with an object, phrased for the person who wrote it. Decoders collect every issue
 * instead of stopping at the first.
 */
export interface Issue {
  /** Field path from the object's root, e.g. `spec.template.spec.requirements[2].values`. */
  readonly path: string;
  /** What is wrong and what would be valid; the API server's own text where it has one. */
  readonly message: string;
  /** Where a word is not one of those that are known: people may have misspelt it. */
  readonly unknown?: UnknownWord;
}

/** A word as it was written, and those that are known in its place. */
export interface UnknownWord {
  readonly word: string;
  readonly known: readonly string[];
}

/** The result of decoding unknown data: a model value, or everything that is wrong with it. */
export type Decoded<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly issues: readonly Issue[];
      /** What could be read, for those who may not take the object for one that is not there. */
      readonly partial?: Value;
    };
