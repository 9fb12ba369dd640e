import { readJsonObject, readTime } from './json-object.ts';

/** Names, and when something was noted of each: how annotations keep what functions may not forget. */
export type NotedTimes = ReadonlyMap<string, number>;

/** What an annotation's text says; whatever cannot be read says nothing. */
export function readNotedTimes(text: string | undefined): NotedTimes {
  const read = readJsonObject(text) ?? {};
  return new Map(
    Object.entries(read).flatMap(([name, at]) => {
      const atMs = readTime(at);
      return atMs === undefined ? [] : [[name, atMs] as const];
    }),
  );
}

/** The annotation's text. */
export function notedTimesText(times: NotedTimes): string {
  const entries = [...times].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    Object.fromEntries(entries.map(([name, atMs]) => [name, new Date(atMs).toISOString()])),
  );
}
