import { describe, expect, it } from 'vitest';
import { maintainNodeClasses } from '../../../shared/app/nodeclass.ts';
import { type FaultKind, PortError } from '../../../shared/ports.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { runningWorld, withPorts } from './world.ts';

/** A class that was ready, after subnets could not be asked for. */
async function refused(kind: FaultKind) {
  const world = await runningWorld([]);
  const subnets = async (): Promise<never> => {
    throw new PortError(kind, 'Code', 'no');
  };
  const failures = await maintainNodeClasses(withPorts(world.ports, { network: { subnets } }));
  const [nodeClass] = readState(world.store).nodeClasses;
  const ready = nodeClass?.status.conditions.find(({ type }) => type === 'Ready');
  return { failures, ready, subnets: nodeClass?.status.subnets.length };
}

describe('an EC2NodeClass that was ready', () => {
  it.each(['throttled', 'unknown'] as const)(
    'stays so where AWS is %s for a while',
    async (kind) => {
      const { failures, ready, subnets } = await refused(kind);
      expect(ready?.status).toBe('True');
      expect(subnets).toBeGreaterThan(0);
      expect(failures).toEqual([{ object: 'EC2NodeClass/default', message: 'Code: no' }]);
    },
  );

  it('is not ready once the permission is gone, and says so in the log', async () => {
    const { failures, ready } = await refused('unauthorised');
    expect(ready?.status).toBe('False');
    expect(failures.map(({ message }) => message)).toEqual([
      'SubnetsReady is False, Unauthorised: Code: no',
    ]);
  });
});
