import { createElement as h, type ReactNode } from 'react';
import { age } from '../../../shared/core/duration.ts';
import type { Column, Parts } from '../headlamp.ts';
import type { Blocker } from '../model/blockers.ts';
import { type JoinerEvent, targetOf, type Why } from '../model/events.ts';
import type { Fact, Target } from '../model/target.ts';

/** The name, as a link to the object's page where Headlamp has one. */
export function linked(parts: Parts, to: Target | undefined, name: string): ReactNode {
  return to === undefined || name === '' ? name : h(parts.PageLink, { to }, name);
}

/** `2m26s ago`. */
function agoText(atMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - atMs) / 1000));
  return `${age(seconds)} ago`;
}

/** Facts with their links, then further rows. */
export function factsTable(
  parts: Parts,
  facts: readonly Fact[],
  further: readonly { readonly name: string; readonly value: ReactNode }[] = [],
): ReactNode {
  const own = facts.map(({ name, value, target }) => ({
    name,
    value: linked(parts, target, value),
  }));
  return h(parts.Facts, { facts: [...further, ...own] });
}

const WIDE = 3;

function whyColumns<Row>(whyOf: (row: Row) => Why): readonly Column<Row>[] {
  return [
    { label: 'Reason', share: WIDE, cell: (row) => whyOf(row).text },
    { label: 'Meaning', share: WIDE, cell: (row) => whyOf(row).meaning },
    { label: 'What to do', share: WIDE, cell: (row) => whyOf(row).remedy },
  ];
}

/** Reasons with their meaning and remedy. */
export function whyTable(parts: Parts, whys: readonly Why[], empty: string): ReactNode {
  return h(parts.Table<Why>, { columns: whyColumns<Why>((why) => why), rows: whys, empty });
}

/**
 * What keeps a node, and what it keeps it from. Not `isRead`: without what could not be read, which
 * may block it, too.
 */
export function blockerTable(
  parts: Parts,
  blockers: readonly Blocker[],
  isRead: boolean,
  nowMs: number,
): ReactNode {
  const columns: readonly Column<Blocker>[] = [
    { label: 'Blocks', cell: ({ hinders }) => hinders },
    ...whyColumns<Blocker>(({ why }) => why),
    {
      label: 'Since',
      cell: ({ saidAtMs }) => (saidAtMs === undefined ? 'now' : agoText(saidAtMs, nowMs)),
    },
  ];
  const empty = isRead
    ? 'Nothing that is known blocks the node.'
    : 'It is not known what blocks the node: not everything was read.';
  return h(parts.Table<Blocker>, { columns, rows: blockers, empty });
}

const DECISION_COLUMN: Column<JoinerEvent> = {
  label: 'Decision',
  share: 2,
  cell: ({ decision }) => decision ?? '',
};

/** Events that Joiner wrote. Not `isRead`: there may be others. */
export function eventTable(
  parts: Parts,
  events: readonly JoinerEvent[],
  isRead: boolean,
  nowMs: number,
): ReactNode {
  const columns: readonly Column<JoinerEvent>[] = [
    {
      label: 'Last seen',
      cell: ({ atMs, count }) =>
        count > 1 ? `${agoText(atMs, nowMs)}, ${count} times` : agoText(atMs, nowMs),
      sortedBy: ({ atMs }) => -atMs,
    },
    {
      label: 'Object',
      share: 2,
      cell: (event) => linked(parts, targetOf(event), nameOf(event)),
      sortedBy: nameOf,
    },
    {
      label: 'Event',
      share: 2,
      cell: ({ reason, type }) =>
        type === 'Warning' ? h(parts.Status, { look: 'warning' }, reason) : reason,
      sortedBy: ({ reason }) => reason,
    },
    ...whyColumns<JoinerEvent>(({ why }) => why),
    ...(events.some(({ decision }) => decision !== undefined) ? [DECISION_COLUMN] : []),
  ];
  const empty = isRead ? 'Joiner has written no Event in the last hour.' : 'Events were not read.';
  return h(parts.Table<JoinerEvent>, { columns, rows: events, empty });
}

function nameOf({ kind, namespace, name }: JoinerEvent): string {
  const isInside = namespace !== '' && kind === 'Pod';
  return `${kind}/${isInside ? `${namespace}/` : ''}${name}`;
}

/** Commands of a terminal whose answers have more. */
export function commandList(commands: readonly string[]): ReactNode {
  const items = commands.map((each) => h('li', { key: each }, h('code', null, each)));
  return h('div', null, 'More in a terminal:', h('ul', null, ...items));
}

/** What cannot be read, where anything cannot. */
export function problemList(parts: Parts, problems: readonly string[]): ReactNode {
  return problems.map((problem) =>
    h('p', { key: problem }, h(parts.Status, { look: 'warning' }, problem)),
  );
}
