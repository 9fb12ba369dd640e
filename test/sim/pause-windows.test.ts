import { describe, expect, it } from 'vitest';
import { disrupt } from '../../shared/app/disrupt/disrupt.ts';
import { PortError } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { settings, withPorts } from '../unit/app/world.ts';
import { entries, MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

/** The world begins at midnight. */
function paused(window: string, spec: Json = {}): Json {
  const metadata = { name: 'default', annotations: { 'joiner.dev/pause': window } };
  return { ...nodePool(['on-demand'], spec), metadata };
}

function nodesOf(world: World): number {
  return readState(world.store).objects.nodes.length;
}

/** Of each NodeClaim. */
function poolsOf(world: World): readonly (string | undefined)[] {
  const { nodeClaims } = readState(world.store).objects;
  return nodeClaims.map(({ labels }) => labels['karpenter.sh/nodepool']);
}

const until = (minutes: number): number => WORLD_START_MS + minutes * MINUTE;
const web = deployment('web', 2, '1');

describe('a window of a NodePool', () => {
  it('for launches ends by itself, and is said by the NodePool and the pods', async () => {
    const { world } = await smallWorld([nodeClass, paused('launch from 0 0 * * * for 10m'), web]);
    await world.run(until(9));
    expect(nodesOf(world)).toBe(0);
    const [pool] = readState(world.store).objects.nodePools;
    expect(pool?.conditions.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'LaunchesPaused',
    });
    const [failed] = entries(world, 'FailedScheduling');
    expect(failed?.message).toContain('which is not ready (Ready: LaunchesPaused)');
    await world.run(until(13));
    expect(nodesOf(world)).toBeGreaterThan(0);
    const [after] = readState(world.store).objects.nodePools;
    expect(after?.conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });

  it('for launches leaves pods to other NodePools', async () => {
    const other = { ...nodePool(['on-demand']), metadata: { name: 'other' } };
    const window = paused('launch from 0 0 * * * for 10m', { weight: 10 });
    const { world } = await smallWorld([nodeClass, window, other, web]);
    await world.run(until(3));
    const { nodeClaims } = readState(world.store).objects;
    expect(nodeClaims.map(({ labels }) => labels['karpenter.sh/nodepool'])).toContain('other');
    expect(nodesOf(world)).toBe(nodeClaims.length);
  });

  it('for launches holds for what was to be launched before, and its pods go elsewhere', async () => {
    const other = { ...nodePool(['on-demand']), metadata: { name: 'other' } };
    const window = paused('launch from 2 0 * * * for 10m', { weight: 10 });
    const { world } = await smallWorld([nodeClass, window, other, web], {
      wrap: (ports) => {
        const launch: typeof ports.compute.launch = async (request) => {
          if (request.nodePool === 'default' && ports.clock.nowMs() < until(2)) {
            throw new PortError('throttled', 'RequestLimitExceeded', 'later');
          }
          return await ports.compute.launch(request);
        };
        return withPorts(ports, { compute: { launch } });
      },
    });
    await world.run(until(1));
    expect(poolsOf(world)).toEqual(['default']);
    await world.run(until(6));
    expect(poolsOf(world)).toEqual(['other']);
    expect(nodesOf(world)).toBe(1);
  });

  it.each([['disrupt'], ['launch']])('for %s keeps empty nodes until it ends', async (part) => {
    const disruption = { consolidateAfter: '0s' };
    const window = paused(`${part} from 5 0 * * * for 10m`, { disruption });
    const { world, script } = await smallWorld([nodeClass, window, web]);
    await world.run(until(4));
    expect(nodesOf(world)).toBeGreaterThan(0);
    await world.run(until(6));
    script.apply([deployment('web', 0, '1')]);
    await world.run(until(14));
    expect(nodesOf(world)).toBeGreaterThan(0);
    const said = entries(world, 'DisruptionBlocked').map(({ message }) => message);
    expect(said.join('\n')).toContain(`${part} from 5 0 * * * for 10m`);
    await world.run(until(20));
    expect(nodesOf(world)).toBe(0);
  });

  it('for disruptions holds expiration and the surplus of a static NodePool', async () => {
    const window = paused('disrupt from 2 0 * * * for 28m', { replicas: 2 });
    const spec = window['spec'] as { readonly template: { readonly spec: Json } };
    const template = { spec: { ...spec.template.spec, expireAfter: '10m' } };
    const pool = { ...window, spec: { ...spec, template } };
    const { world, script } = await smallWorld([nodeClass, pool]);
    await world.run(until(5));
    script.apply([{ ...pool, spec: { ...pool.spec, replicas: 1 } }]);
    await world.run(until(29));
    expect(entries(world, 'deleted')).toEqual([]);
    expect(nodesOf(world)).toBe(2);
    await world.run(until(45));
    expect(entries(world, 'deleted').length).toBeGreaterThan(1);
    expect(nodesOf(world)).toBe(1);
  });

  it('that cannot be read is a fault of the NodePool', async () => {
    const { world } = await smallWorld([nodeClass, paused('launch at night'), web]);
    await world.run(until(3));
    expect(nodesOf(world)).toBe(0);
    const [pool] = readState(world.store).objects.nodePools;
    const said = pool?.conditions.find(({ type }) => type === 'ValidationSucceeded')?.message;
    expect(said).toBe(
      'the annotation joiner.dev/pause must be like "launch from 0 18 * * 1-5 for 14h", not "launch at night"',
    );
  });
});

describe('a window that has just begun', () => {
  it('holds replacements, though no condition of the NodePool says so yet', async () => {
    const disruption = { consolidateAfter: '1m', budgets: [{ nodes: '100%' }] };
    const pool = paused('launch from 5 0 * * * for 10m', { disruption });
    const { world } = await smallWorld([nodeClass, pool, web]);
    await world.run(until(4));
    const { ports } = world;
    const changed = async () => {
      const state = await ports.cluster.read();
      const nodeClaims = state.objects.nodeClaims.map((claim) => ({
        ...claim,
        annotations: { ...claim.annotations, 'karpenter.sh/nodepool-hash': 'of-yesterday' },
      }));
      return { ...state, objects: { ...state.objects, nodeClaims } };
    };
    const nowMs = () => until(5) + 500;
    const clock = { nowMs, sleep: async () => undefined };
    const drifted = withPorts(ports, { cluster: { read: changed }, clock });
    const before = (await ports.cluster.read()).objects.nodePools;
    expect(before[0]?.conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
    expect((await disrupt(drifted, settings)).created).toEqual([]);
  });
});
