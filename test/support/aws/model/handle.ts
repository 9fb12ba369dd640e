import type { Fields } from '../wire/request.ts';
import type { Handler } from '../wire/server.ts';

/** A handler with the SDK's own types: the wire has decoded the input by the same schema. */
export function handle<Input, Output extends object>(
  work: (input: Input) => Omit<Output, '$metadata'>,
): Handler {
  return (input) => work(input as Input) as Fields;
}

/** One page of a list; the token is the place where the next one starts. */
export function page<Item>(
  items: readonly Item[],
  token: string | undefined,
  size: number,
): { readonly items: Item[]; readonly next: string | undefined } {
  const start = token === undefined ? 0 : Number(token);
  const end = start + size;
  return { items: items.slice(start, end), next: end < items.length ? String(end) : undefined };
}
