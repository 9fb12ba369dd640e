import { type ComponentType, createElement as h, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type {
  Column,
  Headlamp,
  Listed,
  ListedKind,
  Page,
  Parts,
  Query,
  Shown,
} from '../../../headlamp-plugin/src/headlamp.ts';
import { register } from '../../../headlamp-plugin/src/register.ts';
import { property, text } from '../../../shared/kube/list.ts';
import recorded from './recorded.json' with { type: 'json' };

/** What lists of each kind return. */
export type Lists = Readonly<Partial<Record<ListedKind, readonly unknown[] | Listed>>>;

/** As `test/e2e/headlamp.test.ts` has recorded a cluster with `JOINER_RECORD=1`. */
export const RECORDED: Lists = {
  NodeClaim: recorded.nodeClaims,
  Node: recorded.nodes,
  NodePool: recorded.nodePools,
  Pod: recorded.pods,
  PodDisruptionBudget: recorded.podDisruptionBudgets,
  Event: recorded.events,
  ConfigMap: [],
};
/** When it was recorded. */
export const RECORDED_AT_MS = Date.parse(recorded.at);

/** Headlamp's components as plain text: one line for each fact and row. */
const parts: Parts = {
  Section: ({ title, children }) => h('section', null, h('h2', null, `## ${title}`), children),
  Facts: ({ facts }) =>
    h('div', null, ...facts.map(({ name, value }) => h('p', { key: name }, `${name}: `, value))),
  Status: ({ look, children }) => h('span', null, `[${look}] `, children),
  PageLink: ({ to: { kind, namespace, name }, children }) =>
    h('a', null, children, ` → ${[kind, namespace, name].filter((each) => each !== '').join('/')}`),
  Table: <Row extends object>({
    columns,
    rows,
    empty,
  }: {
    readonly columns: readonly Column<Row>[];
    readonly rows: readonly Row[];
    readonly empty: string;
  }) => {
    const line = (key: string, cells: readonly ReactNode[]) =>
      h('p', { key }, ...cells.flatMap((cell, at) => (at === 0 ? [cell] : [' | ', cell])));
    if (rows.length === 0) return h('p', null, `(${empty})`);
    const body = rows.map((row, at) =>
      line(
        String(at),
        columns.map(({ cell }) => cell(row)),
      ),
    );
    const labels = columns.map(({ label }) => label);
    return h('div', null, line('head', labels), ...body);
  },
};

function isSelected(object: unknown, { namespace, fieldSelector }: Query): boolean {
  const own = property(property(object, 'metadata'), 'namespace');
  if (namespace !== undefined && own !== namespace) return false;
  if (fieldSelector === undefined) return true;
  const [path = '', value = ''] = fieldSelector.split('=');
  const found = path.split('.').reduce((each: unknown, name) => property(each, name), object);
  return text(found) === value;
}

/** Headlamp with these lists and this parameter in the page's path. */
function headlampOf(lists: Lists, nowMs: number, parameter: string) {
  const sections: ((shown: Shown) => ReactNode)[] = [];
  const pages: Page[] = [];
  const headlamp: Headlamp = {
    parts,
    useList: (kind, query) => {
      const found = lists[kind];
      if (found === undefined) return { objects: undefined, problem: undefined };
      if ('problem' in found) return found;
      return { objects: found.filter((each) => isSelected(each, query)), problem: undefined };
    },
    useParameter: () => parameter,
    nowMs: () => nowMs,
    addSection: (section) => sections.push(section),
    addPage: (page) => pages.push(page),
  };
  register(headlamp);
  return { sections, pages };
}

function textOf(component: ComponentType): string {
  const markup = renderToStaticMarkup(h(component));
  return markup
    .replaceAll(/<\/(p|h2|li|label)>/g, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')
    .replaceAll(/(?<!^)## /g, '\n## ')
    .trim();
}

/** The text of the plugin's page of the name. */
export function pageText(
  name: string,
  lists: Lists = RECORDED,
  parameter = '',
  nowMs = RECORDED_AT_MS,
): string {
  const page = headlampOf(lists, nowMs, parameter).pages.find((each) => each.name === name);
  if (page === undefined) throw new Error(`there is no page ${name}`);
  return textOf(page.component);
}

/** The text of the plugin's sections on the page of an object; empty: it has none. */
export function sectionText(
  kind: string,
  object: unknown,
  lists: Lists = RECORDED,
  nowMs = RECORDED_AT_MS,
): string {
  const { sections } = headlampOf(lists, nowMs, '');
  return textOf(() => sections.map((each) => each({ kind, cluster: 'test', object })));
}

/** The pages that the plugin adds: path, name and the label in the sidebar. */
export function pagesAdded(): readonly string[] {
  const { pages } = headlampOf({}, 0, '');
  return pages.map(({ path, name, label }) => `${path} ${name} ${label ?? '-'}`);
}
