import { describe, expect, it } from 'vitest';
import { decisionDetail, nodeDetail } from '../../../cli/page/draw/detail.ts';
import { documentText } from '../../../cli/page/draw/document.ts';
import type { Level } from '../../../cli/page/draw/groups.ts';
import { ladderTable } from '../../../cli/page/draw/ladder.ts';
import { picture } from '../../../cli/page/draw/picture.ts';
import { priceChangeTables } from '../../../cli/page/draw/price-changes.ts';
import { nodeTable } from '../../../cli/page/draw/tables.ts';
import { percent, pricesIn } from '../../../cli/page/draw/text.ts';
import { timeline } from '../../../cli/page/draw/timeline.ts';
import type {
  DecisionModel,
  Frame,
  Ladder,
  NodeModel,
  PageModel,
  PriceChange,
  Scene,
} from '../../../cli/page/model/model.ts';
import { changeTimes } from '../../../cli/page/model/moment.ts';
import { modelOf } from '../../../cli/page/page.ts';
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
  went: '',
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

const offer = (type: string, zone: string, price: number, overlay: string | null = null) => ({
  ...{ type, zone, capacityType: 'spot', listPrice: 0.1, price, overlay, available: true },
  samePriceIn: [],
});

function ladderOf(...offers: Ladder['offers']): Ladder {
  const zones = ['us-east-1b'];
  return {
    nodePool: 'general',
    offers,
    considered: offers.length,
    types: offers.length,
    zones,
    otherZones: [],
  };
}

const RUNNER_UP = {
  ...{ type: 'm7g.xlarge', zone: 'us-east-1d', capacityType: 'spot', price: 0.1, listPrice: 0.1 },
  why: 'costs the same; the name comes later in the alphabet',
};

describe('a price ladder', () => {
  const node = { ...NODE, runnerUp: RUNNER_UP };
  const ladder = ladderOf(
    offer('m7g.xlarge', 'us-east-1b', 0.1),
    offer('m7g.xlarge', 'us-east-1d', 0.1),
  );

  it('says zone and note in the panel, where there is no room for columns', () => {
    const text = wordsOf(ladderTable(ladder, node, prices, 'Offerings', true).text);
    expect(text).toContain('Offering Price/h');
    expect(text).toMatch(/^★ m7g\.xlarge\s?spot · us-east-1b chosen \$0\.1000$/m);
    expect(text).toMatch(/^☆ m7g\.xlarge\s?spot · us-east-1d runner-up, .* alphabet \$0\.1000$/m);
  });

  it('has its words outside of the box that scrolls, and one price where there is one', () => {
    const { text } = ladderTable(ladder, node, prices, 'Offerings');
    expect(text).toMatch(/^<p class="sum">The 2 offerings .* ● price, from 0 to \$0\.1000 an hour/);
    expect(text).not.toContain('<caption');
    expect(wordsOf(text)).toContain('Zone Price/h On one axis Note');
  });

  it('has list price, effect and NodeOverlay where there is one', () => {
    const overlaid = ladderOf(offer('m7g.xlarge', 'us-east-1b', 0.05, 'cheap-arm'));
    expect(wordsOf(ladderTable(overlaid, node, prices, 'Offerings').text)).toMatch(
      /Zone List\/h Effect Overlay Price\/h[\s\S]* us-east-1b \$0\.1000 −50 % cheap-arm \$0\.0500 /,
    );
    expect(wordsOf(ladderTable(overlaid, node, prices, 'Offerings', true).text)).toMatch(
      /us-east-1b chosen; overlay cheap-arm \$0\.1000 −50 % \$0\.0500$/m,
    );
  });
});

/** The panel's words of a row with all these nodes. */
function panelOf(list: readonly NodeModel[], level: Level = 'type', also: Partial<Scene> = {}) {
  const scene = { ...sceneOf(list), ...also };
  const [first] = list;
  if (first === undefined) throw new Error('a row has a node');
  const group = { pool: first.pool, level, nodes: list, first };
  return wordsOf(nodeDetail(scene, group, { prices, when: '', picked: undefined }).text);
}

