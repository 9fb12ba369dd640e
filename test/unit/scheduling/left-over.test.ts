import { describe, expect, it } from 'vitest';
import { HOSTNAME, ZONE } from '../../../shared/core/model/labels.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { GI, nodeOf, planOf, podOf, podsOf, poolOf, typeOf } from '../../builders/scheduling.ts';

const labels = { app: 'many' };
/** So many that their plan is not improved in other ways. */
const many = podsOf(300, 'many', { cpu: 3000 }, { labels });
/** Of these, some have to be in one zone and some in another. */
const pinned = ['zone-b', 'zone-c'].flatMap((zone) =>
  podsOf(5, `pinned-${zone}`, { nodeSelector: { [ZONE]: zone } }, { labels }),
);

/** Small ones that may not be in a zone with those. */
const shy = podsOf(4, 'shy', { cpu: 500, podAntiAffinity: [termOver(ZONE, ofApp('many'))] });

describe('pods that find every zone taken', () => {
  it('are placed before the others', () => {
    const plan = planOf({
      types: [typeOf('large', 64, 256, 1)],
      pods: [...many, ...pinned, ...shy],
    });
    expect([...plan.unplaced.keys()]).toEqual([]);
    const zonesOf = (name: string) => {
      const claims = plan.newNodeClaims.filter(({ pods }) =>
        pods.some((pod) => pod.includes(name)),
      );
      return [...new Set(claims.map(({ chosen }) => chosen.zone))].sort();
    };
    expect(zonesOf('shy')).toEqual(['zone-a']);
    expect([...zonesOf('many'), ...zonesOf('pinned')]).not.toContain('zone-a');
  });

  it('stay where they are where nothing would place more', () => {
    const types = [typeOf('large', 64, 256, 1, { zones: ['zone-a'] })];
    const plan = planOf({ types, pods: [...many, ...shy] });
    expect([...plan.unplaced.keys()].sort()).toEqual(shy.map(({ name }) => `default/${name}`));
  });

  it('do not come before pods that matter more', () => {
    const types = [typeOf('large', 64, 256, 1, { zones: ['zone-a'] })];
    const first = shy.map((pod) => ({ ...pod, spec: { ...pod.spec, priority: 10 } }));
    const plan = planOf({ types, pods: [...many, ...first] });
    expect([...plan.unplaced.keys()].sort()).toEqual(
      many.map(({ name }) => `default/${name}`).sort(),
    );
  });
});

describe('pods that are to be on different nodes, where nothing may be launched', () => {
  const nodePools = [poolOf('general', { limits: { nodes: 2 } })];
  /** Too large for any node; so many that the plan is not improved in other ways. */
  const hopeless = podsOf(300, 'hopeless', { cpu: 9000 });
  const spread = podsOf(
    2,
    'spread',
    { cpu: 2000, topologySpread: [spreadOver(HOSTNAME, ofApp('spread'))] },
    { labels: { app: 'spread' } },
  );
  const plain = podsOf(1, 'plain', { cpu: 3000 });

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('find room beside larger ones that may be on any (%s, %s)', (small, large) => {
    const plan = planOf({
      nodePools,
      nodes: [nodeOf(small, 3, 64), nodeOf(large, 5, 64)],
      pods: [...hopeless, ...plain, ...spread],
    });
    const left = [...plan.unplaced.keys()].filter((pod) => !pod.includes('hopeless'));
    expect(left).toEqual([]);
  });
});

describe('pods that need others on their node, where existing nodes have room for those only', () => {
  const near = (count: number) =>
    podsOf(count, 'near', { cpu: 3000, podAffinity: [termOver(HOSTNAME, ofApp('db'))] });
  const db = podsOf(4, 'db', { cpu: 500 }, { labels: { app: 'db' } });
  const nodes = ['n1', 'n2'].map((name) => nodeOf(name, 1, 8));

  it.each([
    ['plain', {}],
    ['spread', { topologySpread: [spreadOver(ZONE, ofApp('web'), { maxSkew: 5 })] }],
  ])('follow them to new nodes once %s pods fill the existing ones', (_, spec) => {
    const others = podsOf(4, 'other', { cpu: 500, ...spec });
    const plan = planOf({ nodes, pods: [...near(4), ...db, ...others] });
    expect([...plan.unplaced.keys()]).toEqual([]);
    for (const { pods } of plan.newNodeClaims) {
      if (pods.some((pod) => pod.includes('near'))) expect(pods.join()).toMatch(/db/);
    }
  });

  it('stay where kube-scheduler binds all that they need to existing nodes', () => {
    const plan = planOf({ nodes, pods: [...near(2), ...db, ...podsOf(4, 'huge', { cpu: 9000 })] });
    expect([...plan.unplaced.keys()]).toEqual(['default/near-0', 'default/near-1']);
  });
});

describe('pods of which the limits of a NodePool let only some be placed', () => {
  const types = [2, 4, 8].flatMap((perCpu, family) =>
    [2, 4, 8, 16, 32, 48].map((cpu) =>
      typeOf(`f${family}.${cpu}`, cpu, cpu * perCpu, cpu * (0.02 + 0.006 * perCpu)),
    ),
  );
  const nodePools = [poolOf('general', { limits: { cpu: 75_000, memory: 300 * GI } })];

  it.each([1, 2, 3, 4])('are as many or more when some are added (mix %i)', (seed) => {
    const random = numbers(seed);
    const shapes = Array.from({ length: 9 }, () => ({
      cpu: 100 * (1 + below(60, random)),
      memory: (GI / 4) * (1 + below(60, random)),
    }));
    const pods = Array.from({ length: 240 }, (_, at) =>
      podOf(`p${at}`, shapes[below(shapes.length, random)]),
    );
    const counts = [60, 120, 180, 240].map(
      (count) => count - planOf({ types, nodePools, pods: pods.slice(0, count) }).unplaced.size,
    );
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  });
});

describe('a limit of nodes that leaves pods over', () => {
  it('does not launch types that cost many times as much for a pod more', () => {
    const types = [
      typeOf('c', 96, 192, 3.5),
      typeOf('m', 96, 384, 4.2),
      typeOf('r', 96, 768, 5.5),
      typeOf('p', 96, 1056, 33),
    ];
    const pods = [100, 300, 1500, 3000, 6000].flatMap((cpu) =>
      [0.25, 1, 3, 8, 20].flatMap((memory) =>
        podsOf(30, `of-${cpu}-${memory * 4}`, { requests: { cpu, memory: memory * GI, pods: 1 } }),
      ),
    );
    const plan = planOf({ types, pods, nodePools: [poolOf('a', { limits: { nodes: 10 } })] });
    // With the price between equals only it was 622 pods for $98.70.
    expect(pods.length - plan.unplaced.size).toBeGreaterThanOrEqual(622);
    expect(plan.pricePerHour).toBeLessThan(55);
  });
});
