import { expect, it } from 'vitest';
import { missing } from '../../../shared/core/missing.ts';
import { DryCluster } from '../../../shared/preview/dry-cluster.ts';
import { claimOf } from '../../builders/scheduling.ts';
import { runningWorld, spread } from '../app/world.ts';

async function copyOf(claims: number): Promise<DryCluster> {
  const { ports } = await runningWorld([spread('web', 1)]);
  const state = await ports.cluster.read();
  const nodeClaims = Array.from({ length: claims }, (_, at) => claimOf(`claim-${at}`));
  const objects = { ...state.objects, nodeClaims };
  return new DryCluster({ ...state, objects }, ports.cluster, 0);
}

const ref = (name: string) => ({ kind: 'NodeClaim' as const, name });

it('what was read stays as it was, whatever is written later', async () => {
  const copy = await copyOf(3);
  const before = await copy.read();
  expect(await copy.read()).toBe(before);
  expect(await copy.patchNodeClaim(ref('claim-1'), { annotations: { a: 'b' } })).toBe('done');
  const after = await copy.read();
  const noted = ({ objects }: typeof before) =>
    objects.nodeClaims.map(({ name, annotations }) => [name, annotations['a']]);
  expect(noted(before)).toEqual(before.objects.nodeClaims.map(({ name }) => [name, undefined]));
  expect(noted(after)).toEqual([
    ['claim-0', undefined],
    ['claim-1', 'b'],
    ['claim-2', undefined],
  ]);
  expect(after.objects.pods).toBe(before.objects.pods);
  expect(after.objects.nodes).toBe(before.objects.nodes);
});

it('an object of another uid, or of no name here, is gone', async () => {
  const copy = await copyOf(1);
  const [claim] = (await copy.read()).objects.nodeClaims;
  const { uid } = claim ?? missing('the NodeClaim');
  expect(await copy.delete({ ...ref('claim-0'), uid: `not ${uid}` })).toBe('gone');
  expect(await copy.delete(ref('claim-9'))).toBe('gone');
  expect(copy.deleted).toEqual([]);
  expect(await copy.delete({ ...ref('claim-0'), uid })).toBe('done');
  expect(copy.deleted).toEqual([uid]);
});

it('writes to each of 50,000 NodeClaims do not look at all the others', async () => {
  const copy = await copyOf(50_000);
  for (const { name } of (await copy.read()).objects.nodeClaims) {
    await copy.patchNodeClaim(ref(name), { annotations: { a: 'b' } });
  }
  const { nodeClaims } = (await copy.read()).objects;
  expect(nodeClaims.every(({ annotations }) => annotations['a'] === 'b')).toBe(true);
}, 10_000);
