import type { _InstanceType } from '@aws-sdk/client-ec2';
import { expect, it } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { fleetResult } from '../../../../shared/aws/fleet-request.ts';
import type { FleetRequest, FleetResult } from '../../../../shared/ports.ts';
import { deployment } from '../../../sim/small-world.ts';
import { settings, spread, waitingWorld, withPorts } from '../world.ts';

/** EC2 knows the profile this long after IAM. */
const KNOWN_AFTER_MS = 12_000;
const EARLY = {
  ErrorCode: 'InvalidParameterValue',
  ErrorMessage:
    'Value (demo_profile) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name',
};
const SHORT = { ErrorCode: 'UnfulfillableCapacity', ErrorMessage: 'Unable to fulfill capacity' };

/** What EC2 answers while it does not know the instance profile: every line is refused. */
function early(fleet: FleetRequest, others: readonly (typeof SHORT)[]): FleetResult {
  const lines = fleet.overrides.map(({ instanceType, zone, subnetId }) => ({
    LaunchTemplateAndOverrides: {
      Overrides: {
        InstanceType: instanceType as _InstanceType,
        AvailabilityZone: zone,
        SubnetId: subnetId,
      },
    },
  }));
  const refused = lines.map((line) => ({ ...line, ...EARLY }));
  const short = others.map((each) => ({ ...lines[0], ...each }));
  return fleetResult(fleet, { Errors: [...refused, ...short] });
}

it.each([
  ['alone', []],
  ['beside a line that is unfulfillable', [SHORT]],
])('an instance profile that EC2 does not know yet bars nothing: %s', async (_, others) => {
  const { ports, world } = await waitingWorld([deployment('web', 3, '1')]);
  const startMs = ports.clock.nowMs();
  const sinceMs = (): number => ports.clock.nowMs() - startMs;
  const launch = async (fleet: FleetRequest): Promise<FleetResult> =>
    sinceMs() < KNOWN_AFTER_MS ? early(fleet, others) : await ports.compute.launch(fleet);
  const slow = withPorts(ports, { compute: { launch } });
  const names = new Set<string>();
  let launched = 0;
  while (launched === 0 && sinceMs() < 60_000) {
    launched = (await provision(slow, settings)).launched.length;
    for (const { name } of (await ports.cluster.read()).objects.nodeClaims) names.add(name);
    await world.run(world.timeline.nowMs() + 2000);
  }
  expect(sinceMs()).toBeLessThanOrEqual(KNOWN_AFTER_MS + 6000);
  // The claims are the same: none was given up.
  expect(names.size).toBe(launched);
});

it('is waited for in the pass, a moment each time, by all launches of its class', async () => {
  const { ports } = await waitingWorld([spread('web', 20)]);
  const startMs = ports.clock.nowMs();
  const tried: number[] = [];
  const launch = async (fleet: FleetRequest): Promise<FleetResult> => {
    const sinceMs = ports.clock.nowMs() - startMs;
    tried.push(Math.round(sinceMs / 1000));
    return sinceMs < KNOWN_AFTER_MS ? early(fleet, []) : await ports.compute.launch(fleet);
  };
  const slow = withPorts(ports, { compute: { launch } });
  const { launched } = await provision(slow, { ...settings, fleetSizeMax: 1 });
  expect(launched).toHaveLength(20);
  // Those that are under way together are not called back; no other is begun.
  expect([...new Set(tried)]).toEqual([0, 5, 15]);
  expect(tried.filter((each) => each === 0).length).toBeLessThanOrEqual(15);
});
