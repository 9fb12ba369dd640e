import { expect, it } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { spread } from '../unit/app/world.ts';
import { entries, MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

function isMoving(world: World): boolean {
  return readState(world.store).objects.nodeClaims.some(
    ({ deletedAtMs }) => deletedAtMs !== undefined,
  );
}

/** Runs until a node goes, and returns the minute in which it does. */
async function nextMove(world: World): Promise<number> {
  const endMs = world.timeline.nowMs() + 200 * MINUTE;
  while (!isMoving(world) && world.timeline.nowMs() < endMs) {
    await world.run(world.timeline.nowMs() + 100);
  }
  return Math.floor((world.timeline.nowMs() - WORLD_START_MS) / MINUTE);
}

it('pods for which a node is launched after each of their moves are moved ever more seldom', async () => {
  const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
  const pool = nodePool(['on-demand'], { disruption });
  const manifests = [nodeClass, pool, spread('web', 2, '1500m'), deployment('app', 1, '1500m')];
  const { world, script } = await smallWorld(manifests, { types: /^c7g\.xlarge$/ });
  await world.run(WORLD_START_MS + 5 * MINUTE);
  script.apply([spread('web', 1, '1500m')]);
  const moves: number[] = [];
  for (let time = 0; time < 8; time += 1) {
    moves.push(await nextMove(world));
    // Others take the room that the move was for.
    script.apply([deployment('thief', 1, '1500m')]);
    await world.run(world.timeline.nowMs() + 5 * MINUTE);
    expect(readState(world.store).objects.nodes).toHaveLength(2);
    script.apply([deployment('thief', 0, '1500m')]);
  }
  // Those of `web` and `app` in turn: 15, 30 and 60 minutes after it is seen that a move was undone.
  expect(moves).toEqual([6, 12, 22, 28, 53, 59, 114, 120]);
  const said = entries(world, 'MoveUndone').map(({ message }) => message ?? '');
  const wait = 'A node was launched for pods of default/web after their last move';
  expect(said.some((text) => text.includes(wait))).toBe(true);
});
