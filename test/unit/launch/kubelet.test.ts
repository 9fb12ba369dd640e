import { describe, expect, it } from 'vitest';
import { readKubelet } from '../../../shared/core/launch/kubelet.ts';
import type { ImageFamily } from '../../../shared/core/model/node-class.ts';

function problems(fields: Readonly<Record<string, unknown>>, family: ImageFamily = 'AL2023') {
  return readKubelet(fields, family).problems.map(
    ({ reason, path, message }) => `${reason} ${path} ${message}`,
  );
}

const INVALID = 'InvalidKubeletConfiguration spec.kubelet';
const DISABLED = 'KubeletExpressionsDisabled spec.kubelet';
const AMOUNT = 'expressions are not supported: give an amount';
const UNSUPPORTED = 'UnsupportedKubeletConfiguration spec.kubelet';

const SOFT = { 'memory.available': '5%' };

describe('settings that cannot be read', () => {
  const rows: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ maxPods: -1 }, `${INVALID}.maxPods must be a whole number from 0`],
    [{ podsPerCore: 1.5 }, `${INVALID}.podsPerCore must be a whole number from 0`],
    [{ cpuCFSQuota: 'no' }, `${INVALID}.cpuCFSQuota must be true or false`],
    [{ clusterDNS: [1] }, `${INVALID}.clusterDNS must be a list of texts`],
    [{ kubeReserved: [] }, `${INVALID}.kubeReserved must be a map`],
    [
      { kubeReserved: { gpu: '1' } },
      `${INVALID}.kubeReserved.gpu is not one of cpu, memory, ephemeral-storage, pid`,
    ],
    [
      { systemReserved: { cpu: '-1' } },
      `${INVALID}.systemReserved.cpu must be a quantity from 0, such as 100m or 1Gi`,
    ],
    [
      { evictionHard: { 'memory.available': '101%' } },
      `${INVALID}.evictionHard.memory.available must be a percentage up to 100% or a quantity`,
    ],
    [
      { evictionSoft: { 'memory.available': '5%' } },
      `${INVALID}.evictionSoft.memory.available has no matching evictionSoftGracePeriod`,
    ],
    [
      { evictionSoftGracePeriod: { 'memory.available': '1m' } },
      `${INVALID}.evictionSoftGracePeriod.memory.available has no matching evictionSoft`,
    ],
    [
      { imageGCHighThresholdPercent: 101 },
      `${INVALID}.imageGCHighThresholdPercent must be a whole number from 0 to 100`,
    ],
    [
      { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50 },
      `${INVALID}.imageGCHighThresholdPercent must be greater than the low threshold`,
    ],
    [{ registerWithTaints: [] }, `${INVALID}.registerWithTaints taints are set by the NodePool`],
    [{ maxPod: 50 }, `${INVALID}.maxPod is no field of the kubelet`],
    [{ registryPullQPS: 'many' }, `${INVALID}.registryPullQPS must be a whole number`],
    [{ featureGates: [] }, `${INVALID}.featureGates must be a map`],
    [
      { evictionMinimumReclaim: { 'memory.available': '101%' } },
      `${INVALID}.evictionMinimumReclaim.memory.available must be a percentage up to 100% or a quantity`,
    ],
    [{ maxPods: 'min(110, vcpus * 12)' }, `${DISABLED}.maxPods ${AMOUNT}`],
    [
      { kubeReserved: { memory: '9 * max_pods + 200' } },
      `${DISABLED}.kubeReserved.memory ${AMOUNT}`,
    ],
    [
      { systemReserved: { memory: '-1x' } },
      `${INVALID}.systemReserved.memory must be a quantity from 0, such as 100m or 1Gi`,
    ],
    [{ systemReserved: { cpu: 'vcpus * 15' } }, `${DISABLED}.systemReserved.cpu ${AMOUNT}`],
  ];
  it.each(rows)('%j', (fields, expected) => {
    expect(problems(fields)).toEqual([expected]);
  });

  it.each<[Readonly<Record<string, unknown>>, string]>([
    [{ maxPods: Number.NaN }, `${INVALID}.maxPods must be a whole number from 0`],
    [{ podsPerCore: true }, `${INVALID}.podsPerCore must be a whole number from 0`],
    [{ cpuCFSQuota: 'true' }, `${INVALID}.cpuCFSQuota must be true or false`],
    [{ clusterDNS: '10.0.0.2' }, `${INVALID}.clusterDNS must be a list of texts`],
    [{ clusterDNS: ['10.0.0.2', 2] }, `${INVALID}.clusterDNS must be a list of texts`],
    [{ kubeReserved: null }, `${INVALID}.kubeReserved must be a map`],
    [{ kubeReserved: [] }, `${INVALID}.kubeReserved must be a map`],
    [{ kubeReserved: 'cpu' }, `${INVALID}.kubeReserved must be a map`],
    [
      { kubeReserved: { cpu: true } },
      `${INVALID}.kubeReserved.cpu must be a quantity from 0, such as 100m or 1Gi`,
    ],
    [
      { evictionSoft: SOFT, evictionSoftGracePeriod: { 'memory.available': 'soon' } },
      `${INVALID}.evictionSoftGracePeriod.memory.available must be a duration such as 90s`,
    ],
    [
      { imageGCHighThresholdPercent: 49, imageGCLowThresholdPercent: 50 },
      `${INVALID}.imageGCHighThresholdPercent must be greater than the low threshold`,
    ],
    [{ memoryThrottlingFactor: '1' }, `${INVALID}.memoryThrottlingFactor must be a number`],
    [{ cgroupsPerQOS: 1 }, `${INVALID}.cgroupsPerQOS must be true or false`],
    [{ tlsCipherSuites: 'a' }, `${INVALID}.tlsCipherSuites must be a list`],
    [{ address: 1 }, `${INVALID}.address must be a text`],
    [{ featureGates: null }, `${INVALID}.featureGates must be a map`],
  ])('%j', (fields, expected) => {
    expect(problems(fields)).toContain(expected);
  });

  it.each(['100.1%', '5%%', '%5', 'x5%', '1..5%', '-1%', '-1', 'much', '5%x'])(
    'a threshold of %s',
    (text) => {
      expect(problems({ evictionHard: { 'memory.available': text } })).toEqual([
        `${INVALID}.evictionHard.memory.available must be a percentage up to 100% or a quantity`,
      ]);
    },
  );

  it.each(['1', '1d', '1m ', ' 1m', '-1m', 'm', '1.5.2s', ''])('a duration of %j', (text) => {
    const fields = { evictionSoft: SOFT, evictionSoftGracePeriod: { 'memory.available': text } };
    expect(problems(fields)[0]).toBe(
      `${INVALID}.evictionSoftGracePeriod.memory.available must be a duration such as 90s`,
    );
  });

  it('are told in the order of their names, whatever comes first', () => {
    const fields = { zone: 1, arch: 1, maxPod: 1 };
    const turned = Object.fromEntries(Object.entries(fields).reverse());
    const expected = ['arch', 'maxPod', 'zone'].map(
      (field) => `${INVALID}.${field} is no field of the kubelet`,
    );
    expect(problems(fields)).toEqual(expected);
    expect(problems(turned)).toEqual(expected);
    const reserved = { kubeReserved: { z: '1', a: '1', m: '1' } };
    expect(problems(reserved).map((each) => each.split('kubeReserved.')[1]?.[0])).toEqual([
      'a',
      'm',
      'z',
    ]);
  });

  it('signals that the kubelet does not know', () => {
    expect(problems({ evictionHard: { 'memory.free': '5%' } })[0]).toMatch(
      /evictionHard\.memory\.free is not one of memory\.available/,
    );
  });

  it('all of them at once', () => {
    expect(problems({ maxPods: -1, cpuCFSQuota: 1, registerWithTaints: [] })).toHaveLength(3);
  });
});

