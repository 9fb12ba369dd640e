import { describe, expect, it } from 'vitest';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { claimsOf, classOf, entries, MINUTE, runningPods } from './rolls.ts';
import { deployment, nodePool, smallWorld } from './small-world.ts';

const OLD = classOf('al2023@v20260101');
const NEW = classOf('al2023@v20260202');

/** Of c7g.xlarge, none of which goes as empty. */
function pool(cpu: string, nodes: string): Json {
  const disruption = { consolidateAfter: 'Never', budgets: [{ nodes }] };
  return nodePool(['on-demand'], { disruption, limits: { cpu } });
}

/** Another image for 35 seconds, in which a replacement is launched; nothing may be disrupted then. */
async function changedMind(cpu: string, more: readonly Json[] = []) {
  const steps = [
    { at: 10 * MINUTE, apply: [NEW] },
    { at: 10 * MINUTE + 35_000, apply: [OLD, pool(cpu, '0'), ...more] },
  ] as never as Scenario['steps'];
  const manifests = [OLD, pool(cpu, '50%'), deployment('web', 2, '1')];
  const { world } = await smallWorld(manifests, { types: /^c7g\.xlarge$/, scenario: { steps } });
  await world.run(WORLD_START_MS + 10 * MINUTE);
  const [old] = claimsOf(world).map(({ name }) => name);
  await world.run(WORLD_START_MS + 40 * MINUTE);
  expect(world.launched).toBe(2);
  const said = entries(world, 'DisruptionBlocked').map(({ message }) => message);
  expect(said).toContain('The node matches its NodePool and EC2NodeClass again');
  return { world, old, names: claimsOf(world).map(({ name }) => name) };
}

describe('the replacement of a node that stays after all', () => {
  it('goes where limits have no room for both, whatever budgets say', async () => {
    const { world, old, names } = await changedMind('4');
    expect(names).toEqual([old]);
    expect(entries(world, 'evicted')).toEqual([]);
    expect(runningPods(world)).toBe(2);
    const said = entries(world, 'DisruptionTerminating').map(({ message }) => message);
    expect(said).toEqual(['Limits of NodePool default do not allow old and new nodes together']);
  });

  it('stays where they have', async () => {
    const { names } = await changedMind('8');
    expect(names).toHaveLength(2);
  });

  it('stays with pods that have come to it, and the NodePool gets no node above its limit', async () => {
    const { world, names } = await changedMind('4', [deployment('more', 9, '1')]);
    expect(names).toHaveLength(2);
    expect(runningPods(world)).toBe(6);
    expect(entries(world, 'evicted')).toEqual([]);
  });
});
