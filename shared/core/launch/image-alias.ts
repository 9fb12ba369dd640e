import { ARCH, INSTANCE_LABELS } from '../model/labels.ts';
import type { RequirementExpression } from '../model/requirement.ts';

/** A public parameter that holds an image id, and the instance types that the image is for. */
export interface ImageParameter {
  readonly name: string;
  readonly requirements: readonly RequirementExpression[];
}

export type AliasParameters =
  | { readonly ok: true; readonly parameters: readonly ImageParameter[] }
  /** Why EKS has no such images. */
  | { readonly ok: false; readonly message: string };

type Arch = 'amd64' | 'arm64';
type Variant = 'standard' | 'nvidia' | 'neuron';

function is(key: string, value: string): RequirementExpression {
  return { key, operator: 'In', values: [value] };
}

function exists(key: string): RequirementExpression {
  return { key, operator: 'Exists', values: [] };
}

function absent(key: string): RequirementExpression {
  return { key, operator: 'DoesNotExist', values: [] };
}

const GPU = INSTANCE_LABELS.gpuCount;
const ACCELERATOR = INSTANCE_LABELS.acceleratorCount;

const VARIANT: Readonly<Record<Variant, readonly RequirementExpression[]>> = {
  standard: [absent(GPU), absent(ACCELERATOR)],
  nvidia: [exists(GPU)],
  neuron: [exists(ACCELERATOR)],
};

function parameter(name: string, arch: Arch, ...variants: readonly Variant[]): ImageParameter[] {
  return variants.map((variant) => ({ name, requirements: [is(ARCH, arch), ...VARIANT[variant]] }));
}

/** Minor version of `1.33`. */
function minorOf(kubernetes: string): number {
  return Number(kubernetes.split('.')[1] ?? 0);
}

/** AL2's last Kubernetes version is 1.32. https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html */
const AL2_MINOR_MAX = 32;
/** https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */
const WINDOWS_2025_MINOR_MIN = 35;

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

/** https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html */
function windows(year: string, kubernetes: string): readonly ImageParameter[] {
  const name = `Windows_Server-${year}-English-Core-EKS_Optimized-${kubernetes}`;
  const folder = '/aws/service/ami-windows-latest';
  return [{ name: `${folder}/${name}/image_id`, requirements: [is(ARCH, 'amd64')] }];
}

/** Where the ids of an alias's images stand; `kubernetes` is the cluster's version, e.g. 1.33. */
export function aliasParameters(alias: string, kubernetes: string): AliasParameters {
  const [family = '', version = ''] = alias.split('@');
  const minor = minorOf(kubernetes);
  switch (family) {
    case 'al2':
      return minor > AL2_MINOR_MAX
        ? {
            ok: false,
            message: `AL2 images end with Kubernetes 1.32, the cluster has ${kubernetes}`,
          }
        : { ok: true, parameters: al2(version, kubernetes) };
    case 'al2023':
      return { ok: true, parameters: al2023(version, kubernetes) };
    case 'bottlerocket':
      return { ok: true, parameters: bottlerocket(version, kubernetes) };
    case 'windows2025':
      return minor < WINDOWS_2025_MINOR_MIN
        ? {
            ok: false,
            message: `Windows 2025 needs Kubernetes 1.35, the cluster has ${kubernetes}`,
          }
        : { ok: true, parameters: windows('2025', kubernetes) };
    case 'windows2019':
    case 'windows2022':
      return { ok: true, parameters: windows(family.slice('windows'.length), kubernetes) };
    default:
      return { ok: false, message: `"${alias}" is not an alias of images` };
  }
}
