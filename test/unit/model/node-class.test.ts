import { expect, it } from 'vitest';
import { versionOf } from '../../../shared/core/model/node-class.ts';

it('a version of an EC2NodeClass is one spec of one object', () => {
  expect(versionOf({ uid: 'u', generation: 3 })).toBe('u/3');
});
