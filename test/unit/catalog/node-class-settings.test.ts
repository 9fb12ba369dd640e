import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import {
  DEFAULT_LAUNCH_ENVIRONMENT,
  launchSettingsOf,
} from '../../../shared/catalog/node-class-settings.ts';
import { catalogPort } from '../../../shared/catalog/port.ts';
import { DEFAULT_KUBELET, DEFAULT_LAUNCH_SETTINGS } from '../../../shared/catalog/settings.ts';
import type { NodeClass } from '../../../shared/core/model/node-class.ts';
import { aReservation } from '../../builders/launches.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

function nodeClass(
  spec: Readonly<Record<string, unknown>> = {},
  status: Partial<NodeClass['status']> = {},
): NodeClass {
  return {
    name: 'default',
    uid: 'u1',
    generation: 1,
    annotations: {},
    finalizers: [],
    isDeleting: false,
    subnetSelectorTerms: [],
    securityGroupSelectorTerms: [],
    capacityReservationSelectorTerms: [],
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    imageFamily: 'AL2023',
    role: 'node',
    instanceProfile: undefined,
    tags: {},
    spec,
    status: {
      subnets: [
        { id: 'subnet-2', zone: 'eu-west-1b', zoneId: 'euw1-az1' },
        { id: 'subnet-1', zone: 'eu-west-1a', zoneId: undefined },
        { id: 'subnet-3', zone: 'eu-west-1b', zoneId: 'euw1-az1' },
      ],
      securityGroups: [],
      images: [],
      capacityReservations: [],
      instanceProfile: undefined,
      conditions: [],
      ...status,
    },
  };
}

const ZONES = [
  { zone: 'eu-west-1b', zoneId: 'euw1-az1' },
  { zone: 'eu-west-1a', zoneId: '' },
];

