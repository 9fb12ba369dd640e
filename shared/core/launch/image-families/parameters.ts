import { ARCH, INSTANCE_LABELS } from '../../model/labels.ts';
import type { RequirementExpression } from '../../model/requirement.ts';

/** A public parameter that holds an image id, and the instance types that the image is for. */
export interface ImageParameter {
  readonly name: string;
  readonly requirements: readonly RequirementExpression[];
}

export type AliasParameters =
  | { readonly ok: true; readonly parameters: readonly ImageParameter[] }
  /** Why EKS has no such images. */
  | { readonly ok: false; readonly message: string };

export type Arch = 'amd64' | 'arm64';
export type Variant = 'standard' | 'nvidia' | 'neuron';

/** A requirement of one value. */
export function is(key: string, value: string): RequirementExpression {
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
/** The parameter for instance types of the architecture that are of one of the variants. */
export function parameter(
  name: string,
  arch: Arch,
  ...variants: readonly Variant[]
): ImageParameter[] {
  return variants.map((variant) => ({ name, requirements: [is(ARCH, arch), ...VARIANT[variant]] }));
}

/** Minor version of `1.33`. */
export function minorOf(kubernetes: string): number {
  return Number(kubernetes.split('.')[1] ?? 0);
}
