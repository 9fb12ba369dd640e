import { type Json, listAt, objectAt } from '../../../shared/sim/json.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import { nodePool } from '../small-world.ts';
import { one } from './one.ts';
import { FIXED } from './rare-kinds.ts';
import type { OtherPool, PoolFields, Setting } from './setting.ts';

/** The group that some NodePools have in common. */
export const GROUP = 'some';

/** What a NodePool has for its own, beside what `Setting.pool` gives any. */
interface Traits {
  /** 0: not set. */
  readonly weight: number;
  readonly limits: Json | undefined;
  readonly annotations: Json;
  readonly budgets: readonly Json[];
}

const NO_TRAITS = { weight: 0, limits: undefined, annotations: {} } as const;

/**
 * The setting with one to three further NodePools, which differ in what a NodePool may say. Drawn
 * by a generator of its own, so that everything else of a seed stays as it is.
 */
export function withMorePools(setting: Setting, random: Prng): Setting {
  const count = random.between(1, 3);
  const names = Array.from({ length: count }, (_, at) => `pool-${at + 1}`);
  const hasGroup = random.next() < 0.35;
  const own = { ...drawTraits(random, hasGroup), weight: one(random, [0, 0, 10, 50]) };
  const pools = names.map((name) => drawPool(random, name, hasGroup));
  const tainted = names.filter(() => random.next() < 0.4);
  const others = pools.map((each) => (tainted.includes(each.name) ? withTaint(each) : each));
  const fixed = drawFixed(random, setting);
  const cap = one(random, ['nodes=3', 'nodes=5', 'cpu=16', 'nodes=6 cpu=32']);
  const isSpotLate = random.next() < 0.5;
  const spotFromMinute = random.between(3, 14);
  const pool: Setting['pool'] = (fields) => {
    const made = setting.pool(fields);
    // A limit, budgets and what a world is about are as the setting says.
    return withTraits(made, { ...own, limits: undefined, budgets: fields.budgets });
  };
  const begun = { labels: {}, expireAfter: setting.expireAfter };
  const manifests = setting.manifests
    .filter(({ kind, metadata }) => kind !== 'NodePool' || nameOf(metadata) !== FIXED)
    .map((each) => {
      if (each['kind'] === 'NodePool') return withTraits(each, { ...own, limits: undefined });
      return tolerating(each, tainted, random);
    });
  const all = [...others, ...fixed];
  return {
    ...setting,
    pool,
    others: all,
    spotFromMinute: isSpotLate ? spotFromMinute : undefined,
    groupCaps: hasGroup ? cap : undefined,
    kinds: {
      ...setting.kinds,
      replicas: setting.kinds.replicas ?? (fixed.length > 0 ? 2 : undefined),
    },
    manifests: [...manifests, ...all.map((each) => each.pool({ ...begun, budgets: each.budgets }))],
  };
}

function nameOf(metadata: unknown): string | undefined {
  return (metadata as { readonly name?: string } | undefined)?.name;
}

function drawTraits(random: Prng, hasGroup: boolean): Traits {
  const guard = one(random, [
    ...['saving=0.03', 'share=0.3', 'age=12m', 'saving=0.01,age=6m'],
    ...['horizon=20m', 'horizon=12h', 'share=0.1,horizon=6h'],
  ]);
  const returning = one(random, [
    ...['nodes=1,after=2m', 'nodes=2,after=6m', 'nodes=50%,after=1m', 'after=4m', 'nodes=0'],
  ]);
  const annotations = {
    ...(random.next() < 0.4 ? { 'joiner.dev/consolidation-guard': guard } : {}),
    ...(random.next() < 0.6 ? { 'joiner.dev/return-to-first-choice': returning } : {}),
    ...(random.next() < 0.6 && hasGroup ? { 'joiner.dev/limit-group': GROUP } : {}),
  };
  const limits = one<Json>(random, [{ cpu: '8' }, { cpu: '16' }, { nodes: '2' }, { nodes: '4' }]);
  return {
    weight: one(random, [0, 10, 50, 50, 100]),
    limits: random.next() < 0.45 ? limits : undefined,
    annotations,
    budgets: drawBudgetsOf(random),
  };
}

/** Of all kinds: for reasons, and for some minutes of each hour. */
function drawBudgetsOf(random: Prng): readonly Json[] {
  const schedule = `${random.between(0, 59)} * * * *`;
  const times = { schedule, duration: `${random.between(8, 25)}m` };
  return one<readonly Json[]>(random, [
    [{ nodes: '100%' }],
    [{ nodes: '1' }],
    [{ nodes: '50%' }, { nodes: '0', ...times }],
    [{ nodes: '2' }, { nodes: '1', reasons: ['Underutilized'], ...times }],
    [
      { nodes: '1', reasons: ['Drifted'] },
      { nodes: '100%', reasons: ['Empty'] },
    ],
    [{ nodes: '0', reasons: ['Underutilized'] }, { nodes: '40%' }],
    [{ nodes: '3' }, { nodes: '0', reasons: ['Drifted', 'Empty'], ...times }],
  ]);
}