describe('the panel', () => {
  const lived = (launched: number, ready: number | null, gone: number | null = null) => ({
    ...{ ...NODE, listPrice: launched === 0 ? 0.1 : 0.2, price: launched === 0 ? 0.1 : 0.2 },
    life: { launched, ready, draining: gone, gone },
  });

  it('says of several nodes from when to when they were launched and ready, and their prices', () => {
    const text = panelOf([lived(300, 348), lived(0, 36)]);
    expect(text).toContain('\nLife launched 0s to 5m, ready 36s to 5m 48s\n');
    expect(text).toContain('\nPrice $0.1000 to $0.2000/h each\n');
    expect(panelOf([lived(0, 36), lived(0, 36)])).toContain('\nLife launched 0s, ready 36s\n');
  });

  it('says of how many nodes something is', () => {
    expect(panelOf([lived(0, 36, 90), lived(0, null)])).toContain(
      '\nLife launched 0s, ready 36s (1 of 2), drained from 1m 30s (1 of 2), gone 1m 30s (1 of 2)\n',
    );
  });

  it('tells which rows show what is not the same for all', () => {
    const [same, other] = [
      { ...NODE, runnerUp: RUNNER_UP },
      { ...NODE, runnerUp: { ...RUNNER_UP, why: 'holds the same pods for $0.1 more an hour' } },
    ];
    expect(panelOf([same, other], 'equal')).toContain(
      '\nRunner-up not the same for all: show every node\n',
    );
    expect(panelOf([same, other], 'equal')).not.toContain('show equal nodes');
    expect(panelOf([{ ...NODE, why: 'a' }, NODE])).toContain(
      '\nWhy not the same for all: show equal nodes\n',
    );
  });

  it('says why a node goes once it goes, and not before', () => {
    const node = { ...NODE, went: 'spot_interrupted for instance i-1' };
    expect(panelOf([{ ...node, state: 'leaves' }])).toContain(
      '\nWhy it goes spot_interrupted for instance i-1\n',
    );
    expect(panelOf([{ ...node, state: 'runs' }])).not.toContain('spot_interrupted');
  });
});

describe('a row of the picture', () => {
  const rowsOf = (list: readonly NodeModel[], level: Level) =>
    wordsOf(picture(sceneOf(list), { level, toSize: false, prices, open: new Set() }).text);

  it('has the name of its node, or of the first of several', () => {
    const other = { ...NODE, name: 'new-9', pods: [[0, 1]] as const };
    const text = rowsOf([...nodes(3), other], 'equal');
    expect(text).toMatch(/^3 × m7g\.xlarge spot · us-east-1b new-1 and 2 more /m);
    expect(text).toMatch(/^m7g\.xlarge spot · us-east-1b new-9 /m);
  });

  it('says how full each of several nodes is, where they are not all nearly full', () => {
    const used = (cpu: number) => ({ ...NODE, pods: [[0, cpu]] as const });
    expect(rowsOf([used(3900), used(800)], 'type')).toContain(
      'cpu of each node, the fullest first: 98 % to 20 %',
    );
    expect(rowsOf([used(3900), used(3800)], 'type')).not.toContain('the fullest first');
    expect(rowsOf([used(800), used(800)], 'type')).not.toContain('the fullest first');
  });
});

