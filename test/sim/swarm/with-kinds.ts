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
  const { budgets, expireAfter } = setting;
  const manifests = setting.manifests.map((each) =>
    each['kind'] === 'NodePool' ? pool({ labels: {}, expireAfter, budgets }) : each,
  );
  const { replicas } = kinds;
  const all = replicas === undefined ? manifests : [...manifests, fixedPool(replicas)];
  return { ...setting, kinds, pool, manifests: all };
}

function kindOfPool(pool: Json, kinds: RareKinds): Json {
  const { minValues } = kinds;
  const spec = objectAt(pool, 'spec');
  const template = objectAt(spec, 'template');
  const own = objectAt(template, 'spec');
  const drawn = listAt(own, 'requirements') as readonly Json[];
  const [onDemand] = listAt(nodePool(['on-demand']), 'spec', 'template', 'spec', 'requirements');
  const moved = {
    ...objectAt(spec, 'disruption'),
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: '0s',
  };
  const requirements = [
    // Spot nodes are not replaced by spot nodes.
    ...(isAboutMoves(kinds) ? [onDemand] : drawn),
    ...(minValues === undefined ? [] : [minValues]),
  ];
  return {
    ...pool,
    spec: {
      ...spec,
      ...(isAboutMoves(kinds) ? { disruption: moved } : {}),
      template: { ...template, spec: { ...own, requirements } },
    },
  };
}

function pauseText({ fromMinute, minutes }: LongWindow): string {
  return `disrupt from ${fromMinute} 0 * * * for ${minutes}m`;
}