function drawPool(random: Prng, name: string, hasGroup: boolean): OtherPool {
  const capacityTypes = one(random, [['on-demand'], ['spot'], ['spot', 'on-demand']]);
  const traits = drawTraits(random, hasGroup);
  const disruption = {
    consolidationPolicy: one(random, [
      ...['WhenEmptyOrUnderutilized', 'WhenEmptyOrUnderutilized', 'WhenEmpty', 'Balanced'],
    ]),
    consolidateAfter: one(random, ['0s', '30s', '3m', '6m', 'Never']),
  };
  const drainEnd = random.next() < 0.2 ? { terminationGracePeriod: '3m' } : {};
  const template: OtherPool['pool'] = (fields) => {
    const { labels, expireAfter, budgets } = fields;
    const made = nodePool(capacityTypes, { disruption });
    const annotations = { ...traits.annotations, ...pauseOf(fields) };
    return named(
      withTemplate(withTraits(made, { ...traits, annotations, budgets }), labels, {
        ...drainEnd,
        expireAfter,
      }),
      name,
    );
  };
  return { name, pool: template, budgets: traits.budgets };
}

/** The static NodePool, which has budgets and drifts in these worlds; in some there is none. */
function drawFixed(random: Prng, { kinds }: Setting): readonly OtherPool[] {
  const isStatic = random.next() < 0.25 || kinds.replicas !== undefined;
  const budgets = one<readonly Json[]>(random, [
    [{ nodes: '1' }],
    [{ nodes: '50%' }],
    [{ nodes: '100%' }],
    [{ nodes: '2' }, { nodes: '0', schedule: '20 * * * *', duration: '15m' }],
  ]);
  if (!isStatic) return [];
  const pool: OtherPool['pool'] = (fields) => {
    const replicas = fields.replicas ?? kinds.replicas ?? 2;
    const made = nodePool(['on-demand'], { replicas, limits: { nodes: '6' } });
    const traits = { ...NO_TRAITS, annotations: pauseOf(fields), budgets: fields.budgets };
    const expiring = { expireAfter: fields.expireAfter };
    return named(withTemplate(withTraits(made, traits), fields.labels, expiring), FIXED);
  };
  return [{ name: FIXED, pool, budgets }];
}

function pauseOf({ window }: PoolFields): Json {
  return window === undefined ? {} : { 'joiner.dev/pause': window };
}

function named(pool: Json, name: string): Json {
  return { ...pool, metadata: { ...objectAt(pool, 'metadata'), name } };
}

function withTraits(pool: Json, { weight, limits, annotations, budgets }: Traits): Json {
  const spec = objectAt(pool, 'spec');
  const metadata = objectAt(pool, 'metadata');
  return {
    ...pool,
    metadata: {
      ...metadata,
      annotations: { ...annotations, ...objectAt(metadata, 'annotations') },
    },
    spec: {
      ...spec,
      ...(weight === 0 ? {} : { weight }),
      ...(limits === undefined ? {} : { limits }),
      disruption: { ...objectAt(spec, 'disruption'), budgets },
    },
  };
}

function withTemplate(pool: Json, labels: Json, fields: Json): Json {
  const spec = objectAt(pool, 'spec');
  const own = objectAt(spec, 'template', 'spec');
  return {
    ...pool,
    spec: { ...spec, template: { metadata: { labels }, spec: { ...own, ...fields } } },
  };
}

function taintOf(pool: string) {
  return { key: 'team', value: pool, effect: 'NoSchedule' };
}

function withTaint(other: OtherPool): OtherPool {
  const pool: OtherPool['pool'] = (fields) => {
    const made = other.pool(fields);
    const spec = objectAt(made, 'spec');
    const own = { ...objectAt(spec, 'template', 'spec'), taints: [taintOf(other.name)] };
    return { ...made, spec: { ...spec, template: { ...objectAt(spec, 'template'), spec: own } } };
  };
  return { ...other, pool };
}

/** A workload may tolerate the taint of a NodePool, and may be for that NodePool alone. */
function tolerating(object: Json, tainted: readonly string[], random: Prng): Json {
  if (object['kind'] !== 'Deployment' && object['kind'] !== 'StatefulSet') return object;
  if (tainted.length === 0 || random.next() < 0.3) return object;
  const pool = one(random, tainted);
  const isOnly = random.next() < 0.5;
  const spec = objectAt(object, 'spec');
  const template = objectAt(spec, 'template');
  const own = {
    ...objectAt(template, 'spec'),
    tolerations: [
      ...listAt(template, 'spec', 'tolerations'),
      { ...taintOf(pool), operator: 'Equal' },
    ],
    ...(isOnly ? { nodeSelector: { 'karpenter.sh/nodepool': pool } } : {}),
  };
  return { ...object, spec: { ...spec, template: { ...template, spec: own } } };
}
