import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { adviseSchema } from '../../cli/schema/advise.ts';
import type { Json } from '../../shared/sim/json.ts';
import { recordedMoment } from '../builders/recorded-moment.ts';
import { NODE_CLASS, nodePool, workload } from '../builders/recorded-month.ts';
import { inFolder, joiner } from '../cli/run.ts';
import { validated } from '../cli/validated.ts';

type Found = z.infer<typeof adviseSchema>;

const OPEN = { 'karpenter.sh/capacity-type': ['spot', 'on-demand'] };

/** A NodePool of its own for a team, and the pods that only it takes. */
function team(
  name: string,
  requirements: Readonly<Record<string, readonly string[]>>,
  more: Json = {},
): Json {
  const pool = nodePool(name, requirements, more);
  const { template, ...rest } = z
    .looseObject({ template: z.looseObject({ spec: z.looseObject({}) }) })
    .parse(pool['spec']);
  const taints = [{ key: 'team', value: name, effect: 'NoSchedule' }];
  return {
    ...pool,
    spec: { ...rest, template: { ...template, spec: { ...template.spec, taints } } },
  };
}

function member(name: string): Json {
  return {
    tolerations: [{ key: 'team', value: name, effect: 'NoSchedule' }],
    nodeSelector: { 'karpenter.sh/nodepool': name },
  };
}

function budget(app: string, maxUnavailable: number): Json {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'default' },
    spec: { maxUnavailable, selector: { matchLabels: { app } } },
  };
}

/** The answer of metrics.k8s.io: these amounts for pods whose name begins so, 3 cores for others. */
function metered(pods: readonly string[], used: Readonly<Record<string, Json>>): string {
  const items = pods.map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    const own = Object.entries(used).find(([app]) => name.startsWith(`${app}-`))?.[1];
    const usage = own ?? { cpu: '3', memory: '8Gi' };
    const sample = { timestamp: '2026-01-01T02:00:00Z', window: '15s' };
    return { metadata: { namespace, name }, ...sample, containers: [{ name: 'app', usage }] };
  });
  return JSON.stringify({ kind: 'PodMetricsList', items });
}

const SIZE = { cpu: '3', memory: '6Gi' };

/** Each workload by itself, so that no waste hides another one. */
const PLANTED: readonly Json[] = [
  NODE_CLASS,
  team('steady', { 'karpenter.sh/capacity-type': ['on-demand'] }),
  workload('steady', 4, SIZE, member('steady')),
  team('legacy', OPEN),
  workload('legacy', 4, SIZE, {
    ...member('legacy'),
    nodeSelector: { 'karpenter.sh/nodepool': 'legacy', 'kubernetes.io/arch': 'amd64' },
  }),
  team('guarded', OPEN),
  workload('guarded', 1, { cpu: '200m', memory: '256Mi' }, member('guarded')),
  workload('gone', 1, { cpu: '15', memory: '50Gi' }, member('guarded')),
  budget('guarded', 0),
  team('limited', OPEN, { limits: { cpu: '4' } }),
  workload('limited', 4, SIZE, member('limited')),
  team('padded', OPEN),
  workload('padded', 4, { cpu: '7', memory: '28Gi' }, member('padded')),
];

const WITHOUT_WASTE: readonly Json[] = [
  NODE_CLASS,
  nodePool('default', OPEN, { limits: { cpu: '1000' } }),
  workload('shop', 6, SIZE),
  workload('cache', 2, { cpu: '500m', memory: '7Gi' }),
  workload('gone', 0, SIZE),
  budget('shop', 1),
];

/** The further kinds of waste. */
const OTHERS: readonly Json[] = [
  NODE_CLASS,
  team('zonal', { ...OPEN, 'topology.kubernetes.io/zone': ['us-east-1a'] }),
  workload('zonal', 4, SIZE, member('zonal')),
  team('memory', {
    ...OPEN,
    'karpenter.k8s.aws/instance-family': ['r6i', 'r7g'],
  }),
  workload('memory', 4, SIZE, member('memory')),
  team('intel', { ...OPEN, 'kubernetes.io/arch': ['amd64'] }),
  workload('intel', 4, SIZE, member('intel')),
  team('guarded', OPEN),
  workload('guarded', 1, { cpu: '200m', memory: '256Mi' }, member('guarded'), {
    'karpenter.sh/do-not-disrupt': 'true',
  }),
  workload('gone', 1, { cpu: '15', memory: '50Gi' }, member('guarded')),
  nodePool('cheap', OPEN, { weight: 10, limits: { cpu: '8' } }),
  nodePool('dear', { 'karpenter.sh/capacity-type': ['on-demand'] }),
  workload('shop', 6, SIZE),
];

const USED = {
  padded: { cpu: '400000000n', memory: '900Mi' },
  guarded: { cpu: '180m', memory: '200Mi' },
  cache: { cpu: '450m', memory: '6Gi' },
};

