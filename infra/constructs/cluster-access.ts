import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as eks from 'aws-cdk-lib/aws-eks';
import type * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { KUBERNETES_GROUP } from '../../shared/contract.ts';

/** How a role is known to the cluster: EKS's access entries, no aws-auth. */
export class ClusterAccess extends Construct {
  readonly entries: eks.CfnAccessEntry[] = [];
  readonly #cluster: string;

  constructor(scope: Construct, id: string, props: { readonly cluster: string }) {
    super(scope, id);
    this.#cluster = props.cluster;
  }

  /** Into the group whose rights `infra/rbac` lists; no access policy of EKS is as narrow. */
  admitFunction(id: string, role: iam.IRole): eks.CfnAccessEntry {
    return this.#entry(id, { principalArn: role.roleArn, kubernetesGroups: [KUBERNETES_GROUP] });
  }

  /** The cluster's admin: whoever writes RBAC has to hold every right that it gives. */
  admitInstaller(id: string, role: iam.IRole): eks.CfnAccessEntry {
    const { partition } = Stack.of(this);
    const policy = 'AmazonEKSClusterAdminPolicy';
    return this.#entry(id, {
      principalArn: role.roleArn,
      accessPolicies: [
        {
          accessScope: { type: 'cluster' },
          policyArn: `arn:${partition}:eks::aws:cluster-access-policy/${policy}`,
        },
      ],
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
