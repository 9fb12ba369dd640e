import type { ReservationTerms } from '../../../shared/sim/cloud/reservations.ts';
import { type Json, objectAt } from '../../../shared/sim/json.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import {
  apartOf,
  deployment,
  nodeClass,
  nodePool,
  spreadOf,
  withPodAnnotations,
} from '../small-world.ts';
import { one } from './one.ts';
import { NO_RARE_KINDS, type RareKinds } from './rare-kinds.ts';

/** A workload whose replicas people change. */
export interface Workload {
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly name: string;
}

/** What a run begins with, drawn from its seed. */
export interface Setting {
  readonly manifests: readonly Json[];
  readonly workloads: readonly Workload[];
  /** Nodes that the limit group `all` may have; undefined: it has no cap. */
  readonly nodesMax: number | undefined;
  /** The EC2NodeClass, as people apply it again. */
  readonly nodeClass: Json;
  /** NodePool `default`, as people apply it again. */
  readonly pool: (fields: PoolFields) => Json;
  /** Further NodePools; none, unless `withMorePools` has put some in. */
  readonly others: readonly OtherPool[];
  /** Of the limit group that some NodePools name, such as `nodes=6 cpu=32`; undefined: none does. */
  readonly groupCaps: string | undefined;
  /** From when on spot can be had; undefined: from the beginning. */
  readonly spotFromMinute: number | undefined;
  /** How long its nodes live; with `Never` alone the world comes to rest. */
  readonly expireAfter: string;
  readonly budgets: readonly Json[];
  /** None, unless `withKinds` has put some in. */
  readonly kinds: RareKinds;
  /** None, unless `withReserved` has put some in. */
  readonly reserved: readonly Reserved[];
  /** Whether pods of StatefulSets have volumes; not, unless `withVolumes` has given them some. */
  readonly hasVolumes: boolean;
}

/** What the account has reserved, and what becomes of it; minutes are of the world. */
export interface Reserved {
  readonly terms: ReservationTerms;
  /** Undefined: nobody cancels it. */
  readonly cancelledAtMinute: number | undefined;
  /** Somebody else in the account uses so many of its instances for a while. */
  readonly others: {
    readonly instances: number;
    readonly fromMinute: number;
    readonly minutes: number;
  };
}

/** A NodePool beside `default`. */
export interface OtherPool {
  readonly name: string;
  /** As people apply it again. */
  readonly pool: (fields: PoolFields) => Json;
  readonly budgets: readonly Json[];
}

export interface PoolFields {
  readonly labels: Readonly<Record<string, string>>;
  readonly expireAfter: string;
  readonly budgets: readonly Json[];
  /** Of a static NodePool; undefined: what it began with. */
  readonly replicas?: number | undefined;
  /** What is paused, as its annotation says it; undefined: nothing. */
  readonly window?: string | undefined;
}

const LIMIT_MILLIS = 40_000;
const RETURN_TERMS = 'nodes=1,after=2m';

