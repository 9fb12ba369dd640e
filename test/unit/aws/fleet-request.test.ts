import { describe, expect, it } from 'vitest';
import { cappedOverrides, fleetInput, fleetResult } from '../../../shared/aws/fleet-request.ts';
import { templateData } from '../../../shared/aws/template-data.ts';
import { versionOf } from '../../../shared/core/model/node-class.ts';
import type { FleetRequest } from '../../../shared/ports/cloud.ts';
import { aFleet, aNodeClass, anOverride, IMAGE } from '../../builders/launches.ts';

const CLUSTER = {
  name: 'demo',
  endpoint: 'https://demo.eks',
  certificateAuthority: 'Q0E=',
  serviceCidr: '10.100.0.0/16',
  ipFamily: 'ipv4',
  kubernetesVersion: '1.33',
} as const;
const VARIANT = { imageId: IMAGE, podsMax: 29, efaCards: [], reservationId: undefined };

function inputOf(fleet: FleetRequest) {
  return fleetInput(fleet, [{ name: 'joiner.dev/abc', overrides: fleet.overrides }]);
}

function dataOf(spec: Readonly<Record<string, unknown>>, variant = {}, cluster = {}) {
  const fleet = aFleet({ nodeClass: aNodeClass(spec) });
  return templateData(fleet, { ...VARIANT, ...variant }, { ...CLUSTER, ...cluster });
}

/** Without undefined fields and with user data in plain text, so that it can be read. */
function readable(value: { readonly UserData?: string | undefined }): string {
  const userData = Buffer.from(value.UserData ?? '', 'base64').toString('utf8');
  return `${JSON.stringify({ ...value, UserData: userData.split('\n') }, null, 2)}\n`;
}

