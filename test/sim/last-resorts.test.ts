import { describe, expect, it } from 'vitest';
import type { FleetRequest, Ports } from '../../shared/ports.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import {
  apartOf,
  deployment,
  nodeClass,
  nodePool,
  smallWorld,
  withRequirement,
} from './small-world.ts';

const MINUTE = 60_000;
const TYPE = 'c7g.large';

const onlyType = withRequirement(nodePool(['on-demand']), {
  key: 'node.kubernetes.io/instance-type',
  operator: 'In',
  values: [TYPE],
});
const withReplicas = { ...onlyType, spec: { ...Object(onlyType['spec']), replicas: 1 } };
/** Of any type: what cannot be had of one is had of others. */
const anyType = nodePool(['on-demand']);

/** Minutes at which EC2 refused a launch, and at which it made one. */
function launchesOf({ journal }: World): {
  refused: readonly number[];
  launched: readonly number[];
} {
  const minutesOf = (kind: string): readonly number[] => {
    const found = journal.entries.filter((entry) => entry.kind === kind);
    return [...new Set(found.map(({ at }) => Math.round(at / 60)))];
  };
  return { refused: minutesOf('InsufficientCapacityError'), launched: minutesOf('launched') };
}

/** The type cannot be had at first. */
async function played(manifests: Parameters<typeof smallWorld>[0], minutes: number) {
  const { world } = await smallWorld([nodeClass, ...manifests]);
  world.compute.addShortage({ instanceType: TYPE });
  world.timeline.after(minutes * MINUTE, () =>
    world.compute.removeShortage({ instanceType: TYPE }),
  );
  await world.run(WORLD_START_MS + (minutes + 10) * MINUTE);
  return launchesOf(world);
}

describe('where nothing else is left, a shortage is tried again every few minutes', () => {
  it.each([
    ['pods that wait', [onlyType, deployment('web', 1, '1')]],
    ['static nodes', [withReplicas]],
  ])('for %s', async (_, manifests) => {
    const { refused, launched } = await played(manifests, 50);
    expect(launched.filter((minute) => minute <= 54)).toHaveLength(1);
    const pauses = refused.slice(1).map((minute, at) => minute - (refused[at] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(4);
  });

  it('and ever later where other types serve the pods', async () => {
    const asked = new Set<number>();
    const wrap = (ports: Ports): Ports => {
      const { compute, clock } = ports;
      const launch = async (fleet: FleetRequest) => {
        const isAsked = fleet.overrides.some(({ instanceType }) => instanceType === TYPE);
        if (isAsked) asked.add(Math.round((clock.nowMs() - WORLD_START_MS) / MINUTE));
        return await compute.launch(fleet);
      };
      return { ...ports, compute: Object.assign(Object.create(compute), { launch }) };
    };
    const web = deployment('web', 1, '1', apartOf('web'));
    const steps = Array.from({ length: 50 }, (_, minute) => ({
      at: minute * MINUTE + 1,
      scale: {
        kind: 'Deployment',
        name: 'web',
        namespace: 'default',
        replicas: minute + 1,
      } as const,
    }));
    const { world } = await smallWorld([nodeClass, anyType, web], { wrap, scenario: { steps } });
    world.compute.addShortage({ instanceType: TYPE });
    await world.run(WORLD_START_MS + 50 * MINUTE);
    expect(world.launched).toBe(50);
    expect([...asked]).toEqual([0, 3, 9, 21, 45]);
  });
});
