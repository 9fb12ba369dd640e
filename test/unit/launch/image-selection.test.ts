import { describe, expect, it } from 'vitest';
import {
  type CandidateImage,
  type FoundImage,
  selectImages,
} from '../../../shared/core/launch/image-selection.ts';
import type { RequirementExpression } from '../../../shared/core/model/requirement.ts';

function image(
  id: string,
  changes: Partial<CandidateImage> = {},
  requirements?: readonly RequirementExpression[],
): FoundImage {
  const base = { id, name: id, architecture: 'x86_64', createdAtMs: 0, deprecated: false };
  return { image: { ...base, ...changes }, requirements };
}

function ids(...found: readonly FoundImage[]): readonly string[] {
  const chosen = selectImages(found).map(({ id }) => id);
  expect(selectImages(found.toReversed()).map(({ id }) => id)).toEqual(chosen);
  return chosen;
}

describe('choosing images, in whatever order they come', () => {
  it('takes the newest of each architecture, and none that runs nowhere', () => {
    const arm = image('arm', { createdAtMs: 1, architecture: 'arm64' });
    const odd = image('odd', { createdAtMs: 9, architecture: 'i386' });
    const none = image('none', { createdAtMs: 9, architecture: undefined });
    const inherited = image('inherited', { createdAtMs: 9, architecture: 'constructor' });
    const [old, newer] = [image('old', { createdAtMs: 1 }), image('new', { createdAtMs: 2 })];
    expect(ids(old, newer, arm, odd, none, inherited)).toEqual(['new', 'arm']);
  });

  it('says which architecture each is for', () => {
    const chosen = selectImages([image('x'), image('a', { architecture: 'arm64' })]);
    expect(chosen.map(({ id, requirements }) => [id, requirements[0]?.values])).toEqual([
      ['a', ['arm64']],
      ['x', ['amd64']],
    ]);
    expect(chosen[0]?.requirements).toEqual([
      { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] },
    ]);
  });

  it('takes a deprecated one only where there is no other', () => {
    const old = image('old', { createdAtMs: 1 });
    const deprecated = image('new', { createdAtMs: 2, deprecated: true });
    expect(ids(old, deprecated)).toEqual(['old']);
    expect(selectImages([deprecated])).toMatchObject([{ id: 'new', deprecated: true }]);
  });

  it('goes by name and then by id where they are equally new', () => {
    expect(
      ids(image('b', { name: 'x' }), image('a', { name: 'x' }), image('c', { name: 'w' })),
    ).toEqual(['c']);
    expect(ids(image('b', { name: 'x' }), image('a', { name: 'x' }))).toEqual(['a']);
    expect(ids(image('b', { name: undefined }), image('a', { name: 'x' }))).toEqual(['b']);
  });

  it('takes one for each set of requirements that a selector term has', () => {
    const gpu = [{ key: 'gpu', operator: 'Exists', values: [] }] as const;
    const none = [{ key: 'gpu', operator: 'DoesNotExist', values: [] }] as const;
    const found = ids(
      image('gpu', { createdAtMs: 3 }, gpu),
      image('old-gpu', { createdAtMs: 2 }, gpu),
      image('plain', { createdAtMs: 1, architecture: 'i386' }, none),
      image('any', { createdAtMs: 0 }),
    );
    expect(found).toEqual(['gpu', 'plain', 'any']);
  });
});