describe('settings of an EC2NodeClass', () => {
  test('an empty spec has the defaults', () => {
    expect(launchSettingsOf(nodeClass())).toEqual({
      ok: true,
      value: { ...DEFAULT_LAUNCH_SETTINGS, zones: ZONES },
    });
  });

  test('everything that changes what a type offers', () => {
    const reservation = aReservation('eu-west-1a');
    const spec = {
      amiFamily: 'AL2023',
      kubelet: {
        maxPods: 50,
        podsPerCore: 10,
        kubeReserved: { cpu: '200m', memory: '1Gi', pid: '1000' },
        systemReserved: { 'ephemeral-storage': '2Gi' },
        evictionHard: { 'memory.available': '5%', 'nodefs.available': '3Gi' },
        clusterDNS: ['10.0.0.10'],
      },
      blockDeviceMappings: [
        { deviceName: '/dev/xvda', rootVolume: true, ebs: { volumeSize: '100Gi' } },
        { deviceName: '/dev/xvdb', ebs: { snapshotID: 'snap-1' } },
      ],
      instanceStorePolicy: 'RAID0',
      networkInterfaces: [{ networkCardIndex: 1, deviceIndex: 2, interfaceType: 'efa-only' }],
      cpuOptions: { nestedVirtualization: 'enabled' },
      connectionTracking: { udpTimeout: '30s' },
    };
    const environment = {
      reservedNetworkInterfaces: 1,
      memoryOverhead: 0.05,
      availableReservations: new Map([['cr-1', 4]]),
    };
    expect(
      launchSettingsOf(nodeClass(spec, { capacityReservations: [reservation] }), environment),
    ).toEqual({
      ok: true,
      value: {
        imageFamily: 'AL2023',
        zones: ZONES,
        kubelet: {
          maxPods: 50,
          podsPerCore: 10,
          kubeReserved: { cpu: 200, memory: GIB },
          systemReserved: { 'ephemeral-storage': 2 * GIB },
          memoryAvailable: { percent: 5 },
          storageAvailable: { amount: 3 * GIB },
        },
        blockDevices: [
          { deviceName: '/dev/xvda', rootVolume: true, volumeSize: 100 * GIB },
          { deviceName: '/dev/xvdb', rootVolume: false, volumeSize: undefined },
        ],
        instanceStoreRaid: true,
        networkInterfaces: [{ networkCardIndex: 1, deviceIndex: 2, efaOnly: true }],
        nestedVirtualization: true,
        connectionTracking: true,
        reservations: [{ ...reservation, available: 4 }],
        reservedNetworkInterfaces: 1,
        memoryOverhead: 0.05,
      },
    });
  });

  test.each([
    ['0', 1000],
    ['0-1,4', 3000],
    ['2, 6-7', 3000],
  ])('the CPUs %s are what is reserved of them', (reservedSystemCPUs, cpu) => {
    const kubeReserved = { cpu: '100m', memory: '1Gi' };
    const kubelet = { reservedSystemCPUs, kubeReserved, systemReserved: { cpu: '50m' } };
    expect(launchSettingsOf(nodeClass({ kubelet }))).toMatchObject({
      value: {
        kubelet: { kubeReserved: { cpu: 0, memory: GIB }, systemReserved: { cpu } },
      },
    });
  });

  test.each(['1-0', 'all', '0-', '0,,1'])('"%s" is no list of CPUs', (reservedSystemCPUs) => {
    expect(launchSettingsOf(nodeClass({ kubelet: { reservedSystemCPUs } }))).toEqual({
      ok: false,
      issues: [
        {
          path: 'spec.kubelet.reservedSystemCPUs',
          message: `"${reservedSystemCPUs}" is not a list of CPUs such as 0-1,4`,
        },
      ],
    });
  });

  test('a plain amount of memory is a threshold too', () => {
    const settings = launchSettingsOf(
      nodeClass({ kubelet: { evictionHard: { 'memory.available': '500Mi' } } }),
    );
    expect(settings).toMatchObject({
      value: { kubelet: { ...DEFAULT_KUBELET, memoryAvailable: { amount: 500 * MIB } } },
    });
  });

  test('everything that is wrong is named at once', () => {
    const settings = launchSettingsOf(
      nodeClass({
        kubelet: {
          kubeReserved: { cpu: 'many' },
          systemReserved: { memory: '-1Gi' },
          evictionHard: { 'memory.available': '101%', 'nodefs.available': 'x%' },
        },
        blockDeviceMappings: [{ ebs: { volumeSize: 'big' } }],
      }),
    );
    expect(settings.ok ? [] : settings.issues.map((issue) => issue.path)).toEqual([
      'spec.kubelet.kubeReserved.cpu',
      'spec.kubelet.systemReserved.memory',
      'spec.kubelet.evictionHard.memory.available',
      'spec.kubelet.evictionHard.nodefs.available',
      'spec.blockDeviceMappings[0].ebs.volumeSize',
    ]);
  });

  test('a field of the wrong type is named', () => {
    const settings = launchSettingsOf(nodeClass({ kubelet: { maxPods: 'many' } }));
    expect(settings.ok ? [] : settings.issues.map((issue) => issue.path)).toEqual([
      'spec.kubelet.maxPods',
    ]);
  });
});

describe('the catalog as a port', async () => {
  const ireland = await loadCatalog('eu-west-1');
  const port = catalogPort(
    'eu-west-1',
    () => ireland,
    () => DEFAULT_LAUNCH_ENVIRONMENT,
  );

  test('says where prices come from and of when', () => {
    expect(port.region).toBe('eu-west-1');
    expect(port.source).toContain('on-demand prices of 2025-05, spot prices of 2025-05-28');
  });

  test("offers types in the class's zones only", async () => {
    const types = await port.instanceTypes(nodeClass());
    expect(types.length).toBeGreaterThan(700);
    const zones = new Set(types.flatMap((type) => type.offerings.map((each) => each.zone)));
    expect([...zones].sort()).toEqual(['eu-west-1a', 'eu-west-1b']);
  });

  test('refuses a class that it cannot read', async () => {
    await expect(port.instanceTypes(nodeClass({ kubelet: { maxPods: -1 } }))).rejects.toThrow(
      /EC2NodeClass default: spec\.kubelet\.maxPods: /,
    );
  });
});