describe('settings that a family cannot take', () => {
  const others: readonly ImageFamily[] = ['AL2', 'Bottlerocket', 'Windows2022'];
  it.each(others)('%s takes none but the known fields and one address of DNS', (family) => {
    expect(problems({ topologyManagerPolicy: 'restricted' }, family)).toEqual([
      `${UNSUPPORTED}.topologyManagerPolicy is not supported by the image family ${family}`,
    ]);
    expect(problems({ clusterDNS: ['10.0.0.10', '10.0.0.11'] }, family)).toEqual([
      `${UNSUPPORTED}.clusterDNS the image family ${family} takes one address`,
    ]);
  });

  it.each<ImageFamily>(['AL2023', 'Custom'])(
    '%s takes any field, and several addresses',
    (family) => {
      const fields = {
        clusterDNS: ['10.0.0.10', '10.0.0.11'],
        topologyManagerPolicy: 'restricted',
      };
      const { configuration, problems: found } = readKubelet(fields, family);
      expect(found).toEqual([]);
      expect(configuration.other).toEqual({ topologyManagerPolicy: 'restricted' });
      expect(configuration.clusterDNS).toEqual(fields.clusterDNS);
    },
  );

  it('Bottlerocket knows no podsPerCore', () => {
    expect(problems({ podsPerCore: 2 }, 'Bottlerocket')).toEqual([
      `${UNSUPPORTED}.podsPerCore is not supported by the image family Bottlerocket`,
    ]);
  });
});

