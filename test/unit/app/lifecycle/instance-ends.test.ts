import { describe, expect, it } from 'vitest';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../../../shared/app/lifecycle/memory.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import { WORLD_START_MS, type World } from '../../../../shared/sim/world.ts';
import { deployment } from '../../../sim/small-world.ts';
import { clockOf, MINUTE, reading, runningWorld, settings, withPorts } from '../world.ts';

/** What ended the instance of the first node, as the records have it, and when. */
async function endsAfter(act: (world: World) => Promise<void>) {
  const world = await runningWorld([deployment('web', 1, '1')]);
  const [claim] = readState(world.store).objects.nodeClaims;
  if (claim === undefined) throw new Error('the world has no claim');
  await act(world);
  const actAtMs = world.timeline.nowMs();
  await world.run(WORLD_START_MS + 20 * MINUTE);
  expect(readState(world.store).objects.nodeClaims.map(({ name }) => name)).not.toContain(
    claim.name,
  );
  return world.recorder.decisions
    .filter(({ action, object }) => action === 'terminate' && object.endsWith(`/${claim.name}`))
    .map(({ reasons: [why], atMs }) => [why?.code, (atMs - actAtMs) / MINUTE < 5] as const);
}

describe('the end of an instance is recorded once', () => {
  it('where Joiner terminates it', async () => {
    const found = await endsAfter(async ({ store }) => {
      for (const claim of store.list('NodeClaim')) store.delete(claim);
    });
    expect(found).toEqual([['instance-terminated', true]]);
  });

  it('where EC2 or somebody else does', async () => {
    const found = await endsAfter(async ({ compute }) => {
      await compute.terminate([...compute.machines.keys()]);
    });
    expect(found).toEqual([['instance-ended', true]]);
  });
});

describe('an instance that is listed no more, as its tags were changed', () => {
  /** What becomes of it, and whether its claim is there to stay, while EC2 lists nothing. */
  async function unlisted(isReady: boolean, isDeleted: boolean) {
    const world = await runningWorld([deployment('web', 1, '1')]);
    const { cluster } = world.ports;
    const withoutPods = reading(world.ports, (state) => ({
      ...state,
      objects: {
        ...state.objects,
        pods: [],
        nodes: state.objects.nodes.map((node) => ({
          ...node,
          conditions: isReady ? node.conditions : [],
        })),
      },
    }));
    const list = async () => [];
    const ports = withPorts(world.ports, { cluster: { read: withoutPods }, compute: { list } });
    for (const { name, uid } of isDeleted ? readState(world.store).objects.nodeClaims : []) {
      await cluster.delete({ kind: 'NodeClaim', name, uid });
    }
    const memory = new LifecycleMemory();
    for (let at = 0; at < 3; at += 1) {
      const clock = clockOf(() => world.timeline.nowMs() + at * MINUTE);
      await lifecycle({ ...ports, clock }, settings, memory);
    }
    const claims = readState(world.store).objects.nodeClaims;
    return {
      instances: [...world.compute.machines.values()].map(({ state }) => state),
      staying: claims.filter(({ deletedAtMs }) => deletedAtMs === undefined).length,
    };
  }

  it.each([true, false])('is ended with its claim; node ready: %s', async (isReady) => {
    expect(await unlisted(isReady, true)).toEqual({ instances: ['shutting-down'], staying: 0 });
  });

  it('keeps its claim while its node is not ready for a moment', async () => {
    expect(await unlisted(false, false)).toEqual({ instances: ['running'], staying: 1 });
  });
});
