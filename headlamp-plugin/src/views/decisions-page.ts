import { createElement as h, type ReactNode, useMemo, useState } from 'react';
import type { Column, Headlamp, Parts } from '../headlamp.ts';
import { type DecisionRow, type Document, readDocument } from '../model/documents.ts';
import { joinerEvents } from '../model/events.ts';
import { eventTable, factsTable, problemList, whyTable } from './tables.ts';

const COLUMNS: readonly Column<DecisionRow>[] = [
  {
    label: 'At',
    share: 2,
    cell: ({ atMs }) => new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    sortedBy: ({ atMs }) => -atMs,
  },
  { label: 'By', cell: ({ useCase }) => useCase, sortedBy: ({ useCase }) => useCase },
  { label: 'Action', cell: ({ action }) => action, sortedBy: ({ action }) => action },
  { label: 'Object', share: 2, cell: ({ object }) => object, sortedBy: ({ object }) => object },
  { label: 'Why', share: 3, cell: ({ whys }) => whys.map(({ text }) => text).join('; ') },
  { label: 'Chosen', share: 2, cell: ({ chosen }) => chosen },
  { label: 'Runner-up', share: 3, cell: ({ runnerUp }) => runnerUp },
  { label: 'What to do', share: 3, cell: ({ whys }) => whys.map((each) => each.remedy).join(' ') },
];

function documentView(parts: Parts, document: Document): ReactNode {
  switch (document.kind) {
    case 'problem':
      return h('p', null, h(parts.Status, { look: 'error' }, document.problem));
    case 'decisions':
      return [
        h('p', { key: 'about' }, document.about),
        h(parts.Table<DecisionRow>, {
          key: 'rows',
          columns: COLUMNS,
          rows: document.rows,
          empty: 'There is no decision.',
        }),
      ];
    case 'explanation':
      return [
        h('p', { key: 'about' }, document.about),
        h('div', { key: 'facts' }, factsTable(parts, document.facts)),
        h('div', { key: 'whys' }, whyTable(parts, document.whys, 'No reason is given.')),
      ];
  }
}

/** What an event of a box says; the browser's own types are not known where tests run. */
interface Typed {
  readonly target: { readonly value: string };
}

/** What an event of a box for files says. */
interface Opened {
  readonly target: { readonly files: ArrayLike<{ text(): Promise<string> }> | null };
}

const BOX_STYLE = {
  width: '100%',
  boxSizing: 'border-box',
  font: '0.85rem monospace',
  color: 'inherit',
  background: 'transparent',
} as const;

/** A box for what a command has printed: pasted, or a file. Nothing of it leaves the browser. */
function documentBox({ parts }: Headlamp) {
  return function DocumentBox(): ReactNode {
    const [text, setText] = useState('');
    const document = useMemo(() => (text.trim() === '' ? undefined : readDocument(text)), [text]);
    const open = async ({ target }: Opened): Promise<void> => {
      const file = target.files?.[0];
      if (file !== undefined) setText(await file.text());
    };
    return h(
      parts.Section,
      { title: 'Joiner: records of decisions' },
      h(
        'p',
        null,
        'Events end after an hour, and the records are in the stack’s bucket. Paste or open what ',
        h('code', null, 'joiner decisions -o json'),
        ' or ',
        h('code', null, 'joiner explain -o json'),
        ' prints. It stays in this browser.',
      ),
      h('label', { htmlFor: 'joiner-document' }, 'JSON of the command'),
      h('textarea', {
        id: 'joiner-document',
        rows: 6,
        style: BOX_STYLE,
        value: text,
        onChange: ({ target }: Typed) => setText(target.value),
      }),
      h(
        'p',
        null,
        h('label', { htmlFor: 'joiner-file' }, 'or a file: '),
        h('input', { id: 'joiner-file', type: 'file', accept: '.json,.jsonl', onChange: open }),
      ),
      document === undefined ? null : documentView(parts, document),
    );
  };
}

/** The page with what Joiner's events say, and a box for records of decisions. */
export function decisionsPage(headlamp: Headlamp) {
  const DocumentBox = documentBox(headlamp);
  return function DecisionsPage(): ReactNode {
    const { parts } = headlamp;
    const list = headlamp.useList('Event', {});
    const events = useMemo(() => joinerEvents(list.objects ?? []), [list.objects]);
    const isRead = list.objects !== undefined && list.problem === undefined;
    const isLoading = list.objects === undefined && list.problem === undefined;
    const problems = list.problem === undefined ? [] : [`Events cannot be read: ${list.problem}`];
    return [
      h(
        parts.Section,
        { key: 'events', title: 'Joiner: events of the last hour' },
        problemList(parts, problems),
        isLoading ? h('p', null, 'Reading …') : eventTable(parts, events, isRead, headlamp.nowMs()),
      ),
      h(DocumentBox, { key: 'document' }),
    ];
  };
}