async function advised(
  manifests: readonly Json[],
  steps: readonly Json[],
): Promise<{ readonly found: Found; readonly text: string }> {
  const { text, pods } = await recordedMoment(manifests, steps, 40);
  const files = { 'provision-1.json': text, 'metrics.json': metered(pods, USED) };
  return await inFolder(files, async (folder) => {
    const ask = async (...more: readonly string[]) => {
      const metrics = ['--metrics', `${folder}/metrics.json`];
      const { exitCode, stdout } = await joiner('advise', folder, ...metrics, ...more);
      expect(exitCode).toBe(0);
      return stdout;
    };
    const found = adviseSchema.parse(
      await validated('advise', JSON.parse(await ask('-o', 'json'))),
    );
    return { found, text: await ask() };
  });
}

/** The amounts are the differences, and in their order: savings first, then pods that wait. */
function expectSums({ advice }: Found): void {
  const isSaving = ({ basis }: Found['advice'][number]): boolean => basis !== 'pending-pods';
  const savings = advice.filter(isSaving);
  const amounts = savings.map(({ usdPerMonth }) => usdPerMonth);
  expect(amounts).toEqual(amounts.toSorted((a, b) => b - a));
  expect(advice.slice(0, savings.length)).toEqual(savings);
  for (const { usdPerMonth, before, after } of savings) {
    expect(usdPerMonth).toBeGreaterThanOrEqual(1);
    expect(after.podsUnplaced).toBe(before.podsUnplaced);
  }
  for (const { usdPerMonth, before, after } of advice) {
    expect(usdPerMonth).toBeCloseTo((before.usdPerHour - after.usdPerHour) * 730, 9);
  }
}

function subjects({ advice }: Found): readonly string[] {
  return advice.map(({ kind, object }) => `${kind} ${object}`).sort();
}

const GONE = [{ at: '15m', scale: { name: 'gone', replicas: 0 } }];

describe('joiner advise', () => {
  it('finds five planted wastes and nothing else', async () => {
    const { found, text } = await advised(PLANTED, GONE);
    expect(subjects(found)).toEqual([
      'architecture Deployment/default/legacy',
      'capacity-types NodePool/steady',
      'consolidation PodDisruptionBudget/default/guarded',
      'limits NodePool/limited',
      'requests Deployment/default/padded',
    ]);
    expectSums(found);
    const limits = found.advice.find(({ kind }) => kind === 'limits');
    expect(limits).toMatchObject({ before: { podsUnplaced: 3 }, after: { podsUnplaced: 0 } });
    expect(limits?.usdPerMonth).toBeLessThan(0);
    expect(found.advice.at(-1)).toBe(limits);
    expect(text).toMatch(
      /\n\nPods that wait:\n +COST A MONTH +ABOUT +OBJECT\n *5 +\$[\d.,]+ +limits +NodePool\/limited\n\n/,
    );
    expect(text).toContain('requirement karpenter.sh/capacity-type In [on-demand].');
    expect(text).toContain('does not allow the eviction of Pod default/guarded-');
    expect(text).toContain('the most that one used at 2026-01-01T02:00:00Z, over 15s is 400m.');
    expect(text).toContain('Request cpu 600m and memory 1350Mi per pod');
  }, 120_000);

  it('finds requirements about zones, types and architectures, dearer pools, and annotations', async () => {
    const { found, text } = await advised(OTHERS, GONE);
    expect(subjects(found)).toEqual([
      'architecture NodePool/intel',
      'capacity-types NodePool/dear',
      'consolidation Deployment/default/guarded',
      'limits NodePool/cheap',
      'types NodePool/memory',
      'zones NodePool/zonal',
    ]);
    expectSums(found);
    expect(text).toContain('of which the NodePool excludes');
    expect(text).toContain('has cpu');
  }, 120_000);

  it('finds nothing where nothing is wasted', async () => {
    const { found, text } = await advised(WITHOUT_WASTE, [GONE[0] ?? {}]);
    expect(found.advice).toEqual([]);
    expect(found.now).toMatchObject({ podsUnplaced: 0 });
    expect(text).toContain('No savings: none of the changes that are evaluated saves anything.');
  }, 120_000);
});

/** One NodePool with a small pod on a large node, and what keeps it there. */
const KEPT: readonly (readonly [
  object: string,
  says: string,
  spec: Json,
  more: readonly Json[],
  nodes: Json,
])[] = [
  [
    'Node/NODE',
    'Remove the annotation karpenter.sh/do-not-disrupt.',
    {},
    [],
    {
      'karpenter.sh/do-not-disrupt': 'true',
    },
  ],
  [
    'Deployment/default/guarded',
    'Remove the toleration of karpenter.sh/disrupted',
    { tolerations: [{ key: 'karpenter.sh/disrupted', operator: 'Exists' }] },
    [],
    {},
  ],
  [
    'Deployment/default/guarded',
    'Let one PodDisruptionBudget select the pods.',
    {},
    [
      budget('guarded', 1),
      { ...budget('guarded', 1), metadata: { name: 'other', namespace: 'default' } },
    ],
    {},
  ],
];