describe('what CreateFleet is asked for', () => {
  it('is this, for an on-demand fleet of two types', async () => {
    const overrides = [anOverride('c7g.large', 'a', 0.07), anOverride('m7g.large', 'b', 0.08)];
    const text = `${JSON.stringify(inputOf(aFleet({ count: 2, overrides })), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('golden/create-fleet.json');
  });

  const rows = [
    ['on-demand', 'lowest-price', 'on-demand', 'OnDemandOptions'],
    ['on-demand', 'prioritized', 'on-demand', 'OnDemandOptions'],
    ['spot', 'price-capacity-optimized', 'spot', 'SpotOptions'],
    ['spot', 'capacity-optimized-prioritized', 'spot', 'SpotOptions'],
    ['reserved', 'lowest-price', 'on-demand', 'OnDemandOptions'],
  ] as const;
  it.each(rows)('%s with %s is bought as %s', (capacityType, strategy, target, options) => {
    const input = inputOf(aFleet({ capacityType, strategy }));
    expect(input.TargetCapacitySpecification?.DefaultTargetCapacityType).toBe(target);
    expect(input[options]).toEqual({ AllocationStrategy: strategy });
    const other = options === 'SpotOptions' ? 'OnDemandOptions' : 'SpotOptions';
    expect(input[other]).toBeUndefined();
  });

  it('carries the context of the class unless minValues were relaxed', () => {
    const nodeClass = aNodeClass({ context: 'ctx' });
    expect(inputOf(aFleet({ nodeClass })).Context).toBe('ctx');
    expect(inputOf(aFleet({ nodeClass, sendContext: false })).Context).toBeUndefined();
  });

  it('leaves the subnet to a template that names the zone', () => {
    const overrides = [anOverride('c7g.large', 'a', 1, { subnetId: undefined })];
    const [config] = inputOf(aFleet({ overrides })).LaunchTemplateConfigs ?? [];
    expect(config?.Overrides).toMatchObject([{ AvailabilityZone: 'us-east-1a' }]);
    expect(config?.Overrides?.[0]?.SubnetId).toBeUndefined();
  });
});

describe('overrides', () => {
  it('are cut at 300, in their order', () => {
    const all = Array.from({ length: 301 }, (_, at) => anOverride(`t.${at}`, 'a', at));
    expect(cappedOverrides(all)).toEqual(all.slice(0, 300));
  });

  it('are cut where the body would be too large', () => {
    const all = Array.from({ length: 300 }, (_, at) => anOverride('x'.repeat(1000), 'a', at));
    const kept = cappedOverrides(all);
    expect(kept.length).toBeGreaterThan(100);
    expect(kept.length).toBeLessThan(150);
    expect(kept).toEqual(all.slice(0, kept.length));
  });
});

describe('the launch template', () => {
  it('is this, for a class that sets nothing', async () => {
    await expect(readable(dataOf({}))).toMatchFileSnapshot('golden/launch-template.json');
  });

  it('is this, for a class that sets everything', async () => {
    const data = dataOf({
      associatePublicIPAddress: false,
      ipPrefixCount: 2,
      instanceStorePolicy: 'RAID0',
      detailedMonitoring: true,
      tags: { team: 'a' },
      metadataOptions: {
        httpEndpoint: 'enabled',
        httpProtocolIPv6: 'enabled',
        httpPutResponseHopLimit: 2,
        httpTokens: 'optional',
      },
      connectionTracking: { tcpEstablishedTimeout: 60, udpStreamTimeout: 60, udpTimeout: 30 },
      cpuOptions: { nestedVirtualization: 'enabled' },
      blockDeviceMappings: [
        {
          deviceName: '/dev/xvda',
          rootVolume: true,
          ebs: {
            volumeSize: '100G',
            volumeType: 'gp3',
            iops: 4000,
            throughput: 250,
            encrypted: true,
          },
        },
        {
          deviceName: '/dev/xvdb',
          ebs: { snapshotID: 'snap-1', volumeInitializationRate: 100, deleteOnTermination: true },
        },
      ],
      kubelet: {
        maxPods: 20,
        clusterDNS: ['10.100.0.11'],
        evictionHard: { 'memory.available': '5%' },
      },
    });
    await expect(readable(data)).toMatchFileSnapshot('golden/launch-template-full.json');
  });

  it('gives nodes of IPv6 clusters one primary IPv6 address', () => {
    const data = dataOf({ ipPrefixCount: 1 }, {}, { ipFamily: 'ipv6', serviceCidr: 'fd00::/108' });
    expect(data.NetworkInterfaces).toMatchObject([
      { PrimaryIpv6: true, Ipv6AddressCount: 1, Ipv6PrefixCount: 1 },
    ]);
    expect(data.NetworkInterfaces?.[0]?.Ipv4PrefixCount).toBeUndefined();
  });

  it.each([
    [
      [0, 1, 2],
      ['0/0 efa', '1/1 efa', '2/1 efa'],
    ],
    [
      [1, 2],
      ['0/0 interface', '1/1 efa', '2/1 efa'],
    ],
  ])('has an interface for EFA on the cards %j', (efaCards, expected) => {
    const places = dataOf({}, { efaCards }).NetworkInterfaces?.map(
      (each) => `${each.NetworkCardIndex}/${each.DeviceIndex} ${each.InterfaceType}`,
    );
    expect(places).toEqual(expected);
  });

  it('has the interfaces that the class lists; those for EFA only track no connections', () => {
    const data = dataOf({
      connectionTracking: { udpTimeout: 30 },
      networkInterfaces: [
        { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' },
        { networkCardIndex: 1, deviceIndex: 0, interfaceType: 'efa-only' },
      ],
    });
    expect(data.NetworkInterfaces?.map((each) => each.InterfaceType)).toEqual([
      'interface',
      'efa-only',
    ]);
    expect(
      data.NetworkInterfaces?.map((each) => each.ConnectionTrackingSpecification !== undefined),
    ).toEqual([true, false]);
  });

  it('asks for dedicated hosts and enclaves where the claim does', () => {
    const nodeLabels = { 'karpenter.k8s.aws/instance-tenancy': 'dedicated' };
    const requests = { 'eks.amazonaws.com/nitro-sandbox': 1 };
    const data = templateData(aFleet({ nodeLabels, requests }), VARIANT, CLUSTER);
    expect(data.Placement).toEqual({ Tenancy: 'dedicated' });
    expect(data.EnclaveOptions).toEqual({ Enabled: true });
  });

  it('does not depend on the fleet that it is made for', () => {
    const one = aFleet({ clientToken: 'a' });
    const other = aFleet({ clientToken: 'b' });
    expect(one.tags).not.toEqual(other.tags);
    expect(templateData(one, VARIANT, CLUSTER)).toEqual(templateData(other, VARIANT, CLUSTER));
  });

  it('refuses placement groups', () => {
    expect(() => dataOf({ placementGroupSelector: { name: 'x' } })).toThrow(/not supported/);
  });
});

describe('what CreateFleet answers', () => {
  const fleet = aFleet({ overrides: [anOverride('c7g.large', 'a', 1)] });
  const at = (Overrides: object) => ({ LaunchTemplateAndOverrides: { Overrides } });

  it('names an offering by subnet where it names no zone', () => {
    const place = at({ InstanceType: 'c7g.large', SubnetId: 'subnet-0000000000000000a' });
    const error = { ...place, ErrorCode: 'UnfulfillableCapacity', ErrorMessage: 'x' };
    expect(fleetResult(fleet, { Errors: [error, error] }).faults).toEqual([
      {
        kind: 'shortage',
        code: 'UnfulfillableCapacity',
        message: 'x',
        offering: { instanceType: 'c7g.large', zone: 'us-east-1a', capacityType: 'on-demand' },
        subnetId: 'subnet-0000000000000000a',
      },
    ]);
  });

  it.each([
    ['InsufficientInstanceCapacity', true],
    ['VcpuLimitExceeded', true],
    ['ReservationCapacityExceeded', true],
    ['InsufficientFreeAddressesInSubnet', false],
    ['Unsupported', false],
    ['InvalidBlockDeviceMapping', false],
  ])('says of whom %s is: of everybody %j', (ErrorCode, isOfAll) => {
    const line = { ...anOverride('c7g.large', 'a', 1), reservationId: 'cr-1' };
    const reserved = aFleet({ overrides: [line], capacityType: 'reserved' });
    const error = {
      ...at({ InstanceType: 'c7g.large', AvailabilityZone: 'us-east-1a' }),
      ErrorCode,
    };
    const [fault] = fleetResult(reserved, { Errors: [error] }).faults;
    expect(fault?.offering).toEqual({
      instanceType: 'c7g.large',
      zone: 'us-east-1a',
      capacityType: 'reserved',
      reservationId: 'cr-1',
      nodeClass: isOfAll ? undefined : versionOf(reserved.nodeClass),
    });
  });

  it('a node role that may not be passed: which may, and nothing encoded', () => {
    const said = 'You are not authorized. User: x is not authorized to perform: iam:PassRole on y';
    const error = {
      ErrorCode: 'UnauthorizedOperation',
      ErrorMessage: `${said}. Encoded authorization failure message: abc`,
    };
    const message = `${said}. (the stack's nodeRole and nodeRoles are the roles that may be passed)`;
    const { faults } = fleetResult(fleet, { Errors: [error] });
    expect(faults.map((each) => each.message)).toEqual([message]);
    const again = { ...error, ErrorMessage: message };
    expect(fleetResult(fleet, { Errors: [again] }).faults[0]?.message).toBe(message);
  });

  it('gives instances the image and zone of their line where it leaves them out', () => {
    const group = { ...at({ InstanceType: 'c7g.large', SubnetId: 'subnet-0000000000000000a' }) };
    const { instances } = fleetResult(fleet, { Instances: [{ ...group, InstanceIds: ['i-1'] }] });
    expect(instances).toEqual([
      {
        id: 'i-1',
        instanceType: 'c7g.large',
        zone: 'us-east-1a',
        capacityType: 'on-demand',
        reservationId: undefined,
        imageId: IMAGE,
      },
    ]);
  });
});
