import { describe, expect, it } from 'vitest';
import { type Skew, skewOf, skewText } from '../../../cli/version/skew.ts';

describe('the skew of a command and functions', () => {
  it.each<[command: string, functions: string, skew: Skew]>([
    ['0.2.0', '0.2.0', 'same'],
    ['0.2.0', '0.2.1', 'near'],
    ['0.2.0', '0.1.9', 'near'],
    ['0.2.0', '0.3.0', 'near'],
    ['0.2.0', '0.4.0', 'far'],
    ['0.2.0', '0.0.1', 'far'],
    ['0.9.0', '1.0.0', 'far'],
    ['1.10.0', '1.9.3', 'near'],
    ['1.0.0', '1.0.0-rc.1', 'near'],
    ['0.2.0', '', 'unknown'],
    ['0.2.0', 'unknown', 'unknown'],
  ])('of %s and %s is %s', (command, functions, skew) => {
    expect(skewOf(command, functions)).toBe(skew);
  });

  it.each<[functions: string, says: string | undefined]>([
    ['0.2.0', undefined],
    ['0.2.1', 'adopt, hand-back and apply need one version'],
    ['0.5.0', 'more than one minor version apart is not supported'],
    ['', 'not known'],
  ])('of 0.2.0 and "%s" says: %s', (functions, says) => {
    const said = skewText('0.2.0', functions);
    if (says === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(says);
  });
});
