import { expect, it } from 'vitest';
import {
  notedTimesText,
  readNotedTimes,
} from '../../../../shared/core/model/annotations/noted-times.ts';

it('times are written by name, and read back', () => {
  const times = new Map([
    ['b', 1000],
    ['a', 2000],
  ]);
  const text = notedTimesText(times);
  expect(text).toBe('{"a":"1970-01-01T00:00:02.000Z","b":"1970-01-01T00:00:01.000Z"}');
  expect(readNotedTimes(text)).toEqual(times);
});

it('what cannot be read says nothing', () => {
  expect(readNotedTimes('{"a":"soon","b":1,"c":"1970-01-01T00:00:01Z"}')).toEqual(
    new Map([['c', 1000]]),
  );
  expect(readNotedTimes('{')).toEqual(new Map());
  expect(readNotedTimes(undefined)).toEqual(new Map());
});
