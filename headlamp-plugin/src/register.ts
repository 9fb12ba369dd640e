import { createElement as h } from 'react';
import type { Headlamp } from './headlamp.ts';
import { decisionsPage } from './views/decisions-page.ts';
import { claimPage, claimSection, nodeSection } from './views/node-section.ts';
import { nodesPage } from './views/nodes-page.ts';
import { podSection } from './views/pod-section.ts';

/** The page of a NodeClaim; `index.tsx` makes links to it. */
export const CLAIM_PAGE = 'joiner-nodeclaim';

/** Adds the sections and pages to Headlamp. */
export function register(headlamp: Headlamp): void {
  const sections = new Map([
    ['Node', nodeSection(headlamp)],
    ['NodeClaim', claimSection(headlamp)],
    ['Pod', podSection(headlamp)],
  ]);
  headlamp.addSection((shown) => {
    const section = sections.get(shown.kind);
    return section === undefined ? null : h(section, shown);
  });
  headlamp.addPage({
    path: '/joiner/nodes',
    name: 'joiner-nodes',
    label: 'Nodes and cost',
    component: nodesPage(headlamp),
  });
  headlamp.addPage({
    path: '/joiner/decisions',
    name: 'joiner-decisions',
    label: 'Decisions',
    component: decisionsPage(headlamp),
  });
  headlamp.addPage({
    path: '/joiner/nodeclaims/:name',
    name: CLAIM_PAGE,
    component: claimPage(headlamp),
  });
}
