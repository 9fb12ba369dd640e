import { expect, it } from 'vitest';
import { LabelIndex } from '../../../shared/core/scheduling/problem/label-index.ts';

const index = new LabelIndex<string>();
index.add('web', ['app', 'web']);
index.add('web again', ['app', 'web']);
index.add('front', ['tier', 'front']);
index.add('whatever', undefined);

it.each<[Readonly<Record<string, string>>, readonly string[]]>([
  [{}, ['whatever']],
  [{ app: 'web' }, ['web', 'web again', 'whatever']],
  [{ app: 'web', tier: 'front' }, ['web', 'web again', 'front', 'whatever']],
  [{ app: 'front' }, ['whatever']],
])('what may mean a pod with %j', (labels, expected) => {
  expect(index.of(labels)).toEqual(expected);
});