export function drawSetting(random: Prng): Setting {
  const capacityTypes = one(random, [['on-demand'], ['spot'], ['spot', 'on-demand']]);
  const disruption = drawDisruption(random);
  const budgets = drawBudgets(random);
  const isLimited = random.next() < 0.3;
  const expiresAfter = random.next() < 0.15 ? '20m' : 'Never';
  const drainEnd = random.next() < 0.3 ? { terminationGracePeriod: '3m' } : {};
  const pool: Setting['pool'] = (fields) => {
    const made = nodePool(capacityTypes, {
      disruption: { ...disruption, budgets: fields.budgets },
      ...(isLimited ? { limits: { cpu: `${LIMIT_MILLIS}m` } } : {}),
    });
    const { labels, expireAfter, window } = fields;
    const whole = withTemplate(made, labels, { ...drainEnd, expireAfter });
    const annotations = {
      ...(window === undefined ? {} : { 'joiner.dev/pause': window }),
      ...(isReturning ? { 'joiner.dev/return-to-first-choice': RETURN_TERMS } : {}),
    };
    return { ...whole, metadata: { ...objectAt(whole, 'metadata'), annotations } };
  };
  const asDrawn = { labels: {}, expireAfter: expiresAfter, budgets };
  const drawn = Array.from({ length: random.between(2, 4) }, (_, at) =>
    drawWorkload(random, `app-${at}`),
  );
  // Drawn last, so that everything else of a seed stays as it is.
  const nodesMax = random.next() < 0.15 ? random.between(4, 12) : undefined;
  const isRolledOut = random.next() < 0.25;
  const isReturning = random.next() < 0.6;
  const workloads = drawn.flatMap(({ manifests }) => manifests);
  return {
    nodesMax,
    nodeClass,
    manifests: [
      nodeClass,
      pool(asDrawn),
      ...workloads.map((each) => (isRolledOut ? withRollout(each) : each)),
    ],
    workloads: drawn.map(({ workload }) => workload),
    expireAfter: expiresAfter,
    budgets,
    pool,
    others: [],
    groupCaps: undefined,
    spotFromMinute: undefined,
    kinds: NO_RARE_KINDS,
    reserved: [],
    hasVolumes: false,
  };
}

function drawDisruption(random: Prng): Json {
  return {
    consolidationPolicy: one(random, ['WhenEmptyOrUnderutilized', 'WhenEmpty']),
    consolidateAfter: one(random, ['0s', '0s', '1m']),
  };
}

export function drawBudgets(random: Prng): readonly Json[] {
  return one<readonly Json[]>(random, [
    [{ nodes: '100%' }],
    [{ nodes: '1' }],
    [{ nodes: '30%' }],
    [{ nodes: '2', reasons: ['Drifted'] }, { nodes: '50%' }],
  ]);
}

function withTemplate(pool: Json, labels: Json, fields: Json): Json {
  const spec = pool['spec'] as { readonly template: { readonly spec: Json } };
  const template = { metadata: { labels }, spec: { ...spec.template.spec, ...fields } };
  return { ...pool, spec: { ...spec, template } };
}

function drawWorkload(random: Prng, name: string) {
  const replicas = random.between(1, 8);
  const cpu = one(random, ['250m', '500m', '1', '1900m']);
  const isApart = random.next() < 0.2;
  const spec = isApart ? apartOf(name) : random.next() < 0.2 ? spreadOf(name) : {};
  const made = deployment(name, replicas, cpu, spec);
  const kind = random.next() < 0.2 ? 'StatefulSet' : 'Deployment';
  const object = kind === 'Deployment' ? made : asStatefulSet(made);
  const isProtected = random.next() < 0.15;
  const hasBudget = isApart || random.next() < 0.3;
  const budget = one<Json>(random, [{ maxUnavailable: 1 }, { minAvailable: '50%' }]);
  return {
    workload: { kind, name } as const,
    manifests: [
      isProtected ? withPodAnnotations(object, { 'karpenter.sh/do-not-disrupt': '5m' }) : object,
      ...(hasBudget ? [disruptionBudget(name, budget)] : []),
    ],
  };
}

/** Deployments alone, with a strategy that lets no pod be missing; what else is on their pods stays. */
function withRollout(object: Json): Json {
  if (object['kind'] !== 'Deployment') return object;
  const metadata = objectAt(object, 'spec', 'template', 'metadata');
  const annotations = { ...objectAt(metadata, 'annotations'), 'joiner.dev/drain': 'rollout' };
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } };
  const spec = { ...objectAt(object, 'spec'), strategy };
  return withPodAnnotations({ ...object, spec }, annotations);
}

function asStatefulSet(object: Json): Json {
  const spec = object['spec'] as Json;
  return { ...object, kind: 'StatefulSet', spec: { ...spec, serviceName: 'all' } };
}

export function disruptionBudget(app: string, budget: Json): Json {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'default' },
    spec: { selector: { matchLabels: { app } }, ...budget },
  };
}
