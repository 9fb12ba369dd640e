import { describe, expect, it } from 'vitest';
import {
  placeOf,
  readStated,
  type SettingsOptions,
  settingsOf,
} from '../../../cli/stack-settings.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { reason } from '../../../shared/core/explain/reason.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { preview } from '../../../shared/preview/preview.ts';
import { WORLD_START_MS } from '../../../shared/sim/world.ts';
import { CHANGE, MINUTE } from '../../sim/rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../sim/small-world.ts';

const STATED = {
  FEATURE_GATES: 'SpotToSpotConsolidation=true,StaticCapacity=false',
  JOINER_CONSOLIDATION_HORIZON: '10800000ms',
  JOINER_EVICTION_PRICE: '0.5',
  PREFERENCE_POLICY: 'Ignore',
};

/** An API server that has this ConfigMap, or refuses it. */
function server(answer: object | KubeError): KubeClient {
  const get = async (): Promise<unknown> => {
    if (answer instanceof KubeError) throw answer;
    return answer;
  };
  return { get } as unknown as KubeClient;
}

const findSettings = async (client: KubeClient, options: SettingsOptions) =>
  settingsOf(await readStated(client), options);

const asked = { verb: 'get', resource: 'configmaps/kube-system/joiner-settings' };
const absent = new KubeError({ kind: 'notFound' }, '404', 'not found');
const forbidden = new KubeError(
  { kind: 'forbidden', ...asked },
  '403',
  'get configmaps: forbidden',
);

describe('the settings of the stack', () => {
  it('are what it has stated, and defaults where it says nothing', async () => {
    const { stack, notes } = await findSettings(server({ data: STATED }), {});
    expect(notes).toEqual([]);
    expect(stack.gates).toMatchObject({
      SpotToSpotConsolidation: true,
      StaticCapacity: false,
      CapacityBuffer: true,
    });
    expect(stack.useCases.consolidation).toEqual({
      horizonMs: 10_800_000,
      evictionPrice: 0.5,
      spotToSpot: true,
    });
    expect(stack.useCases.scheduling.preferencePolicy).toBe('Ignore');
  });

  it('are what is given instead', async () => {
    const featureGates = 'SpotToSpotConsolidation=false,NodeRepair=true';
    const { stack } = await findSettings(server({ data: STATED }), { featureGates });
    expect(stack.gates).toMatchObject({
      SpotToSpotConsolidation: false,
      StaticCapacity: false,
      NodeRepair: true,
    });
  });

  it('have the effort that is given instead of the stated one', async () => {
    const stated = server({ data: { ...STATED, JOINER_EFFORT: 'quick' } });
    const effortOf = async (options: SettingsOptions) =>
      (await findSettings(stated, options)).stack.useCases.scheduling.effort;
    expect(await effortOf({})).toBe('quick');
    expect(await effortOf({ effort: 'thorough' })).toBe('thorough');
  });

  it.each<[string, object | KubeError, RegExp]>([
    ['it has stated none', absent, /no ConfigMap kube-system\/joiner-settings; --feature-gates/],
    ['they may not be read', forbidden, /forbidden; --feature-gates/],
    [
      'they cannot be read',
      { data: { PREFERENCE_POLICY: 'Perhaps' } },
      /cannot be read: PREFERENCE_POLICY/,
    ],
  ])('are the defaults where %s, and that is said', async (_, answer, expected) => {
    const { stack, notes } = await findSettings(server(answer), {});
    expect(stack.gates.SpotToSpotConsolidation).toBe(false);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/^the stack's settings are not known, defaults are assumed: /);
    expect(notes[0]).toMatch(expected);
  });
});

describe('where the stack is', () => {
  it('is what it has stated; older stacks state none of it', async () => {
    const stated = { AWS_REGION: 'ap-south-1', JOINER_BUCKET: 'memory', CLUSTER_NAME: 'prod' };
    const place = async (data: object) => placeOf(await readStated(server({ data })));
    expect(await place({ ...STATED, ...stated })).toEqual({
      region: 'ap-south-1',
      bucket: 'memory',
      cluster: 'prod',
    });
    expect(await place(STATED)).toEqual({});
    expect(placeOf(await readStated(server(absent)))).toEqual({});
  });
});

describe('a preview', () => {
  it('goes by the settings of the stack', async () => {
    const { world } = await smallWorld(
      [
        nodeClass,
        nodePool(['spot'], { disruption: { budgets: [{ nodes: '100%' }] } }),
        deployment('large', 1, '6'),
        deployment('small', 1, '500m'),
      ],
      {
        types: /^[cmr]\d[a-z]+\.(medium|large|2xlarge)$/,
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
    await world.run(WORLD_START_MS + CHANGE + 2 * MINUTE);
    const { ports, timeline } = world;
    const previewOf = async (featureGates: string) => {
      const { stack } = await findSettings(server(absent), { featureGates });
      return await preview({
        live: ports.cluster,
        state: await ports.cluster.read(),
        catalog: ports.catalog,
        prices: await loadCatalog('us-east-1'),
        nowMs: timeline.nowMs(),
        settings: stack.useCases,
      });
    };
    const without = await previewOf('SpotToSpotConsolidation=false');
    expect(without.removals).toEqual([]);
    expect([...without.kept.values()]).toEqual([[reason('spot-to-spot-off', {})]]);
    const withGate = await previewOf('SpotToSpotConsolidation=true');
    expect(withGate.removals.map(({ action }) => action)).toEqual(['replace']);
  });
});
