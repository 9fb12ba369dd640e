import { describe, expect, it } from 'vitest';
import { INSTANCE_TYPE, NODE_POOL } from '../../shared/core/model/labels.ts';
import { type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { claimsOf, MINUTE } from './rolls.ts';
import { apartOf, deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const disruption = (consolidationPolicy: string): Json => ({
  consolidationPolicy,
  consolidateAfter: '30s',
  budgets: [{ nodes: '100%' }],
});

const general = nodePool(['on-demand'], { disruption: disruption('WhenEmptyOrUnderutilized') });

/** A NodePool whose nodes have the label `team: x`. */
function ofTeam(): Json {
  const { template, ...spec } = objectAt(general, 'spec');
  const labelled = { ...(template as Json), metadata: { labels: { team: 'x' } } };
  return { ...general, metadata: { name: 'team' }, spec: { ...spec, template: labelled } };
}

/** An agent of the team taints its nodes as soon as they are there. */
function taintTeam(world: World): void {
  for (const node of world.store.list('Node')) {
    const taints = listAt(node, 'spec', 'taints') as readonly Json[];
    const isTainted = taints.some(({ key }) => key === 'team/agent');
    if (textAt(node, 'metadata', 'labels', 'team') !== 'x' || isTainted) continue;
    const added = [...taints, { key: 'team/agent', effect: 'NoSchedule' }];
    world.store.update(node, (each) => ({
      ...each,
      spec: { ...objectAt(each, 'spec'), taints: added },
    }));
  }
}

/** Three large nodes, each with a small pod from minute 10 on; and what waits. */
async function typesAfter(minutes: number, waiting: readonly Json[]): Promise<readonly string[]> {
  const big = deployment('big', 3, '6', apartOf('big'));
  const small = deployment('small', 3, '500m', apartOf('small'));
  const down = { kind: 'Deployment', name: 'big', namespace: 'default', replicas: 0 } as const;
  const { world } = await smallWorld([nodeClass, general, ofTeam(), big, small, ...waiting], {
    scenario: { steps: [{ at: 10 * MINUTE, scale: down }] },
  });
  let isBusy = false;
  world.afterEachStep(() => {
    if (isBusy) return;
    isBusy = true;
    taintTeam(world);
    isBusy = false;
  });
  await world.run(WORLD_START_MS + minutes * MINUTE);
  return claimsOf(world)
    .filter(({ labels }) => labels[NODE_POOL] === 'default')
    .map(({ labels }) => labels[INSTANCE_TYPE]?.replace(/^.*\./, '') ?? '');
}

describe('nodes are consolidated', () => {
  it.each<[string, readonly Json[]]>([
    ['nothing', []],
    [
      'a pod for which nothing is launched now',
      [deployment('vain', 1, '1', { nodeSelector: { team: 'x' } })],
    ],
    [
      'a pod of a scheduler that has not tried it',
      [deployment('other', 1, '7700m', { schedulerName: 'other' })],
    ],
  ])('while there waits: %s', async (_, waiting) => {
    expect(await typesAfter(30, waiting)).toEqual(['large', 'large', 'large']);
  });

  it('if empty, while a pod of another scheduler waits', async () => {
    const pool = nodePool(['on-demand'], { disruption: disruption('WhenEmpty') });
    const other = deployment('other', 1, '1', { schedulerName: 'other' });
    const down = { kind: 'Deployment', name: 'web', namespace: 'default', replicas: 0 } as const;
    const { world } = await smallWorld([nodeClass, pool, deployment('web', 1, '1500m'), other], {
      scenario: { steps: [{ at: 5 * MINUTE, scale: down }] },
    });
    await world.run(WORLD_START_MS + 4 * MINUTE);
    expect(claimsOf(world)).toHaveLength(1);
    await world.run(WORLD_START_MS + 30 * MINUTE);
    expect(claimsOf(world)).toEqual([]);
  });
});
