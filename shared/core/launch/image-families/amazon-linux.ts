import { type ImageFamilyTraits, LINUX } from './family.ts';
import {
  type AliasParameters,
  type ImageParameter,
  minorOf,
  parameter,
  type Variant,
} from './parameters.ts';

/** AL2's last Kubernetes version is 1.32. https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html */
const AL2_MINOR_MAX = 32;

/** https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html */
function al2(version: string, kubernetes: string): readonly ImageParameter[] {
  const name = (suffix: string): string => {
    const own =
      version === 'latest' ? 'recommended' : `amazon-eks${suffix}-node-${kubernetes}-${version}`;
    return `/aws/service/eks/optimized-ami/${kubernetes}/amazon-linux-2${suffix}/${own}/image_id`;
  };
  return [
    ...parameter(name(''), 'amd64', 'standard'),
    ...parameter(name('-arm64'), 'arm64', 'standard'),
    ...parameter(name('-gpu'), 'amd64', 'nvidia', 'neuron'),
  ];
}

/** https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html */
function al2023(version: string, kubernetes: string): readonly ImageParameter[] {
  const name = (arch: string, variant: Variant): string => {
    const own =
      version === 'latest'
        ? 'recommended'
        : `amazon-eks-node-al2023-${arch}-${variant}-${kubernetes}-${version}`;
    const folder = `/aws/service/eks/optimized-ami/${kubernetes}/amazon-linux-2023`;
    return `${folder}/${arch}/${variant}/${own}/image_id`;
  };
  return [
    ...parameter(name('x86_64', 'standard'), 'amd64', 'standard'),
    ...parameter(name('arm64', 'standard'), 'arm64', 'standard'),
    ...parameter(name('x86_64', 'nvidia'), 'amd64', 'nvidia'),
    ...parameter(name('arm64', 'nvidia'), 'arm64', 'nvidia'),
    ...parameter(name('x86_64', 'neuron'), 'amd64', 'neuron'),
  ];
}

function al2Parameters(version: string, kubernetes: string): AliasParameters {
  if (minorOf(kubernetes) <= AL2_MINOR_MAX)
    return { ok: true, parameters: al2(version, kubernetes) };
  return {
    ok: false,
    message: `AL2 images end with Kubernetes 1.32, the cluster has ${kubernetes}`,
  };
}

export const AL2: ImageFamilyTraits = { ...LINUX, alias: 'al2', parameters: al2Parameters };

export const AL2023: ImageFamilyTraits = {
  ...LINUX,
  alias: 'al2023',
  parameters: (version, kubernetes) => ({ ok: true, parameters: al2023(version, kubernetes) }),
  // Amazon Linux 2023 needs a newer Arm core than the first Graviton has:
  // https://docs.aws.amazon.com/linux/al2023/ug/system-requirements.html
  runsOn: (instanceType) => !instanceType.startsWith('a1.'),
  takesAnyKubeletField: true,
};
