import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as eks from 'aws-cdk-lib/aws-eks';
import type * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type FunctionName, kubernetesGroup } from '../../shared/contract.ts';

/** EKS's own policy: all rights in the cluster. */
export function clusterAdminPolicy(scope: Construct): string {
  const { partition } = Stack.of(scope);
  return `arn:${partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`;
}

/** How a role is known to the cluster: EKS's access entries, no aws-auth. */
export class ClusterAccess extends Construct {
  readonly entries: eks.CfnAccessEntry[] = [];
  readonly #cluster: string;

  constructor(scope: Construct, id: string, props: { readonly cluster: string }) {
    super(scope, id);
    this.#cluster = props.cluster;
  }

  /** Into a group of its own, whose rights `infra/rbac` lists; no policy of EKS is as narrow. */
  admitFunction(name: FunctionName, role: iam.IRole): eks.CfnAccessEntry {
    return this.#entry(name, {
      principalArn: role.roleArn,
      kubernetesGroups: [kubernetesGroup(name)],
    });
  }

  /**
   * With a policy for as long as a deployment lasts: the installer gives it back, and its next role
   * gets it anew, from CloudFormation. Whoever writes RBAC has to hold every right that it gives.
   */
  admitInstaller(id: string, role: iam.IRole, policyArn: string | undefined): eks.CfnAccessEntry {
    return this.#entry(id, {
      principalArn: role.roleArn,
      kubernetesGroups: [kubernetesGroup('install')],
      ...(policyArn === undefined
        ? {}
        : { accessPolicies: [{ accessScope: { type: 'cluster' }, policyArn }] }),
    });
  }

  /** Outlives the stack: without its entry a kubelet gets 401, and its pods are evicted. */
  admitNodes(id: string, roleArn: string, type: 'EC2_LINUX' | 'EC2_WINDOWS'): eks.CfnAccessEntry {
    const entry = this.#entry(id, { principalArn: roleArn, type });
    entry.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    return entry;
  }

  #entry(id: string, props: Omit<eks.CfnAccessEntryProps, 'clusterName'>): eks.CfnAccessEntry {
    const entry = new eks.CfnAccessEntry(this, id, { clusterName: this.#cluster, ...props });
    this.entries.push(entry);
    return entry;
  }
}