it.each(KEPT)(
  '%s keeps a node from consolidation: %s',
  async (object, says, spec, more, annotations) => {
    const manifests = [
      NODE_CLASS,
      // Spot nodes are not replaced by spot nodes.
      nodePool('default', { 'karpenter.sh/capacity-type': ['on-demand'] }),
      workload('guarded', 1, { cpu: '200m', memory: '256Mi' }, spec),
      workload('gone', 1, { cpu: '15', memory: '50Gi' }),
      ...more,
    ];
    // Before consolidation moves what nothing keeps yet.
    const { text } = await recordedMoment(manifests, GONE, 16);
    const recording = JSON.parse(text);
    const [node] = recording.snapshot.nodes;
    node.annotations = { ...node.annotations, ...annotations };
    await inFolder({ 'provision-1.json': JSON.stringify(recording) }, async (folder) => {
      const { stdout } = await joiner('advise', folder, '-o', 'json');
      const found = adviseSchema.parse(JSON.parse(stdout));
      const advice = found.advice.filter(({ kind }) => kind === 'consolidation');
      expect(advice).toMatchObject([
        { object: object.replace('NODE', node.name), basis: 'consolidated' },
      ]);
      expect(advice[0]?.change).toContain(says);
      expect(advice[0]?.after.nodes).toBe(1);
      expect(advice[0]?.usdPerMonth).toBeGreaterThan(10);
    });
  },
  60_000,
);

it('a shortage that passes is no saving: both sides have its offerings', async () => {
  const zones = ['us-east-1a', 'us-east-1b'];
  const manifests = [
    NODE_CLASS,
    nodePool('default', {
      'karpenter.sh/capacity-type': ['spot'],
      'topology.kubernetes.io/zone': zones,
    }),
    workload('shop', 6, { cpu: '900m', memory: '2Gi' }),
    workload('gone', 1, { cpu: '1', memory: '1Gi' }),
  ];
  const { text } = await recordedMoment(manifests, GONE, 5);
  const recording = JSON.parse(text);
  for (const { name, offerings } of recording.snapshot.typeLists.flat()) {
    for (const offering of offerings) {
      const isShort = offering.zone === zones[0] || name.endsWith('.large');
      if (isShort && offering.capacityType === 'spot') offering.available = false;
    }
  }
  const files = { 'provision-1.json': text, 'provision-2.json': JSON.stringify(recording) };
  await inFolder(files, async (folder) => {
    const ask = async (name: string) => {
      const { stdout } = await joiner('advise', `${folder}/${name}`, '-o', 'json');
      return adviseSchema.parse(JSON.parse(stdout));
    };
    const [free, short] = [await ask('provision-1.json'), await ask('provision-2.json')];
    expect(short.anew).toEqual(free.anew);
    expect(short.advice).toEqual(free.advice);
    expect(short.notes.filter((each) => !free.notes.includes(each))).toEqual([
      expect.stringMatching(/^\d+ offerings that a shortage bars now are planned as available/),
    ]);
  });
}, 60_000);

describe('of a folder', () => {
  const older = '2026-01-01T00:05:00.000Z';
  const newer = '2026-01-01T00:06:00.000Z';
  let text = '';
  beforeAll(async () => {
    ({ text } = await recordedMoment(WITHOUT_WASTE, GONE, 5));
  }, 60_000);
  const at = (time: string): string => JSON.stringify({ ...JSON.parse(text), at: time });
  const half = (time: string): string => at(time).slice(0, text.length / 2);
  const ask = async (files: Readonly<Record<string, string>>) =>
    await inFolder(files, async (folder) => await joiner('advise', folder, '-q'));

  it('the last recording by its time counts, and no other one is parsed', async () => {
    const files = { 'provision-1.json': at(newer), 'provision-2.json': half(older) };
    const { exitCode, stdout } = await ask(files);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`provision-1.json at ${newer}`);
  });

  it.each([
    ['is cut off', () => half(newer), 'provision-2.json: '],
    ['has no time', () => '{}', 'provision-2.json: the time of the recording cannot be read'],
    ['is damaged', () => '\u001f\u008b', 'provision-2.json: '],
  ])('no older one counts where the last one %s', async (_, damaged, says) => {
    const files = { 'provision-1.json': at(older), 'provision-2.json': damaged() };
    const { exitCode, stdout, stderr } = await ask(files);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).toContain('the last recording cannot be read');
  });

  it('there has to be a recording', async () => {
    const { exitCode, stderr } = await ask({ 'notes.json': '{}' });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('no recordings');
  });
});

it.each([
  ['nowhere.json', [], 'nowhere.json: no such file'],
  ['notes.json', [], 'not a recording that this version can read'],
  ['notes.json', ['--context', 'c'], '--context: give either a recording or a cluster'],
  ['notes.json', ['--feature-gates', 'NodeOverlay=true'], '--feature-gates: give either'],
  ['notes.json', ['--metrics', 'notes.json'], 'notes.json: not a list of PodMetrics'],
])('refuses %s %j', async (file, options, says) => {
  await inFolder({ 'notes.json': '{}' }, async (folder) => {
    const paths = [file, ...options].map((each) =>
      each.endsWith('.json') ? `${folder}/${each}` : each,
    );
    const { exitCode, stdout, stderr } = await joiner('advise', ...paths);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(says);
  });
});
