import { describe, expect, it } from 'vitest';
import { confirmsWarning } from '../../../shared/core/interruption/spot-request.ts';

describe('spot request', () => {
  it.each([
    ['marked-for-termination', true],
    ['marked-for-stop', true],
    ['instance-terminated-no-capacity', true],
    ['instance-stopped-by-price', true],
    ['instance-terminated-by-experiment', true],
    ['fulfilled', false],
    ['request-canceled-and-instance-running', false],
    ['pending-fulfillment', false],
    ['not-marked-for-stop', false],
    ['', false],
  ])('%s', (statusCode, isConfirmed) => {
    expect(confirmsWarning(statusCode)).toBe(isConfirmed);
  });
});
