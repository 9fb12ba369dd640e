import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { shortened } from '../../shared/contract.ts';
import { acknowledge } from './acknowledge.ts';
import { referenceId } from './reference.ts';

const MANAGED = [
  'AmazonEKSWorkerNodePolicy',
  'AmazonEKS_CNI_Policy',
  'AmazonEC2ContainerRegistryPullOnly',
  'AmazonSSMManagedInstanceCore',
];

/** What is left of IAM's 64 characters beside the prefix, a region's name and `-windows`. */
const CLUSTER_LENGTH_MAX = 28;

export interface NodeRoleProps {
  readonly cluster: string;
  readonly platform: 'linux' | 'windows';
}

/**
 * The role of launched nodes; its name is foreseeable, since EC2NodeClasses write it down. It
 * outlives the stack, since nodes may: only where its creation is rolled back it goes.
 */
export class NodeRole extends Construct {
  readonly role: iam.Role;

  constructor(scope: Construct, id: string, props: NodeRoleProps) {
    super(scope, id);
    const { region } = Stack.of(this);
    const suffix = props.platform === 'windows' ? '-windows' : '';
    const cluster = shortened(props.cluster, CLUSTER_LENGTH_MAX);
    this.role = new iam.Role(this, 'Role', {
      roleName: `JoinerNode-${region}-${cluster}${suffix}`,
      description: `Nodes that Joiner launches for the cluster ${props.cluster}`,
      assumedBy: new iam.ServicePrincipal('ec2.amazonaws.com'),
      managedPolicies: MANAGED.map((name) => iam.ManagedPolicy.fromAwsManagedPolicyName(name)),
    });
    this.role.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const reason =
      'EKS documents it as what a node needs and keeps it up to date; a role with narrower ' +
      'policies can be given as nodeRole.';
    const rules = MANAGED.map(
      (name) => `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${name}]`,
    );
    acknowledge(this.role, Object.fromEntries(rules.map((rule) => [rule, reason])));
  }
}

/** A role of one's own beside `nodeRole`. */
export interface FurtherRole {
  /** By the role, not by its place in the list: an order that changes replaces no entry. */
  readonly id: string;
  readonly arn: string;
}

/** Of an ARN or a construct. */
export function furtherRole(scope: Construct, role: string | iam.IRole): FurtherRole {
  const arn = typeof role === 'string' ? role : role.roleArn;
  return { id: referenceId(scope, role), arn };
}
