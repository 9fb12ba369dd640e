import type { Cluster } from '@aws-sdk/client-eks';

/** What DescribeCluster says about who gets in, and from where. */
export interface ClusterAccess {
  /** `ACTIVE`, `UPDATING`, `CREATING`, … */
  readonly status: string;
  /** `API`, `API_AND_CONFIG_MAP` or `CONFIG_MAP`. */
  readonly authenticationMode: string;
  readonly endpoint: string;
  readonly caPem: string;
  readonly isPublic: boolean;
  /** Whom the public endpoint lets in. */
  readonly publicCidrs: readonly string[];
  readonly isPrivate: boolean;
  /** EKS runs Karpenter itself and owns its definitions. */
  readonly isAutoMode: boolean;
}

export function clusterAccess(cluster: Cluster): ClusterAccess {
  const { resourcesVpcConfig: vpc, accessConfig, computeConfig, certificateAuthority } = cluster;
  return {
    status: cluster.status ?? '',
    authenticationMode: accessConfig?.authenticationMode ?? 'CONFIG_MAP',
    endpoint: cluster.endpoint ?? '',
    caPem: Buffer.from(certificateAuthority?.data ?? '', 'base64').toString('utf8'),
    isPublic: vpc?.endpointPublicAccess ?? true,
    publicCidrs: vpc?.publicAccessCidrs ?? [],
    isPrivate: vpc?.endpointPrivateAccess ?? false,
    isAutoMode: computeConfig?.enabled ?? false,
  };
}

/** Whether functions outside of the VPC, whose addresses nobody can foresee, reach the cluster. */
export function isOpen({ isPublic, publicCidrs }: ClusterAccess): boolean {
  return isPublic && (publicCidrs.length === 0 || publicCidrs.includes('0.0.0.0/0'));
}
