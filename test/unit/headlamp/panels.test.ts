import { describe, expect, it } from 'vitest';
import { nameOf } from '../../support/closed-loop/questions.ts';
import {
  type Lists,
  pagesAdded,
  pageText,
  RECORDED,
  RECORDED_AT_MS,
  sectionText,
} from './stand-in.ts';

/** The panels of a cluster as a real API server and the functions have recorded it. */

type Kind = keyof Lists;

function recordedOf(kind: Kind): readonly unknown[] {
  const list = RECORDED[kind];
  if (list === undefined || 'problem' in list) throw new Error(`no ${kind} is recorded`);
  return list;
}

const [node] = recordedOf('Node');
const [claim] = recordedOf('NodeClaim');
const pods = recordedOf('Pod');
const pending = pods.find((each) => nameOf(each).startsWith('huge-'));
const bound = pods.find((each) => nameOf(each).startsWith('web-'));

function forbidden(...kinds: readonly Kind[]): Lists {
  const list = { objects: undefined, problem: 'Forbidden' };
  return { ...RECORDED, ...Object.fromEntries(kinds.map((kind) => [kind, list])) };
}

describe('the panels of a recorded cluster', () => {
  it.each([
    ['nodes', () => pageText('joiner-nodes')],
    ['decisions', () => pageText('joiner-decisions')],
    ['claim', () => pageText('joiner-nodeclaim', RECORDED, nameOf(claim))],
    ['node', () => sectionText('Node', node)],
    ['pod', () => sectionText('Pod', pending)],
  ])('%s', async (name, text) => {
    await expect(`${text()}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  it('shows of a NodeClaim the same on its own page and in a section', () => {
    const page = pageText('joiner-nodeclaim', RECORDED, nameOf(claim));
    expect(sectionText('NodeClaim', claim)).toBe(page);
  });

  it('adds two pages to the sidebar, and one that links lead to', () => {
    expect(pagesAdded()).toEqual([
      '/joiner/nodes joiner-nodes Nodes and cost',
      '/joiner/decisions joiner-decisions Decisions',
      '/joiner/nodeclaims/:name joiner-nodeclaim -',
    ]);
  });
});

describe('a section is left out', () => {
  it.each([
    ['of other kinds', 'ConfigMap', {}],
    ['of a pod on a node', 'Pod', bound],
    ['of what is no object', 'NodeClaim', 7],
  ])('%s', (_, kind, object) => {
    expect(sectionText(kind, object)).toBe('');
  });

  it('while lists are read', () => {
    expect(sectionText('Node', node, {})).toBe('');
    expect(sectionText('Pod', pending, {})).toBe('');
  });
});

describe('what cannot be read', () => {
  it('is named, and the rest is shown', () => {
    const text = sectionText('Node', node, forbidden('PodDisruptionBudget', 'Event', 'ConfigMap'));
    for (const name of ['PodDisruptionBudgets', 'Events', 'The ConfigMap kube-system/joiner']) {
      expect(text).toContain(`[warning] ${name} cannot be read: Forbidden`);
    }
    expect(text).toMatch(/Runner-up: m6a\.large/);
    expect(text).not.toContain('PodDisruptionBudget default/web');
  });

  it('is named where nothing else is left', () => {
    expect(sectionText('Node', node, forbidden('NodeClaim'))).toContain(
      'NodeClaims cannot be read: Forbidden',
    );
    const ofPod = sectionText('Pod', pending, forbidden('Event'));
    expect(ofPod).toContain('Events cannot be read');
    expect(ofPod).toContain('Why the pod is pending is not known: Events were not read');
    expect(pageText('joiner-decisions', forbidden('Event'))).toContain('Events cannot be read');
    const hidden = pageText('joiner-nodeclaim', forbidden('NodeClaim'), nameOf(claim));
    expect(hidden).toContain('NodeClaims cannot be read');
    expect(hidden).not.toContain('no such');
    expect(pageText('joiner-nodeclaim', RECORDED, 'gone')).toContain('There is no such NodeClaim');
  });

  it('is a node of somebody else', () => {
    const other = { kind: 'Node', metadata: { name: 'other' } };
    expect(sectionText('Node', other)).toContain('Joiner leaves it alone');
  });
});

/** Sentences that are wrong of the recorded cluster, whatever of it is known. */
const UNTRUE: readonly RegExp[] = [
  /Empty/,
  /Joining/,
  /none yet/,
  /leaves it alone/,
  /no such/,
  /There are no nodes/,
  /^[01] nodes|^2 nodes: -/m,
  /written no Event/,
  /Nothing that is known/,
];

const DELETED = { ...RECORDED, NodeClaim: recordedOf('NodeClaim').map(deleted) };
const [deletedClaim] = DELETED.NodeClaim;

function deleted(each: unknown): object {
  const object = Object(each);
  const deletionTimestamp = new Date(RECORDED_AT_MS).toISOString();
  return { ...object, metadata: { ...object.metadata, deletionTimestamp } };
}

const UNREAD: readonly (readonly [string, Lists[Kind]])[] = [
  ['forbidden', { objects: undefined, problem: 'Forbidden' }],
  ['loading', undefined],
];
const KINDS = [
  'ConfigMap',
  'Event',
  'Node',
  'NodeClaim',
  'NodePool',
  'Pod',
  'PodDisruptionBudget',
] as const satisfies readonly Kind[];

function allPanels(lists: Lists, shownClaim: unknown): string {
  return [
    pageText('joiner-nodes', lists),
    pageText('joiner-decisions', lists),
    pageText('joiner-nodeclaim', lists, nameOf(shownClaim)),
    sectionText('Node', node, lists),
    sectionText('NodeClaim', shownClaim, lists),
    sectionText('Pod', pending, lists),
  ].join('\n');
}

describe.each(UNREAD)('nothing untrue is said while a list is %s', (_, list) => {
  it.each(KINDS)('of %s', (kind) => {
    const text = allPanels({ ...RECORDED, [kind]: list }, claim);
    for (const sentence of UNTRUE) expect(text).not.toMatch(sentence);
  });

  it.each(KINDS)('of %s, of nodes that drain', (kind) => {
    const text = allPanels({ ...DELETED, [kind]: list }, deletedClaim);
    for (const sentence of [...UNTRUE, /\] Ready/, /Terminating/]) {
      expect(text).not.toMatch(sentence);
    }
  });

  it('of every kind', () => {
    const text = allPanels(Object.fromEntries(KINDS.map((kind) => [kind, list])), claim);
    for (const sentence of UNTRUE) expect(text).not.toMatch(sentence);
  });

  it('what is not known is named', () => {
    const without = (kind: Kind): Lists => ({ ...RECORDED, [kind]: list });
    const page = (kind: Kind) => pageText('joiner-nodeclaim', without(kind), nameOf(claim));
    expect(page('Pod')).toContain('State: [success] Ready: whether it has pods is not known');
    expect(page('Node')).toContain('State: [warning] Unknown: Nodes were not read');
    expect(page('Event')).toContain('(Events were not read.)');
    // A page of a Node has its object without the list.
    expect(sectionText('Node', node, without('Node'))).toContain('State: [success] Ready\n');
    expect(pageText('joiner-nodes', without('Node'))).toContain('At least 2 nodes: $0.1530/h');
    const ofNodes = pageText('joiner-nodes', without('NodeClaim'));
    expect(ofNodes).toContain('[warning] Unknown | NodeClaims were not read');
  });
});

it('an empty list that was read is no gap', () => {
  const text = sectionText('Node', node, { ...RECORDED, Pod: [], Event: [] });
  expect(text).toContain('State: [success] Empty');
  expect(text).toContain('Joiner has written no Event in the last hour');
});

it('a pause and its end are known by the ConfigMap', () => {
  const data = { 'pause.disrupt': 'on', 'pause.launch': '2020-01-01T00:00:00Z' };
  const metadata = { name: 'joiner', namespace: 'kube-system' };
  const text = sectionText('Node', node, { ...RECORDED, ConfigMap: [{ metadata, data }] });
  expect(text).toContain('disruption | disruptions are paused in the ConfigMap');
  expect(text).not.toContain('Launches are paused');
});

it('times are ages of the moment', () => {
  const later = sectionText('Node', node, RECORDED, RECORDED_AT_MS + 3_600_000);
  expect(later).toMatch(/\d+m ago/);
});
