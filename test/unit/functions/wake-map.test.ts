import { describe, expect, it } from 'vitest';
import { RESOURCES, type Resource } from '../../../shared/api/resources.ts';
import { WAKE_TARGETS } from '../../../shared/contract.ts';
import { BufferTargets } from '../../../shared/kube/buffer-looks.ts';
import { wakeSources } from '../../../shared/kube/wake-sources.ts';
import type { Change } from '../../../shared/kube/watch.ts';

type Step = readonly [resource: Resource, kind: Change['kind'], object: object];
type Row = readonly [
  what: string,
  steps: readonly Step[],
  said: readonly string[],
  woken: readonly string[],
];

const metadata = (rest: object = {}) => ({ name: 'x', uid: 'u', generation: 1, ...rest });
const object = (rest: object = {}, meta: object = {}) => ({ metadata: metadata(meta), ...rest });
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const condition = (type: string, status: string, rest: object = {}) => ({ type, status, ...rest });
const ready = (status: string, rest: object = {}) => ({
  status: { conditions: [condition('Ready', status, { observedGeneration: 1 })], ...rest },
});
const unschedulable = {
  status: { conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable' })] },
};

/** What the changes, one after the other, said in the end, and whom that wakes. */
function wokenBy(changes: readonly Step[]) {
  const sources = wakeSources(new BufferTargets());
  const said = changes.map(([resource, kind, changed]) =>
    sources
      .filter(({ selection }) => selection.resource === resource)
      .flatMap(({ meaning }) => meaning({ kind, object: changed, resourceVersion: '1' })),
  );
  const kinds = said.at(-1) ?? [];
  return [kinds, [...new Set(kinds.flatMap((each) => [...WAKE_TARGETS[each]]))].sort()];
}

const { pods, nodes, nodeClaims, nodePools, nodeOverlays, nodeClasses, capacityBuffers } =
  RESOURCES;

const ROWS: readonly Row[] = [
  [
    'a pod that nothing fits',
    [[pods, 'added', object(unschedulable)]],
    ['pods-unschedulable'],
    ['provision'],
  ],
  ['a pod that is not tried yet', [[pods, 'added', object()]], [], []],
  ['a claim', [[nodeClaims, 'added', object()]], ['nodeclaim-created'], ['provision']],
  [
    'a claim that changes',
    [[nodeClaims, 'modified', object()]],
    ['nodeclaim-changed'],
    ['lifecycle'],
  ],
  [
    'a claim that is deleted',
    [[nodeClaims, 'modified', object({}, deleted)]],
    ['nodeclaim-deleted'],
    ['lifecycle', 'provision'],
  ],
  ['a claim that has gone', [[nodeClaims, 'deleted', object()]], ['nodeclaim-gone'], ['provision']],
  [
    'a claim that has gone while a class waits to go',
    [
      [nodeClasses, 'modified', object({}, deleted)],
      [nodeClaims, 'deleted', object()],
    ],
    ['nodeclaim-gone', 'nodeclass-released'],
    ['nodeclass', 'provision'],
  ],
  [
    'a claim that has gone after such a class has',
    [
      [nodeClasses, 'modified', object({}, deleted)],
      [nodeClasses, 'deleted', object({}, deleted)],
      [nodeClaims, 'deleted', object()],
    ],
    ['nodeclaim-gone'],
    ['provision'],
  ],
  ['a node', [[nodes, 'added', object()]], ['node-joined'], ['lifecycle']],
  [
    'a node that is ready',
    [[nodes, 'modified', object(ready('True'))]],
    ['node-changed'],
    ['lifecycle'],
  ],
  [
    'a heartbeat',
    [
      [nodes, 'added', object(ready('True'))],
      [nodes, 'modified', object({ ...ready('True'), beat: 1 })],
    ],
    [],
    [],
  ],
  [
    'a node that has gone',
    [
      [nodes, 'added', object()],
      [nodes, 'deleted', object()],
    ],
    ['node-deleted'],
    ['lifecycle'],
  ],
  ['a NodePool', [[nodePools, 'added', object()]], ['nodepool-changed'], ['disrupt', 'provision']],
  [
    'a NodePool that changes',
    [
      [nodePools, 'added', object(ready('True'))],
      [nodePools, 'modified', object(ready('True'), { generation: 2 })],
    ],
    ['nodepool-changed'],
    ['disrupt', 'provision'],
  ],
  [
    'a NodePool that turns Ready',
    [
      [nodePools, 'added', object(ready('False'))],
      [nodePools, 'modified', object(ready('True'))],
    ],
    ['nodepool-ready'],
    ['provision'],
  ],
  [
    'a NodePool of which usage is written',
    [
      [nodePools, 'added', object(ready('True'))],
      [nodePools, 'modified', object(ready('True', { nodes: 3 }))],
    ],
    [],
    [],
  ],
  [
    'a NodeOverlay that changes',
    [
      [nodeOverlays, 'added', object()],
      [nodeOverlays, 'modified', object({}, { generation: 2 })],
    ],
    ['nodeoverlay-changed'],
    ['disrupt', 'provision'],
  ],
  [
    'a NodeOverlay that has gone',
    [
      [nodeOverlays, 'added', object()],
      [nodeOverlays, 'deleted', object()],
    ],
    ['nodeoverlay-changed'],
    ['disrupt', 'provision'],
  ],
  [
    'an EC2NodeClass that changes',
    [
      [nodeClasses, 'added', object(ready('True'))],
      [nodeClasses, 'modified', object(ready('True'), { generation: 2 })],
    ],
    ['nodeclass-changed'],
    ['nodeclass'],
  ],
  [
    'an EC2NodeClass that turns Ready',
    [
      [nodeClasses, 'added', object(ready('Unknown'))],
      [nodeClasses, 'modified', object(ready('True'))],
    ],
    ['nodeclass-resolved'],
    ['disrupt', 'provision'],
  ],
  [
    'an EC2NodeClass that has found another image',
    [
      [nodeClasses, 'added', object(ready('True', { amis: [{ id: 'ami-1' }] }))],
      [nodeClasses, 'modified', object(ready('True', { amis: [{ id: 'ami-2' }] }))],
    ],
    ['nodeclass-resolved'],
    ['disrupt', 'provision'],
  ],
  [
    'an EC2NodeClass that is ready as it was',
    [
      [nodeClasses, 'added', object(ready('True'))],
      [nodeClasses, 'modified', object({ ...ready('True'), beat: 1 })],
    ],
    [],
    [],
  ],
  [
    'a CapacityBuffer that changes',
    [
      [capacityBuffers, 'added', object()],
      [capacityBuffers, 'modified', object({}, { generation: 2 })],
    ],
    ['capacitybuffer-changed'],
    ['provision'],
  ],
  [
    'a CapacityBuffer of which the status is written',
    [
      [capacityBuffers, 'added', object()],
      [capacityBuffers, 'modified', object({ status: { replicas: 1 } })],
    ],
    [],
    [],
  ],
];

describe('who is woken by what', () => {
  it.each(ROWS)('%s', (_, changes, kinds, woken) => {
    expect(wokenBy(changes)).toEqual([kinds, woken]);
  });

  it('has a row for each kind of wake-up but the installer’s', () => {
    const said = new Set(ROWS.flatMap(([, , kinds]) => kinds));
    expect([...said, 'installed'].sort()).toEqual(Object.keys(WAKE_TARGETS).sort());
  });
});
