import { describe, expect, it } from 'vitest';
import { markClaims } from '../../../../shared/app/disrupt/mark-claims.ts';
import { PortError } from '../../../../shared/ports.ts';
import { claimOf } from '../../../builders/scheduling.ts';
import { clockOf, runningWorld, spread, withPorts } from '../world.ts';

const SECOND = 1000;

/** Names of the claims that were written where each write takes so long; `refused` fails. */
async function written(count: number, writeMs: number, refused = '') {
  const { ports } = await runningWorld([spread('web', 1)]);
  let nowMs = ports.clock.nowMs();
  const pass = { ports: withPorts(ports, { clock: clockOf(() => nowMs) }), failures: [] };
  const claims = Array.from({ length: count }, (_, at) => ({ claim: claimOf(`c-${at}`) }));
  const names: string[] = [];
  await markClaims(pass, claims, async ({ claim }) => {
    nowMs += writeMs;
    if (claim.name === refused) throw new PortError('unknown', '503', 'unavailable');
    names.push(claim.name);
  });
  return { names, failures: pass.failures };
}

describe('claims that are marked', () => {
  it('are all of them where that is quick', async () => {
    const { names } = await written(100, 1);
    expect(names).toHaveLength(100);
  });

  it('are the first ones where it takes long: the Lease is let go in time', async () => {
    const { names } = await written(100, SECOND / 2);
    expect(names).toEqual(Array.from({ length: 10 }, (_, at) => `c-${at}`));
  });

  it('go on after one that is refused, which is told', async () => {
    const { names, failures } = await written(3, 1, 'c-1');
    expect(names).toEqual(['c-0', 'c-2']);
    expect(failures).toEqual([{ object: 'NodeClaim/c-1', message: '503: unavailable' }]);
  });
});