it('good settings are read whatever their order', () => {
  const fields = {
    evictionSoft: { 'nodefs.available': '10%', 'memory.available': '500Mi' },
    evictionSoftGracePeriod: { 'memory.available': '1m30s', 'nodefs.available': '2m' },
    kubeReserved: { memory: '1Gi', cpu: 2, pid: '1000' },
    maxPods: 30,
  };
  const reversed = Object.fromEntries(Object.entries(fields).reverse());
  const { configuration, problems: found } = readKubelet(fields, 'AL2');
  expect(found).toEqual([]);
  expect(JSON.stringify(readKubelet(reversed, 'AL2').configuration)).toBe(
    JSON.stringify(configuration),
  );
  expect(configuration.kubeReserved).toEqual({ cpu: '2', memory: '1Gi', pid: '1000' });
});

describe('settings that can be read', () => {
  const read = (fields: Readonly<Record<string, unknown>>) => {
    const { configuration, problems: found } = readKubelet(fields, 'AL2023');
    expect(found).toEqual([]);
    return configuration;
  };

  it('are none where nothing is given', () => {
    expect(read({})).toEqual({
      clusterDNS: [],
      maxPods: undefined,
      podsPerCore: undefined,
      systemReserved: {},
      kubeReserved: {},
      evictionHard: {},
      evictionSoft: {},
      evictionSoftGracePeriod: {},
      evictionMaxPodGracePeriod: undefined,
      imageGCHighThresholdPercent: undefined,
      imageGCLowThresholdPercent: undefined,
      cpuCFSQuota: undefined,
      other: {},
    });
  });

  it.each<[Readonly<Record<string, unknown>>]>([
    [{ maxPods: 0, podsPerCore: 5000, evictionMaxPodGracePeriod: 2 }],
    [{ imageGCHighThresholdPercent: 100, imageGCLowThresholdPercent: 0 }],
    [{ imageGCHighThresholdPercent: 5 }],
    [{ imageGCLowThresholdPercent: 5 }],
    [{ imageGCLowThresholdPercent: 90 }],
    [{ imageGCHighThresholdPercent: 90, imageGCLowThresholdPercent: 5 }],
    [{ systemReserved: { cpu: '100m' } }],
    [{ cpuCFSQuota: false }],
    [{ cpuCFSQuota: true }],
    [{ clusterDNS: [] }],
    [{ kubeReserved: { cpu: '0', memory: '1Gi', 'ephemeral-storage': '1Gi', pid: '5' } }],
    [
      {
        evictionHard: {
          'memory.available': '100%',
          'nodefs.available': '0%',
          'nodefs.inodesFree': '12.25%',
          'imagefs.available': '1Gi',
          'imagefs.inodesFree': '0',
          'pid.available': '5%',
        },
      },
    ],
    [
      {
        evictionSoft: { ...SOFT, 'nodefs.available': '1%', 'pid.available': '1%' },
        evictionSoftGracePeriod: {
          'memory.available': '1h2m3s',
          'nodefs.available': '0',
          'pid.available': '1.5s',
        },
      },
    ],
  ])('%j', (fields) => {
    expect(read(fields)).toMatchObject(fields);
    expect(Object.keys(read(fields).other)).toEqual([]);
    expect(problems(fields)).toEqual([]);
  });

  it.each(['1ns', '2us', '3µs', '4ms', '5s', '6m', '7h', '1.s', '10m10m'])(
    'a duration of %s',
    (text) => {
      const fields = { evictionSoft: SOFT, evictionSoftGracePeriod: { 'memory.available': text } };
      expect(read(fields).evictionSoftGracePeriod).toEqual({ 'memory.available': text });
    },
  );

  it('are numbers for texts, too', () => {
    expect(read({ kubeReserved: { cpu: 2 } }).kubeReserved).toEqual({ cpu: '2' });
  });

  it('are in the order of their names', () => {
    const { other } = read({ volumePluginDir: 'a', address: 'b', nodeStatusMaxImages: 5 });
    expect(Object.keys(other)).toEqual(['address', 'nodeStatusMaxImages', 'volumePluginDir']);
  });

  it('are not expressions, which are told, nor what else is wrong', () => {
    const fields = {
      kubeReserved: { cpu: 'vcpus * 5', memory: '1Gi' },
      maxPods: '5',
      podsPerCore: -1,
    };
    const { configuration } = readKubelet(fields, 'AL2023');
    expect(configuration.kubeReserved).toEqual({ memory: '1Gi' });
    expect(configuration.maxPods).toBeUndefined();
    expect(configuration.podsPerCore).toBeUndefined();
    const wrong = readKubelet({ clusterDNS: [1], cpuCFSQuota: 1 }, 'AL2023').configuration;
    expect(wrong).toMatchObject({ clusterDNS: [], cpuCFSQuota: undefined });
  });

  it('are one address of DNS for every family', () => {
    const fields = { clusterDNS: ['10.0.0.2'] };
    expect(readKubelet(fields, 'AL2').problems).toEqual([]);
    expect(readKubelet(fields, 'AL2').configuration.clusterDNS).toEqual(['10.0.0.2']);
  });
});
