import { describe, expect, it } from 'vitest';
import {
  type DocumentKind,
  type DocumentObjects,
  MemoryDocument,
} from '../../../../shared/aws/memory/document.ts';
import type { Found } from '../../../../shared/aws/memory/objects.ts';

const NUMBERS: DocumentKind<readonly number[]> = {
  empty: [],
  decode: (json) => (Array.isArray(json) ? { state: json, rejected: 0 } : undefined),
  encode: (state) => state,
};

/** One object whose reading can be held up. */
class OneObject implements DocumentObjects {
  atMs = 0;
  writes = 0;
  stored: Found = 'absent';
  held: Promise<void> = Promise.resolve();

  nowMs(): number {
    return this.atMs;
  }

  tell(): void {}

  async read(): Promise<Found> {
    const found = this.stored;
    await this.held;
    return found;
  }

  async write(_: string, body: Uint8Array, etag: string | undefined) {
    const before = this.stored === 'absent' ? undefined : this.stored?.etag;
    if (etag !== before) return 'conflict';
    this.writes += 1;
    this.stored = { body, etag: String(this.writes) };
    return { etag: this.stored.etag };
  }
}

function add(number: number) {
  return (state: readonly number[]): readonly number[] => [...state, number];
}

describe('a document', () => {
  it('that was read a moment ago is read again once it is told to', async () => {
    const object = new OneObject();
    const document = new MemoryDocument(object, 'key', NUMBERS);
    document.expire();
    expect(await document.read()).toEqual([]);
    object.stored = { body: new TextEncoder().encode('[7]'), etag: 'another' };
    expect(await document.read()).toEqual([]);
    document.expire();
    expect(await document.read()).toEqual([7]);
  });

  it('does not take for new what was read before its own write', async () => {
    const object = new OneObject();
    const document = new MemoryDocument(object, 'key', NUMBERS);
    await document.read();
    object.atMs = 10_000;
    const held = Promise.withResolvers<void>();
    object.held = held.promise;
    const slow = document.read();
    document.change(add(1));
    await document.flush();
    held.resolve();
    expect(await slow).toEqual([1]);
    expect(await document.read()).toEqual([1]);
  });

  it('writes every change, at whatever moment of a write it comes', async () => {
    for (let ticks = 0; ticks < 30; ticks += 1) {
      const object = new OneObject();
      const document = new MemoryDocument(object, 'key', NUMBERS);
      document.change(add(1));
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      document.change(add(2));
      await document.flush();
      expect(await new MemoryDocument(object, 'key', NUMBERS).read()).toEqual([1, 2]);
    }
  });

  it('that stays the same is not written', async () => {
    const object = new OneObject();
    const document = new MemoryDocument(object, 'key', NUMBERS);
    document.change((state) => state);
    await document.flush();
    expect(object.writes).toBe(0);
  });
});
