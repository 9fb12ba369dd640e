/** What a node has to know of its cluster to join it. */
export interface ClusterFacts {
  readonly name: string;
  /** `https://…`. */
  readonly endpoint: string;
  /** Base64 of the PEM bundle. */
  readonly certificateAuthority: string;
  /** Of the services, e.g. 10.100.0.0/16. */
  readonly serviceCidr: string;
  readonly ipFamily: 'ipv4' | 'ipv6';
  /** e.g. 1.33. */
  readonly kubernetesVersion: string;
  /** Set where the cluster is registered for zonal shift: what ARC knows it by. */
  readonly zonalShiftArn?: string | undefined;
}

/**
 * The address of the cluster's DNS service: EKS gives it the tenth of the service range.
 * https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
 */
export function clusterDnsAddress({ serviceCidr }: Pick<ClusterFacts, 'serviceCidr'>): string {
  const [address = ''] = serviceCidr.split('/');
  if (address.includes(':')) return `${address.replace(/::$/, '')}::a`;
  const parts = address.split('.');
  return [...parts.slice(0, 3), '10'].join('.');
}