describe('the sums of a picture', () => {
  const drawn = (list: readonly NodeModel[]) =>
    wordsOf(picture(sceneOf(list), { level: 'each', toSize: false, prices, open: new Set() }).text);
  const node = (name: string, also: Partial<NodeModel>) => ({ ...NODE, name, ...also });
  const plan = [
    node('stays', { state: 'runs', listPrice: 0.4 }),
    node('goes', { state: 'leaves', listPrice: 0.3 }),
    node('comes', { state: 'new', listPrice: 0.2, pool: 'other' }),
  ];

  it('are of one moment each: nodes that go and nodes that come are never added up', () => {
    const text = drawn(plan);
    expect(text).toContain('All NodePools: 2 nodes now, 2 after · $0.7000/h now, $0.6000/h after');
    expect(text).toMatch(/^2 nodes now, 1 after · \$0\.7000\/h now, \$0\.4000\/h after/m);
    expect(text).toMatch(/^0 nodes now, 1 after · \$0\.2000\/h after/m);
    expect(text).not.toContain('$0.9000');
    expect(text).toMatch(/^m7g\.xlarge leaves /m);
  });

  it('are those of the JSON and of the heading of a plan', () => {
    const packed = plan.map(({ name, pool, state, listPrice }) => ({
      ...{ name, nodeClaim: null, nodePool: pool, instanceType: 'm7g.xlarge', zone: 'us-east-1b' },
      ...{ capacityType: 'spot', listPrice, price: listPrice, overlays: [], overlaid: {}, state },
      ...{ allocatable: { cpu: '4' }, reserved: {}, pods: [], ladder: null, runnerUp: null },
      ...{ replaces: [], why: null, life: null },
    }));
    const json = {
      pricePerHour: { now: 0.7, after: 0.6, unpriced: 0 },
      packing: { workloads: [], ladders: [], nodes: packed },
    };
    const model = modelOf({ command: 'plan', subject: 'https://api', json });
    expect(model.lead).toContain('$0.7000 an hour now, $0.6000 after');
    const text = textOf(documentText(model, { style: '', script: '', policy: '' }));
    expect(text).toContain('$0.7000/h now, $0.6000/h after');
    expect(text).toMatch(/^1 m7g\.xlarge leaves /m);
  });

  it('say of how many nodes the price is unknown, and never take it for nothing', () => {
    const unknown = node('mine', { state: 'runs', type: 'unknown type', listPrice: null });
    const text = drawn([node('known', { state: 'runs' }), { ...unknown, price: null }]);
    expect(text).toContain('2 nodes · 2,400 pods · at least $0.1000/h, 1 node of unknown price');
    expect(text).toContain('price unknown');
    expect(drawn([{ ...unknown, price: null }])).toMatch(/^1 node · 1,200 pods · price unknown/m);
    expect(`${text}${drawn([{ ...unknown, price: null }])}`).not.toContain('$0.0000');
  });

  it('leave out nodes of nobody, whose price no command counts', () => {
    const text = drawn([
      node('a', { state: 'runs' }),
      node('b', { state: 'runs', pool: 'other' }),
      node('c', { state: 'runs', pool: 'no NodePool', listPrice: null, price: null }),
    ]);
    expect(text).toContain('All NodePools: 2 nodes · 2,400 pods · $0.2000/h');
    expect(text).toMatch(/^1 node · 1,200 pods · price unknown/m);
  });

  it('of a plan say at least what is known', () => {
    const json = { pricePerHour: { now: 0.7, after: 0, unpriced: 2 } };
    const { lead, headlines, costs } = modelOf({ command: 'plan', subject: '', json });
    expect(lead).toContain(
      'at least $0.7000 an hour now, price unknown after (2 nodes of unknown price)',
    );
    expect(headlines.map(({ value }) => value)).not.toContain('$0.0000');
    expect(costs.map(({ perHour }) => perHour)).toEqual([0.7, null]);
  });
});

describe('a mark of several moments', () => {
  const decided = (at: number, action: string): DecisionModel => ({
    ...{ at, action, object: 'NodeClaim/a', others: [], why: 'so' },
  });
  const list = [decided(300, 'delete'), decided(302.4, 'terminate')];
  const nameIn = (decisions: readonly DecisionModel[]) => {
    const history = { seconds: 900, frames: [], pauses: [], repeats: {} };
    const { text } = timeline({ decisions, events: [] }, history, sceneOf([]), prices);
    return /class="mark"[^>]* aria-label="([^"]*)"/.exec(text)?.[1];
  };

  it('has a name that says from when to when, and of each when', () => {
    expect(nameIn(list)).toBe(
      '5m to 5m 2s: 2 decisions. after 5m delete NodeClaim/a: so. after 5m 2s terminate NodeClaim/a: so',
    );
    expect(nameIn([decided(300, 'delete'), decided(300.2, 'create')])).toBe(
      '5m: 2 decisions. delete NodeClaim/a: so. create NodeClaim/a: so',
    );
  });

  it('says so in the panel', () => {
    const text = wordsOf(decisionDetail(list).text);
    expect(text).toMatch(/^After 5m to 5m 2s\nafter 5m delete [\s\S]*\nafter 5m 2s terminate /);
    expect(wordsOf(decisionDetail(list.slice(1)).text)).toMatch(/^After 5m 2s\nterminate /);
  });
});

