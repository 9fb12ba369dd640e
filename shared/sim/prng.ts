/** Seeded random numbers: the only randomness in the simulated world. */
export class Prng {
  private state: number;

  /** Streams of one seed are independent of each other: a draw from one never shifts another. */
  constructor(seed: number, stream: string) {
    let hash = (seed ^ 0x9e3779b9) | 0;
    for (const character of stream) {
      hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
    }
    this.state = hash | 0;
  }

  /** In [0, 1). The generator is mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer between both ends, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick(characters: string): string {
    return characters[this.between(0, characters.length - 1)] ?? '';
  }

  /** That many characters of the alphabet. */
  text(alphabet: string, length: number): string {
    return Array.from({ length }, () => this.pick(alphabet)).join('');
  }
}

export const HEX = '0123456789abcdef';
