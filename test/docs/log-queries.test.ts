import { expect, it } from 'vitest';
import { missing } from '../../shared/core/missing.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { newClass } from '../sim/rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../sim/small-world.ts';
import { textOf } from '../support/repository.ts';

const MINUTE = 60_000;

/** The actions of the records that the page's query for these counts. */
function actionsCounted(what: string): readonly string[] {
  const query = [...textOf('docs/operate/dashboards.md').matchAll(/```text\n(filter .*?)```/gs)]
    .map(([, text = '']) => text)
    .find((text) => text.includes(`count(*) as ${what}`));
  const [, actions] = /action (?:=|in) (.*)/.exec(query ?? missing(`a query for ${what}`)) ?? [];
  return [JSON.parse(actions ?? '')].flat();
}

it('the query for nodes that went counts one that was replaced once', async () => {
  const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
  const pool = nodePool(['on-demand'], { disruption });
  const { world, script } = await smallWorld([nodeClass, pool, deployment('web', 4, '3')]);
  await world.run(WORLD_START_MS + 10 * MINUTE);
  script.apply([newClass]);
  await world.run(WORLD_START_MS + 30 * MINUTE);
  script.apply([deployment('web', 1, '3')]);
  await world.run(WORLD_START_MS + 60 * MINUTE);
  const actions = actionsCounted('nodes');
  const counted = world.recorder.decisions.filter(({ action }) => actions.includes(action));
  expect(world.recorder.decisions.some(({ action }) => action === 'replace')).toBe(true);
  expect(counted).toHaveLength(world.terminated);
});
