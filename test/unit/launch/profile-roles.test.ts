import { expect, it } from 'vitest';
import { mayHaveRole, roleMark } from '../../../shared/core/launch/profile-roles.ts';

const profile = `demo_${'0a'.repeat(10)}_${roleMark('nodes')}`;

it.each([
  [profile, ['arn:aws:iam::111122223333:role/nodes'], true],
  [profile, ['arn:aws:iam::111122223333:role/path/nodes'], true],
  [profile, ['other', 'nodes'], true],
  [profile, ['other'], false],
  [profile, [], false],
  ['theirs', ['other'], true],
  ['', ['other'], true],
])('nodes of the profile %s may have one of %j: %s', (name, roles, may) => {
  expect(mayHaveRole(name, roles)).toBe(may);
});
