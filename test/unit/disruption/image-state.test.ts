import { expect, it } from 'vitest';
import {
  hasProvenImage,
  imageState,
  isImageState,
} from '../../../shared/core/disruption/image-state.ts';

it('a state is about an image where it names one of a class', () => {
  expect(imageState('default', 'ami-1')).toBe('EC2NodeClass/default image ami-1');
  expect(isImageState(imageState('default', 'ami-1'))).toBe(true);
});

it.each([
  'EC2NodeClass/default spec 0123',
  'NodePool/default image ami-1',
  'x EC2NodeClass/default image ami-1',
  'EC2NodeClass/default image ami-1 x',
  'EC2NodeClass/ image ami-1',
  'EC2NodeClass/a b image ami-1',
  'EC2NodeClass/default image ',
  '',
])('%j is about none', (state) => {
  expect(isImageState(state)).toBe(false);
});

it.each([
  [true, ['EC2NodeClass/a image ami-1']],
  [true, ['EC2NodeClass/a image ami-1', 'NodePool/a template 0123']],
  [false, ['EC2NodeClass/a image ami-1', 'EC2NodeClass/a spec 0123']],
  [false, ['NodePool/a template 0123']],
])('new nodes get a proven image, %s: while %j have failed', (expected, states) => {
  expect(hasProvenImage(states)).toBe(expected);
});
