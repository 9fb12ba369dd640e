/**
 * Writes bodies of requests that are JSON as they are given, in place of the SDK's serializer: what
 * Joiner asks for in JSON (wake-ups, parameters, prices) has only texts, numbers, lists and
 * objects. Anything that its schema would have written differently is refused.
 */
export class PlainJson {
  private text = '';

  // It says for whom it writes, which is needed for nothing that is plain.
  setSerdeContext(): void {}

  write(_schema: unknown, value: unknown): void {
    this.text = JSON.stringify(checked(value));
  }

  flush(): string {
    return this.text;
  }
}

function checked(value: unknown): unknown {
  if (Array.isArray(value)) value.forEach(checked);
  else if (typeof value === 'object' && value !== null) {
    if (Object.getPrototypeOf(value) !== Object.prototype) {
      throw new Error('this bundle writes only plain JSON');
    }
    Object.values(value).forEach(checked);
  }
  return value;
}
