import { type Json, listAt, objectAt } from '../../../shared/sim/json.ts';
import { nodePool } from '../small-world.ts';
import { fixedPool, isAboutMoves, type LongWindow, type RareKinds } from './rare-kinds.ts';
import type { Setting } from './setting.ts';

/** The setting with what is rare in it. */
export function withKinds(setting: Setting, kinds: RareKinds): Setting {
  const pool: Setting['pool'] = (fields) => {
    const budgets = [...fields.budgets, ...kinds.scheduled];
    const window = kinds.window === undefined ? fields.window : pauseText(kinds.window);
    return kindOfPool(setting.pool({ ...fields, budgets, window }), kinds);
  };
  const { expireAfter } = setting;
  const { replicas, spotFromMinute } = kinds;
  // Nothing else is to keep fallbacks from going together.
  const budgets = spotFromMinute === undefined ? setting.budgets : [{ nodes: '100%' }];
  const manifests = setting.manifests.map((each) =>
    each['kind'] === 'NodePool' ? pool({ labels: {}, expireAfter, budgets }) : each,
  );
  const all = replicas === undefined ? manifests : [...manifests, fixedPool(replicas)];
  return { ...setting, kinds, budgets, spotFromMinute, pool, manifests: all };
}

function kindOfPool(pool: Json, kinds: RareKinds): Json {
  const { minValues } = kinds;
  const metadata = objectAt(pool, 'metadata');
  const spec = objectAt(pool, 'spec');
  const template = objectAt(spec, 'template');
  const own = objectAt(template, 'spec');
  const drawn = listAt(own, 'requirements') as readonly Json[];
  const requirements = [
    ...(requirementsOf(kinds) ?? drawn),
    ...(minValues === undefined ? [] : [minValues]),
  ];
  return {
    ...pool,
    metadata: {
      ...metadata,
      annotations: { ...objectAt(metadata, 'annotations'), ...annotationsOf(kinds) },
    },
    spec: {
      ...spec,
      disruption: { ...objectAt(spec, 'disruption'), ...disruptionOf(kinds) },
      template: { ...template, spec: { ...own, requirements } },
    },
  };
}

/** Undefined: as drawn. */
function requirementsOf(kinds: RareKinds): readonly Json[] | undefined {
  const capacityTypes = (names: readonly string[]): Json => {
    const [only = {}] = listAt(nodePool(names), 'spec', 'template', 'spec', 'requirements');
    return only as Json;
  };
  // Spot nodes are not replaced by spot nodes.
  if (isAboutMoves(kinds)) return [capacityTypes(['on-demand'])];
  if (kinds.spotFromMinute === undefined) return undefined;
  // Several nodes, which the pods of few would make one.
  const small = { key: 'karpenter.k8s.aws/instance-size', operator: 'NotIn', values: ['2xlarge'] };
  return [capacityTypes(['spot', 'on-demand']), small];
}

function disruptionOf(kinds: RareKinds): Json {
  if (isAboutMoves(kinds)) {
    return { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' };
  }
  // Spot is cheaper, too: nodes would go for that.
  return kinds.spotFromMinute === undefined ? {} : { consolidationPolicy: 'WhenEmpty' };
}

function annotationsOf({ leastAgeMinutes, isHorizonShort, spotFromMinute }: RareKinds): Json {
  return {
    ...(leastAgeMinutes === undefined
      ? {}
      : { 'joiner.dev/consolidation-guard': `age=${leastAgeMinutes}m` }),
    ...(isHorizonShort ? { 'joiner.dev/consolidation-guard': 'horizon=1m' } : {}),
    ...(spotFromMinute === undefined
      ? {}
      : { 'joiner.dev/return-to-first-choice': 'nodes=1,after=2m' }),
  };
}

function pauseText({ fromMinute, minutes }: LongWindow): string {
  return `disrupt from ${fromMinute} 0 * * * for ${minutes}m`;
}
