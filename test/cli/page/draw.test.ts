import { describe, expect, it } from 'vitest';
import { nodeTable } from '../../../cli/page/draw/tables.ts';
import { pricesIn } from '../../../cli/page/draw/text.ts';
import type { NodeModel, Scene } from '../../../cli/page/model/model.ts';
import { textOf } from './made.ts';

/** How scenes that are made by hand are drawn and told. */

const prices = pricesIn('USD');

const NODE: NodeModel = {
  name: 'new-1',
  claim: '',
  pool: 'general',
  type: 'm7g.xlarge',
  zone: 'us-east-1b',
  capacityType: 'spot',
  listPrice: 0.1,
  price: 0.1,
  overlays: [],
  overlaid: {},
  state: 'new',
  allocatable: { cpu: 4000, memory: 16 * 2 ** 30 },
  reserved: {},
  pods: [[0, 1200]],
  ladder: null,
  runnerUp: null,
  why: '',
  life: null,
};

function sceneOf(nodes: readonly NodeModel[]): Scene {
  return {
    title: 'Nodes and pods',
    workloads: [{ label: 'default/web', kind: 'Deployment', requests: { cpu: 1 }, colour: 0 }],
    ladders: [],
    nodes,
    resources: ['cpu', 'memory'],
  };
}

function nodes(count: number, also: Partial<NodeModel> = {}): readonly NodeModel[] {
  return Array.from({ length: count }, (_, at) => ({ ...NODE, name: `new-${at + 1}`, ...also }));
}

const wordsOf = (text: string): string => textOf(`<body>${text}`);

describe('the table of nodes', () => {
  it('folds the names of many equal nodes, and has one column for one price', () => {
    const text = wordsOf(nodeTable(sceneOf(nodes(10)), prices).text);
    expect(text).toContain('Zone Price/h, each Pods, all');
    expect(text).toMatch(/us-east-1b \$0\.1000 12,000 .* new-1, new-2, new-3, new-4and 6 more\n/);
    expect(text).toContain('\nnew-5, new-6, new-7, new-8, new-9, new-10');
  });

  it('has the price after NodeOverlays where they change it', () => {
    const text = wordsOf(nodeTable(sceneOf(nodes(1, { price: 0.05 })), prices).text);
    expect(text).toContain('Zone List/h, each Price/h, each');
    expect(text).toMatch(/\$0\.1000 \$0\.0500 1,200 .* new-1$/m);
  });
});
