import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Calls } from '../../shared/aws/calls.ts';
import { ArcZonalShifts } from '../../shared/aws/zonal-shifts.ts';
import { accessTo } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { WireFault } from '../support/aws/wire/response.ts';

const ARN = 'arn:aws:eks:us-east-1:111122223333:cluster/demo';

let cloud: WireCloud;
let nowMs: number;
beforeEach(async () => {
  cloud = new WireCloud();
  nowMs = 0;
  await cloud.start();
});
afterEach(() => cloud.stop());

function shifts(arn: string | undefined = ARN): ArcZonalShifts {
  const sleep = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 500));
  };
  const calls = new Calls({ nowMs: () => nowMs, sleep });
  const parts = { access: accessTo(cloud), calls, dnsSuffix: 'amazonaws.com' };
  return new ArcZonalShifts({ ...parts, resource: async () => arn });
}

const asked = (): number => cloud.server.callsOf('GetManagedResource').length;

describe('the zones that ARC shifts a cluster away from', () => {
  it('are those of people and of AWS, as far as they are applied; asked for once a minute', async () => {
    cloud.managedResource = {
      arn: ARN,
      zonalShifts: [
        { awayFrom: 'use1-az1', appliedStatus: 'APPLIED' },
        { awayFrom: 'use1-az4', appliedStatus: 'NOT_APPLIED' },
      ],
      autoshifts: [{ awayFrom: 'use1-az2', appliedStatus: 'APPLIED' }],
    };
    const arc = shifts();
    const expected = new Set(['use1-az1', 'use1-az2']);
    expect(await arc.awayFrom()).toEqual(expected);
    expect(await arc.awayFrom()).toEqual(expected);
    expect(asked()).toBe(1);
    cloud.managedResource = { arn: ARN, zonalShifts: [], autoshifts: [] };
    nowMs += 60_000;
    expect(await arc.awayFrom()).toEqual(new Set());
    expect(asked()).toBe(2);
  });

  it('are not asked for where the cluster is not registered', async () => {
    const parts = { access: accessTo(cloud), calls: new Calls(), dnsSuffix: 'amazonaws.com' };
    const arc = new ArcZonalShifts({ ...parts, resource: async () => undefined });
    expect(await arc.awayFrom()).toEqual(new Set());
    expect(asked()).toBe(0);
  });

  it('are those known before where ARC refuses, and unknown before it has answered', async () => {
    cloud.server.fail('arc-zonal-shift', 'GetManagedResource', new WireFault('AccessDenied', 'no'));
    const arc = shifts();
    expect(await arc.awayFrom()).toBeUndefined();
    cloud.server.heal();
    cloud.managedResource = {
      arn: ARN,
      zonalShifts: [{ awayFrom: 'use1-az1', appliedStatus: 'APPLIED' }],
      autoshifts: [],
    };
    nowMs += 60_000;
    expect(await arc.awayFrom()).toEqual(new Set(['use1-az1']));
    cloud.server.fail('arc-zonal-shift', 'GetManagedResource', 'disconnect');
    nowMs += 60_000;
    expect(await arc.awayFrom()).toEqual(new Set(['use1-az1']));
  });
});
