import { ARCH } from '../../model/labels.ts';
import { GIB, gp3, type ImageFamilyTraits } from './family.ts';
import { type AliasParameters, type ImageParameter, is, minorOf } from './parameters.ts';

/** https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */
const WINDOWS_2025_MINOR_MIN = 35;

/** https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html */
function images(year: string, kubernetes: string): readonly ImageParameter[] {
  const name = `Windows_Server-${year}-English-Core-EKS_Optimized-${kubernetes}`;
  const folder = '/aws/service/ami-windows-latest';
  return [{ name: `${folder}/${name}/image_id`, requirements: [is(ARCH, 'amd64')] }];
}

function windows(year: string, windowsBuild: string): ImageFamilyTraits {
  return {
    os: 'windows',
    windowsBuild,
    alias: `windows${year}`,
    parameters: (_, kubernetes) => ({ ok: true, parameters: images(year, kubernetes) }),
    runsOn: () => true,
    reservesForInterfaces: false,
    honoursPodsPerCore: true,
    takesAnyKubeletField: false,
    interfaceLimitedPods: false,
    storageDevice: '/dev/sda1',
    storageDefault: 50 * GIB,
    defaultVolumes: [gp3('/dev/sda1', 50)],
  };
}

function parameters2025(_: string, kubernetes: string): AliasParameters {
  if (minorOf(kubernetes) >= WINDOWS_2025_MINOR_MIN) {
    return { ok: true, parameters: images('2025', kubernetes) };
  }
  const message = `Windows 2025 needs Kubernetes 1.35, the cluster has ${kubernetes}`;
  return { ok: false, message };
}

export const WINDOWS_2019 = windows('2019', '10.0.17763');
export const WINDOWS_2022 = windows('2022', '10.0.20348');
export const WINDOWS_2025: ImageFamilyTraits = {
  ...windows('2025', '10.0.26100'),
  parameters: parameters2025,
};
