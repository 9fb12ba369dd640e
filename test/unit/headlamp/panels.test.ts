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
    expect(sectionText('Pod', pending, forbidden('Event'))).toContain('Events cannot be read');
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
