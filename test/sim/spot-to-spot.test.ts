import { describe, expect, it } from 'vitest';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../shared/core/disruption/consolidation/payback.ts';
import { INSTANCE_TYPE } from '../../shared/core/model/labels.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { CHANGE, claimsOf, MINUTE, runningPods } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const NODES = 3;
const consolidation = { ...DEFAULT_CONSOLIDATION_SETTINGS, spotToSpot: true };

/** One pod of each kind a node. */
function oneEach(name: string) {
  const term = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: { app: name } },
  };
  return {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
  };
}

describe('spot nodes for which smaller ones would do', () => {
  // 10 % of three nodes is one: each has to be worth replacing by itself.
  it.each([
    ['10%', 8],
    ['100%', 4],
  ])('are replaced where budgets are %s, within %d minutes', async (nodes, minutes) => {
    const pool = nodePool(['spot'], { disruption: { budgets: [{ nodes }] } });
    const { world } = await smallWorld(
      [
        nodeClass,
        pool,
        deployment('large', NODES, '4', oneEach('large')),
        deployment('small', NODES, '1600m', oneEach('small')),
      ],
      {
        settings: { consolidation },
        types: /^[cmr]\d[a-z]+\.(large|2xlarge)$/,
        scenario: {
          steps: [
            {
              at: CHANGE,
              scale: { kind: 'Deployment', name: 'large', namespace: 'default', replicas: 0 },
            },
          ],
        },
      },
    );
    await world.run(WORLD_START_MS + CHANGE + minutes * MINUTE);
    const types = claimsOf(world).map(({ labels }) => labels[INSTANCE_TYPE] ?? '');
    expect(types.filter((each) => each.endsWith('.large'))).toHaveLength(NODES);
    expect(types).toHaveLength(NODES);
    expect(runningPods(world)).toBe(NODES);
  });
});
