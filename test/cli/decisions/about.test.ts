import { expect, it } from 'vitest';
import { type About, Selection } from '../../../cli/decisions/about.ts';
import { type ReadDecision, readDecisionSchema } from '../../../shared/api/decision-record.ts';
import { reason } from '../../../shared/core/explain/reason.ts';

function record(id: string, object: string, change: object = {}): ReadDecision {
  const base = { id, atMs: 0, useCase: 'provision', object, action: 'create', message: 'why' };
  return readDecisionSchema.parse({ ...base, ...change });
}

const stages = [{ nodePool: 'gpu', stages: [] }];
const RECORDS = [
  record('created', 'NodeClaim/web-x1', {
    detail: { nodePool: 'web', pods: ['shop/cart', 'default/cart-2'] },
  }),
  record('unplaced', 'Pod/shop/train', {
    action: 'unschedulable',
    reasons: [reason('pod-unplaced', { nodePools: stages, existingNodes: 0 })],
    message: 'NodePool web has no room for shop/cart on node-1',
  }),
  record('replaced', 'NodeClaim/web-x0', {
    action: 'replace',
    detail: { nodePool: 'web', replacements: ['web-x1'] },
  }),
  record('ended', 'NodeClaim/web-x1', {
    action: 'terminate',
    detail: { nodePool: 'web', node: 'node-1' },
  }),
  record('halted', 'NodePool/web', { action: 'none' }),
  record('idle', 'cluster', { action: 'unchanged' }),
];

function picked(about: About, records = RECORDS): readonly string[] {
  return new Selection(about).of(records).map(({ id }) => id);
}

it.each<[About, readonly string[]]>([
  [{}, RECORDS.map(({ id }) => id)],
  [{ pod: 'cart' }, ['created']],
  [{ pod: 'shop/cart' }, ['created']],
  [{ pod: 'default/cart' }, []],
  [{ pod: 'car' }, []],
  [{ pod: 'train' }, ['unplaced']],
  [{ pod: 'shop/train' }, ['unplaced']],
  // Not the NodeClaim of that name.
  [{ pod: 'web-x1' }, []],
  [{ node: 'web-x1' }, ['created', 'replaced', 'ended']],
  [{ node: 'node-1' }, ['created', 'replaced', 'ended']],
  [{ node: 'node-2' }, []],
  [{ nodePool: 'web' }, ['created', 'replaced', 'ended', 'halted']],
  [{ nodePool: 'gpu' }, ['unplaced']],
  [{ nodePool: 'web', node: 'web-x0' }, ['replaced']],
])('records about %j', (about, expected) => {
  expect(picked(about)).toEqual(expected);
});

it('a node stays known by its NodeClaim once a record has said so', () => {
  const selection = new Selection({ node: 'node-1' });
  expect(selection.of(RECORDS.slice(0, 2))).toEqual([]);
  expect(selection.of(RECORDS.slice(3)).map(({ id }) => id)).toEqual(['ended']);
  expect(selection.of(RECORDS.slice(0, 2)).map(({ id }) => id)).toEqual(['created']);
});
