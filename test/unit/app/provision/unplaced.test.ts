import { expect, it } from 'vitest';
import { recordUnplaced } from '../../../../shared/app/provision/unplaced.ts';
import type { DecisionRecord } from '../../../../shared/ports.ts';
import { planOf, podOf } from '../../../builders/scheduling.ts';
import { waitingWorld } from '../world.ts';

/** Values of a label as long as Kubernetes has them. */
const values = (at: number) => Array.from({ length: 4 }, (_, of) => `${at}${of}`.padEnd(63, 'v'));

/** A pod that asks for so many labels that no node has. */
function asking(name: string, keys: number) {
  const matchExpressions = Array.from({ length: keys }, (_, at) => ({
    key: `team.example.com/key-${at}`,
    operator: 'In' as const,
    values: values(at),
  }));
  return podOf(name, { requiredNodeAffinity: [{ matchExpressions, matchFields: [] }] });
}

it('a decision is known by an id that a key of S3 has room for, however much a pod asks', async () => {
  const records: DecisionRecord[] = [];
  const { ports } = await waitingWorld([]);
  const decision = async (record: DecisionRecord) => void records.push(record);
  const pods = [asking('a', 5), asking('b', 6), asking('c', 6)];
  await recordUnplaced(
    { ...ports, recorder: { ...ports.recorder, decision } },
    new Set(),
    planOf({ pods }),
  );
  expect(records.map(({ object, detail }) => [object, detail['count']])).toEqual([
    ['Pod/default/a', 1],
    ['Pod/default/b', 2],
  ]);
  const ids = records.map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
  expect(Math.max(...ids.map(({ length }) => length))).toBeLessThanOrEqual(253);
});
