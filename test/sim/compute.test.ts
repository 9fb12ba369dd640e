import { describe, expect, it } from 'vitest';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { catalogPort } from '../../shared/catalog/port.ts';
import type { FleetRequest } from '../../shared/ports.ts';
import { SimulatedCompute } from '../../shared/sim/cloud/compute.ts';
import { readState } from '../../shared/sim/decode.ts';
import { Timeline } from '../../shared/sim/timeline.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { nodeClass, smallWorld } from './small-world.ts';

const catalog = await loadCatalog('us-east-1');
const { world } = await smallWorld([nodeClass]);
await world.run(WORLD_START_MS + 60_000);
const [readyClass] = readState(world.store).nodeClasses;
if (readyClass === undefined) throw new Error('the world has lost its EC2NodeClass');

const fleet: FleetRequest = {
  clientToken: 'a',
  claims: [
    { name: 'one', uid: '1' },
    { name: 'two', uid: '2' },
  ],
  nodePool: 'default',
  nodeClass: readyClass,
  capacityType: 'on-demand',
  reservationType: undefined,
  strategy: 'lowest-price',
  overrides: [
    {
      instanceType: 'c6a.large',
      zone: 'us-east-1a',
      subnetId: 'subnet-1',
      imageId: 'ami-1',
      reservationId: undefined,
      priority: 1,
    },
  ],
  tags: { 'joiner.dev/fleet': 'a' },
  nodeLabels: {},
  taints: [],
  podsMax: {},
  requests: {},
  sendContext: true,
};

function cloud() {
  const timeline = new Timeline(0);
  const port = catalogPort('us-east-1', () => catalog);
  const on = { launch: () => {}, gone: () => {} };
  return { timeline, compute: new SimulatedCompute(timeline, port, 1, on) };
}

const MISMATCH = 'IdempotentParameterMismatch';

describe('a client token that is said again', () => {
  it('with the same parameters gives the same instances', async () => {
    const { compute } = cloud();
    const first = await compute.launch(fleet);
    const others = fleet.overrides.map((each) => ({ ...each, priority: 2 }));
    expect(await compute.launch({ ...fleet, overrides: others })).toEqual(first);
    expect(compute.machines.size).toBe(2);
  });

  it.each<[string, Partial<FleetRequest>]>([
    ['for fewer claims', { claims: fleet.claims.slice(1) }],
    ['for other types', { overrides: [] }],
    ['with other tags', { tags: {} }],
    ['with a strategy that sends priorities', { strategy: 'prioritized' }],
  ])('%s is refused', async (_, change) => {
    const { timeline, compute } = cloud();
    await compute.launch(fleet);
    await expect(compute.launch({ ...fleet, ...change })).rejects.toMatchObject({ code: MISMATCH });
    timeline.moveTo(60_000);
    const settled = await compute.launch({ ...fleet, ...change });
    expect(settled).toMatchObject({ instances: [], faults: [{ code: MISMATCH, kind: 'unknown' }] });
    expect(compute.machines.size).toBe(2);
  });
});
