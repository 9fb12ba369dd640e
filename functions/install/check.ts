import { type ClusterAccess, isOpen } from '../../shared/aws/cluster-access.ts';

export interface Asked {
  readonly cluster: string;
  readonly region: string;
  readonly endpoint: string;
}

/** Clusters that are being updated answer as well. */
const USABLE: ReadonlySet<string> = new Set(['ACTIVE', 'UPDATING']);

/** Why nothing can be installed, with what changes it; undefined: everything can. */
export function clusterFault(asked: Asked, facts: ClusterAccess | undefined): string | undefined {
  const { cluster, region } = asked;
  if (facts === undefined) {
    return (
      `there is no EKS cluster "${cluster}" in ${region} in this account: check -c cluster= ` +
      'and -c region=, and the credentials that deploy'
    );
  }
  if (!USABLE.has(facts.status)) {
    return `the cluster ${cluster} is ${facts.status}: wait until it is ACTIVE and deploy again`;
  }
  if (facts.authenticationMode === 'CONFIG_MAP') {
    return (
      `the cluster ${cluster} has the authentication mode CONFIG_MAP, which knows no access ` +
      `entries. Change it (aws-auth goes on working) with: aws eks update-cluster-config ` +
      `--name ${cluster} --region ${region} ` +
      '--access-config authenticationMode=API_AND_CONFIG_MAP'
    );
  }
  if (asked.endpoint === 'public' && !facts.isPublic) {
    return (
      `the endpoint of the cluster ${cluster} is private: deploy with -c endpoint=private ` +
      '-c subnets=… -c securityGroups=…'
    );
  }
  if (asked.endpoint === 'public' && !isOpen(facts)) {
    return (
      `the public endpoint of the cluster ${cluster} is only for ${facts.publicCidrs.join(', ')}, ` +
      'and functions outside of the VPC have no foreseeable addresses: deploy with ' +
      '-c endpoint=private -c subnets=… -c securityGroups=…, or open it with: aws eks ' +
      `update-cluster-config --name ${cluster} --region ${region} ` +
      '--resources-vpc-config endpointPublicAccess=true,publicAccessCidrs=0.0.0.0/0'
    );
  }
  if (asked.endpoint === 'private' && !facts.isPrivate) {
    return (
      `the cluster ${cluster} has no private endpoint: deploy with -c endpoint=public, or turn ` +
      `the private endpoint on with: aws eks update-cluster-config --name ${cluster} ` +
      `--region ${region} --resources-vpc-config endpointPrivateAccess=true`
    );
  }
  return undefined;
}
