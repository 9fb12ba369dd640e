import { describe, expect, it } from 'vitest';
import { disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import { setConditions } from '../../../../shared/app/lifecycle/registration.ts';
import { isTrue } from '../../../../shared/core/lifecycle/conditions.ts';
import type { NodeClaim } from '../../../../shared/core/model/provisioning.ts';
import type { Ports } from '../../../../shared/ports.ts';
import { reading, runningWorld, settings, spread, withPorts } from '../world.ts';

async function onlyClaim({ cluster }: Ports): Promise<NodeClaim> {
  const [claim] = (await cluster.read()).objects.nodeClaims;
  if (claim === undefined) throw new Error('the world has no claim');
  return claim;
}

/** As if the template had been another one when the claim was made. */
function drifting(ports: Ports): Ports {
  const annotations = { 'karpenter.sh/nodepool-hash': 'of-yesterday' };
  const read = reading(ports, (state) => {
    const nodeClaims = state.objects.nodeClaims.map((claim) => ({
      ...claim,
      annotations: { ...claim.annotations, ...annotations },
    }));
    return { ...state, objects: { ...state.objects, nodeClaims } };
  });
  return withPorts(ports, { cluster: { read } });
}

const drained = { type: 'Drained', status: 'Unknown', reason: 'Draining', message: '' } as const;

describe('conditions of a claim that two functions write', () => {
  it('are all kept: lifecycle writes after disrupt, and has read before it', async () => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const before = await onlyClaim(ports);
    await disrupt(drifting(ports), settings);
    expect(isTrue(before, 'Drifted')).toBe(false);
    await setConditions({ ports, nowMs: ports.clock.nowMs() }, before, [drained]);
    const types = (await onlyClaim(ports)).conditions.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['Drained', 'Drifted', 'DisruptionReason']));
  });

  it('are all kept the other way round, and Ready is the sum of what is there', async () => {
    const { ports } = await runningWorld([spread('web', 1)]);
    const state = await ports.cluster.read();
    const claim = await onlyClaim(ports);
    const unknown = {
      type: 'Initialized',
      status: 'Unknown',
      reason: 'Gone',
      message: '',
    } as const;
    const pass = { ports, nowMs: ports.clock.nowMs() };
    await setConditions(pass, claim, [drained, unknown]);
    const stale = withPorts(ports, { cluster: { read: async () => state } });
    await disrupt(drifting(stale), settings);
    const after = await onlyClaim(ports);
    const types = after.conditions.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['Drained', 'Drifted', 'DisruptionReason']));
    expect(after.conditions.find(({ type }) => type === 'Ready')?.reason).toBe('Gone');
  });
});
