import { gp3, type ImageFamilyTraits, LINUX } from './family.ts';
import { type ImageParameter, parameter } from './parameters.ts';

/** https://bottlerocket.dev/en/os/latest/#/install/quickstart/aws/ (image parameters) */
function bottlerocket(version: string, kubernetes: string): readonly ImageParameter[] {
  const own = version.replace(/^v/, '');
  const name = (arch: string, suffix: string): string =>
    `/aws/service/bottlerocket/aws-k8s-${kubernetes}${suffix}/${arch}/${own}/image_id`;
  return [
    ...parameter(name('x86_64', ''), 'amd64', 'standard', 'neuron'),
    ...parameter(name('arm64', ''), 'arm64', 'standard'),
    ...parameter(name('x86_64', '-nvidia'), 'amd64', 'nvidia'),
    ...parameter(name('arm64', '-nvidia'), 'arm64', 'nvidia'),
  ];
}

export const BOTTLEROCKET: ImageFamilyTraits = {
  ...LINUX,
  alias: 'bottlerocket',
  parameters: (version, kubernetes) => ({
    ok: true,
    parameters: bottlerocket(version, kubernetes),
  }),
  reservesForInterfaces: false,
  honoursPodsPerCore: false,
  storageDevice: '/dev/xvdb',
  defaultVolumes: [gp3('/dev/xvda', 6), gp3('/dev/xvdb', 20)],
};
