import {
  DescribeAccessEntryCommand,
  type EKSClient,
  ListAssociatedAccessPoliciesCommand,
} from '@aws-sdk/client-eks';
import { type AwsAccess, eksClient } from '../../shared/aws/access.ts';
import { allPages } from '../../shared/aws/calls.ts';
import { CLUSTER_FUNCTIONS } from '../../shared/contract.ts';
import type { DeployedFunction, Identity } from './facts.ts';

/** Who the deployed functions are in the cluster, by the access entries of their roles. */
export async function identitiesOf(
  access: AwsAccess,
  cluster: string,
  functions: readonly DeployedFunction[],
): Promise<readonly Identity[]> {
  const eks = eksClient(access);
  const speaking = functions.filter(({ name }) => CLUSTER_FUNCTIONS.some((each) => each === name));
  return await Promise.all(speaking.map((each) => identityOf(eks, cluster, each)));
}

async function identityOf(
  eks: EKSClient,
  clusterName: string,
  { name, roleArn: principalArn }: DeployedFunction,
): Promise<Identity> {
  try {
    const asked = { clusterName, principalArn };
    const { accessEntry } = await eks.send(new DescribeAccessEntryCommand(asked));
    const policies = await allPages(async (nextToken) => {
      const page = await eks.send(new ListAssociatedAccessPoliciesCommand({ ...asked, nextToken }));
      return { items: page.associatedAccessPolicies, next: page.nextToken };
    });
    return {
      name,
      principalArn,
      groups: accessEntry?.kubernetesGroups ?? [],
      policyArns: policies.map(({ policyArn = '' }) => policyArn),
    };
  } catch (error) {
    const isAbsent = error instanceof Error && error.name === 'ResourceNotFoundException';
    if (!isAbsent) throw error;
    return { name, principalArn, groups: [], policyArns: [] };
  }
}
