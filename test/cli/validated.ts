import { expect } from 'vitest';
import * as z from 'zod';
import { joiner } from './run.ts';

/** The document, if it is as the JSON Schema says that `joiner schema` prints under the name. */
export async function validated(name: string, document: unknown): Promise<unknown> {
  const { exitCode, stdout } = await joiner('schema', name);
  expect(exitCode).toBe(0);
  return z.fromJSONSchema(JSON.parse(stdout)).parse(document);
}
