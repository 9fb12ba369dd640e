import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** Why a case that does not pass may stay so. */
export const CLASSES = {
  purpose: 'different on purpose',
  own: "Karpenter's own texts, metrics or packing",
  adapter: 'the test or what stands around it',
} as const;

const exception = z
  .strictObject({
    suites: z.array(z.string()).min(1),
    class: z.enum(Object.keys(CLASSES) as (keyof typeof CLASSES)[]).optional(),
    /** A defect of Joiner's that is known and not mended yet. */
    defect: z.literal(true).optional(),
    /** The cases pass in some runs: what they ask for is drawn at random, or a race. */
    sometimes: z.literal(true).optional(),
    /** The cases wait long for what cannot come here: they are not played. */
    unplayed: z.literal(true).optional(),
    reason: z.string().min(1),
    /** Whole names, as reports have them. */
    cases: z.array(z.string()).min(1),
  })
  .refine((each) => (each.class === undefined) === (each.defect === true), {
    error: 'has either a class or `"defect": true`',
  });

/** Cases that do not pass, and why. */
export type Exception = Readonly<z.output<typeof exception>>;

export const EXCEPTIONS_FILE = join(import.meta.dirname, 'exceptions.json');

export function readExceptions(): readonly Exception[] {
  return z.array(exception).parse(JSON.parse(readFileSync(EXCEPTIONS_FILE, 'utf8')));
}
