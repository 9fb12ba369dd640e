import type { Json } from '../../shared/sim/json.ts';
import type { Note } from './part.ts';

/** Which images a class takes, in the words of v1. */
export interface Images {
  readonly fields: Json;
  /** Volumes that the family brought where a class names none. */
  readonly devices?: readonly Json[];
  readonly notes: readonly Note[];
}

/** Canonical's parameters for each architecture, as Karpenter v0.37 asked for them. */
function ubuntuTerms(): readonly Json[] {
  const at = '/aws/service/canonical/ubuntu/eks/20.04';
  return ['amd64', 'arm64'].map((arch) => ({
    ssmParameter: `${at}/\${KUBERNETES_VERSION}/stable/current/${arch}/hvm/ebs-gp2/ami-id`,
  }));
}

/**
 * v1 has no family Ubuntu; Ubuntu starts as AL2 does, from a root volume of its own name. Karpenter's
 * v1 migration guide, "Ubuntu AMIFamily Removed".
 */
function ubuntu(field: string, terms: readonly Json[], selects: string): Images {
  const volume = { encrypted: true, volumeSize: '20Gi', volumeType: 'gp3' };
  const devices = [{ deviceName: '/dev/sda1', rootVolume: true, ebs: volume }];
  const told = '"Ubuntu": v1 has no such family; AL2, which starts nodes the same way, is written';
  const fields = { amiFamily: 'AL2', amiSelectorTerms: terms };
  const note = { field, message: `${told}, with the root volume of Ubuntu where none is named` };
  if (terms.length > 0) return { fields, devices, notes: [note] };
  const message = `not given: v1 has no alias for Ubuntu; parameters of Ubuntu 20.04 are written: put the cluster's version in place of \${KUBERNETES_VERSION}, or name newer images`;
  return {
    fields: { ...fields, amiSelectorTerms: ubuntuTerms() },
    devices,
    notes: [note, { field: selects, message }],
  };
}

/**
 * The images of a family, of a release or the latest, or those that the terms select; `selects` is
 * the field of the terms.
 */
export function images(
  family: string,
  terms: readonly Json[],
  field: string,
  selects: string,
  release = 'latest',
): Images {
  if (family === 'Ubuntu') return ubuntu(field, terms, selects);
  if (family === 'Custom' || terms.length > 0) {
    return { fields: { amiFamily: family, amiSelectorTerms: terms }, notes: [] };
  }
  const alias = `${family.toLowerCase()}@${release}`;
  const fields = { amiSelectorTerms: [{ alias }] };
  if (family !== 'AL2') return { fields, notes: [] };
  const message = `${alias}: EKS has no images of AL2 from Kubernetes 1.33 on; al2023@latest has them, and takes its userData in another form`;
  return { fields, notes: [{ field, message }] };
}
