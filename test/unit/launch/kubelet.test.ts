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
    [{ systemReserved: { cpu: 'vcpus * 15' } }, `${DISABLED}.systemReserved.cpu ${AMOUNT}`],
  ];
  it.each(rows)('%j', (fields, expected) => {
    expect(problems(fields)).toEqual([expected]);
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
