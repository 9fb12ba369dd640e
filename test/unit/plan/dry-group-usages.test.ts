import { describe, expect, it } from 'vitest';
import { limitGroupsOf } from '../../../shared/core/limit-groups/limit-groups.ts';
import { DryGroupUsages, sharedGroupNotes } from '../../../shared/preview/dry-group-usages.ts';

const row = (nodes: number) => ({ used: { nodes }, pending: [], caps: 'nodes=9 shared' });
const usage = new Map([
  ['blue', row(2)],
  ['green', row(3)],
]);

describe('shared limit groups in a preview', () => {
  it('have the rows of other clusters, and keep what is reserved to themselves', async () => {
    let asked = 0;
    const usages = {
      read: async () => {
        asked += 1;
        return { usage, version: 'one' };
      },
    };
    const dry = new DryGroupUsages({ usages, cluster: 'blue' });
    const known = await dry.read('batch');
    expect(known?.usage).toEqual(new Map([['green', row(3)]]));
    await dry.write('batch', new Map([['', row(4)]]), known?.version);
    expect((await dry.read('batch'))?.usage).toEqual(new Map([['', row(4)]]));
    expect(asked).toBe(1);
  });

  it('are not known where the bucket does not answer', async () => {
    const dry = new DryGroupUsages({ usages: { read: async () => undefined }, cluster: 'blue' });
    expect(await dry.read('batch')).toBeUndefined();
  });

  it('are of this cluster alone without a bucket', async () => {
    const dry = new DryGroupUsages(undefined);
    expect(await dry.read('batch')).toEqual({ usage: new Map(), version: undefined });
  });
});

describe('what is said where no bucket says what other clusters hold', () => {
  const shared = { usages: { read: async () => undefined }, cluster: 'blue' };

  it.each([
    ['batch nodes=3', undefined, ''],
    ['batch nodes=3 shared', shared, ''],
    ['batch nodes=3 shared', undefined, 'limit group batch is shared with other clusters: what'],
    ['b nodes=3 shared; a cpu=1 shared', undefined, 'groups are shared with other clusters (a, b)'],
  ])('%s', (text, usages, note) => {
    const said = sharedGroupNotes({ limitGroups: limitGroupsOf(text) ?? [] }, usages);
    expect(said.join()).toContain(note);
    expect(said.length).toBe(note === '' ? 0 : 1);
  });
});
