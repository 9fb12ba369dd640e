import { describe, expect, it } from 'vitest';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_CLASS_HASH } from '../../shared/core/model/labels.ts';
import type { Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { withPorts } from '../unit/app/world.ts';
import { MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

/** The first patch that says what was launched meets a conflict. */
function conflicting(seen: string[]): (ports: Ports) => Ports {
  return (ports) => {
    const patchNodeClaim: Ports['cluster']['patchNodeClaim'] = async (ref, patch) => {
      const isLaunch = patch.annotations?.[NODE_CLASS_HASH] !== undefined;
      if (!isLaunch || seen.length > 0) return await ports.cluster.patchNodeClaim(ref, patch);
      seen.push(ref.name);
      return 'conflict';
    };
    return withPorts(ports, { cluster: { patchNodeClaim } });
  };
}

describe('a claim whose labels could not be written when it was launched', () => {
  it('gets them with the same instance, and is not taken for one that has drifted', async () => {
    const seen: string[] = [];
    const manifests = [nodeClass, nodePool(['on-demand']), deployment('web', 2, '1')];
    const { world } = await smallWorld(manifests, { wrap: conflicting(seen) });
    await world.run(WORLD_START_MS + 20 * MINUTE);
    const { nodeClaims } = readState(world.store).objects;
    expect(seen).toHaveLength(1);
    expect(nodeClaims.map(({ name }) => name)).toEqual(seen);
    expect(world.launched).toBe(1);
    expect(world.evictions).toBe(0);
    for (const claim of nodeClaims) {
      expect(claim.labels[INSTANCE_TYPE]).toMatch(/^c/);
      expect(claim.labels[CAPACITY_TYPE]).toBe('on-demand');
      expect(isTrue(claim, 'Drifted')).toBe(false);
    }
  });
});
