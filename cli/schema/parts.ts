import * as z from 'zod';

/** An object whose fields are all there; what has no value is null. */
export function documentOf<Shape extends z.core.$ZodLooseShape>(shape: Shape, description: string) {
  return z.strictObject(shape).meta({ description });
}

/** A count. */
export const count = z.int().min(0);

/** A count that may be less than 0: of a difference. */
export const change = z.int();

/** An amount of money. */
export function usd(description: string): z.ZodNumber {
  return z.number().meta({ description });
}

/** A point in time, ISO 8601 in UTC. */
export const time = z.iso.datetime();

/** What every document of figures begins and ends with. */
export const FRAME = {
  joiner: z.string().meta({ description: 'the version of Joiner that made the document' }),
  currency: z
    .enum(['USD', 'CNY'])
    .meta({ description: 'of all amounts, whose fields are named for USD' }),
  method: z.array(z.string()).meta({ description: 'how each figure is made, a sentence each' }),
};