describe('what is said of the picture', () => {
  const model = (scene: Scene): PageModel => ({
    ...{ command: 'solve', subject: '', lead: '', headlines: [], facts: [], currency: 'USD' },
    ...{ costs: [], verdict: '', scenes: [scene], history: null, decisions: [], stays: [] },
    ...{ events: [], unplaced: [], notes: [] },
  });
  const pageOf = (scene: Scene) =>
    textOf(documentText(model(scene), { style: '', script: '', policy: '' }));
  const full = { ...NODE, allocatable: { cpu: 1200 } };

  it('is of what there is in it alone', () => {
    const text = pageOf(sceneOf([full]));
    expect(text).not.toMatch(/or several that are equal|Rows of types|“Room for more pods”/);
    expect(text).not.toMatch(/then what else|^DaemonSets$/m);
  });

  it('tells of equal nodes, of room and of DaemonSets where they are', () => {
    const text = pageOf(sceneOf(nodes(2, { reserved: { cpu: 10 } })));
    expect(text).toMatch(/A row is a node, or several that are equal\. /);
    expect(text).toMatch(/“Room for more pods” is .* Rows of types open to the nodes in them\. /);
    expect(text).toMatch(/^DaemonSets$/m);
  });
});

describe('the steps of the slider', () => {
  const frame = (at: number, pods: Frame['pods'], pending = 0) => ({
    ...{ at, pods, pending, pricePerHour: 0.1 },
  });

  it('are where something is seen to change or is told, and nowhere else', () => {
    const frames = [
      frame(0.3, [], 2),
      frame(40.2, [[0, [[0, 2]]]]),
      frame(60, []),
      frame(120, [[0, [[0, 2]]]]),
      frame(300, [[0, [[0, 1]]]]),
    ];
    const life = { launched: 0.3, ready: 36.5, draining: null, gone: null };
    const scene = sceneOf([{ ...NODE, life }]);
    expect(changeTimes(scene, { frames }, [{ at: 780 }, { at: undefined }])).toEqual([
      0, 36, 40, 300, 780,
    ]);
  });
});

describe('shares', () => {
  it.each([
    [0, '0 %'],
    [0.004, '< 1 %'],
    [0.62, '62 %'],
    [0.9942, '99.4 %'],
    [1863 / 1865, '99.9 %'],
    [1177.9 / 1178, '100 %'],
  ])('of %j are %j', (share, text) => {
    expect(percent(share)).toBe(text);
  });
});

describe('numbers of pods', () => {
  it('have thousands apart', () => {
    const json = { podsWaiting: 19_502, podsRunning: 0 };
    const { facts } = modelOf({ command: 'compare', subject: '', json });
    expect(facts).toContainEqual(['Pods', '19,502 wait, 0 run']);
  });
});

describe('prices before and after NodeOverlays', () => {
  const change = (type: string, capacity = ''): PriceChange => ({
    ...{ pool: 'general', type, capacityType: 'on-demand', listPrice: 0.1, price: 0.05, capacity },
  });
  const textFor = (...changes: readonly PriceChange[]) =>
    wordsOf(priceChangeTables(changes, prices).text);

  it('are by size, bare metal last', () => {
    const sizes = ['12xlarge', '16xlarge', '2xlarge', 'large', 'medium', 'metal', 'xlarge'];
    const text = textFor(...sizes.map((size) => change(`m7g.${size}`)));
    expect([...text.matchAll(/^m7g\.(\w+)/gm)].map(([, size]) => size)).toEqual([
      ...['medium', 'large', 'xlarge', '2xlarge', '12xlarge', '16xlarge', 'metal'],
    ]);
  });

  it('have a column for capacity only where a NodeOverlay sets some', () => {
    expect(textFor(change('m7g.large'))).not.toContain('Capacity set');
    const text = textFor(change('m7g.large', 'gpu-slice 4'));
    expect(text).toContain('Capacity set');
    expect(text).toMatch(/^m7g\.large on-demand .* gpu-slice 4$/m);
  });
});
