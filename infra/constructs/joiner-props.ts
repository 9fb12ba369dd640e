import type { Duration } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { IConstruct } from 'constructs';
import type { FeatureGate, FunctionName } from '../../shared/contract.ts';

/** A cluster construct of CDK, of `aws-eks` or `aws-eks-v2`, as far as Joiner looks at it. */
export interface JoinerCluster extends IConstruct {
  readonly clusterName: string;
  readonly clusterSecurityGroupId: string;
}

/**
 * What can be said about {@link Joiner}; only the cluster has to be. A setting that functions read
 * also has its line in `shared/contract/settings.ts`.
 */
export interface JoinerProps {
  /**
   * The EKS cluster: its name, or the construct. A cluster that is made in the same app needs an
   * explicit `clusterName`, since the name is part of the permissions' condition keys.
   */
  readonly cluster: string | JoinerCluster;
  /**
   * The cluster's region; the stack has to be in it.
   * @default the stack's
   */
  readonly region?: string;
  /**
   * `watch` holds a watch on the cluster and reacts within a second; `tick` looks every minute and
   * saves about $9 a month.
   * @default 'watch'
   */
  readonly reaction?: 'watch' | 'tick';
  /**
   * Memory in MB by function; CPU comes with it.
   * @default watch 256, provision 1769, lifecycle 1024, interrupt 512, nodeclass 512,
   * catalog 512, install 256
   */
  readonly memorySizes?: Readonly<Partial<Record<FunctionName, number>>>;
  /**
   * How the functions reach the cluster's API: `private` puts all but `catalog` into `subnets`.
   * @default 'public'
   */
  readonly endpoint?: 'public' | 'private';
  /**
   * Subnets of the functions, with a way to AWS's APIs: NAT or endpoints (docs/private-clusters.md).
   * @default - none; required with a private endpoint
   */
  readonly subnets?: readonly (string | ec2.ISubnet)[];
  /**
   * Security groups of the functions. The cluster's own lets its members in.
   * @default - none; required with a private endpoint
   */
  readonly securityGroups?: readonly (string | ec2.ISecurityGroup)[];
  /**
   * The cluster's security group: the stack adds a rule that lets `securityGroups` in on port 443.
   * @default - that of a cluster construct made in the app, else no rule is added
   */
  readonly clusterSecurityGroup?: string | ec2.ISecurityGroup;
  /**
   * There is no way to IAM from the subnets: every EC2NodeClass has to name its `instanceProfile`.
   * @default false
   */
  readonly isolatedVpc?: boolean;
  /**
   * Feature gates by Karpenter's names.
   * @default ReservedCapacity, NodeOverlay, StaticCapacity, CapacityBuffer and PodNomination on,
   *   others off
   */
  readonly featureGates?: Readonly<Partial<Record<FeatureGate, boolean>>>;
  /**
   * A batch of pods is complete when none was added for so long.
   * @default Duration.millis(300)
   */
  readonly batchIdleDuration?: Duration;
  /**
   * A batch of pods waits no longer than this.
   * @default Duration.seconds(3)
   */
  readonly batchMaxDuration?: Duration;
  /** @default 'Respect' */
  readonly preferencePolicy?: 'Respect' | 'Ignore';
  /** @default 'Strict' */
  readonly minValuesPolicy?: 'Strict' | 'BestEffort';
  /**
   * Share of a plan's cost that meeting preferences for zones and capacity types may add.
   * @default 0.1
   */
  readonly preferenceWorthZone?: number;
  /**
   * Share of a plan's cost that meeting all other preferences may add.
   * @default 0.02
   */
  readonly preferenceWorthOther?: number;
  /**
   * USD an hour that a node counts as beyond its instance: its root volume, addresses, images,
   * agents that are paid by the host. Of plans whose prices differ by less the one with fewer nodes
   * is taken. It is never reported as cost.
   * @default 0.003, in China 0.021 (yuan)
   */
  readonly nodePrice?: number;
  /**
   * Pods of badly used nodes are moved where that has paid for itself within this time: for the
   * evictions at `evictionPrice`, and for new nodes beside the old ones. 0 moves none.
   * @default Duration.hours(4)
   */
  readonly consolidationHorizon?: Duration;
  /**
   * USD that the eviction of an ordinary pod counts as when nodes are consolidated; more by its
   * deletion cost and priority.
   * @default 0.02, in China 0.14 (yuan)
   */
  readonly evictionPrice?: number;
  /**
   * Share of an instance's memory that the hypervisor takes, until it has been seen.
   * @default 0.075
   */
  readonly vmMemoryOverhead?: number;
  /**
   * Network interfaces of each node that are not for pods.
   * @default 0
   */
  readonly reservedEnis?: number;
  /**
   * Launches a minute in the cluster.
   * @default 200
   */
  readonly maxLaunchesPerMinute?: number;
  /**
   * Terminations a minute in the cluster, interruptions excepted.
   * @default 50
   */
  readonly maxTerminationsPerMinute?: number;
  /** @default 'INFO' */
  readonly logLevel?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  /**
   * Days that logs are kept; one of the numbers that CloudWatch knows.
   * @default 30
   */
  readonly logRetentionDays?: number;
  /**
   * Days that decision records and snapshots are kept.
   * @default 30
   */
  readonly dataRetentionDays?: number;
  /**
   * A bucket that several clusters share, by name or construct. Stacks see only their own folder
   * and the shared one.
   * @default - a new bucket, which goes with the stack
   */
  readonly bucket?: string | s3.IBucket;
  /**
   * Key of the bucket, by ARN or construct; of a shared bucket the key that it is encrypted with.
   * @default - S3's own keys
   */
  readonly encryptionKey?: string | kms.IKey;
  /**
   * Key of the queue of interruptions and of its dead letters, by ARN or construct. The policy of a
   * key that is given by ARN has to let EventBridge use it, or spot warnings are lost.
   * @default - SQS's own keys
   */
  readonly queueEncryptionKey?: string | kms.IKey;
  /**
   * Key of the functions' log groups, by ARN or construct. The policy of a key that is given by ARN
   * has to let CloudWatch Logs use it, or the stack cannot be made.
   * @default - CloudWatch's own keys
   */
  readonly logEncryptionKey?: string | kms.IKey;
  /**
   * Key of the bus of wake-ups, by ARN or construct. The policy of a key that is given by ARN has
   * to let EventBridge use it, or functions wait for their schedules.
   * @default - EventBridge's own keys
   */
  readonly busEncryptionKey?: string | kms.IKey;
  /**
   * Whether there are alarms, about $0.90 a month.
   * @default true
   */
  readonly alarms?: boolean;
  /**
   * Whom the alarms tell, by ARN or construct.
   * @default - nobody
   */
  readonly alarmTopic?: string | sns.ITopic;
  /**
   * Whether there is a dashboard, $3 a month beyond the account's first three.
   * @default true
   */
  readonly dashboard?: boolean;
  /**
   * Boundary of every role that the stack makes, by ARN or construct.
   * @default - none
   */
  readonly permissionsBoundary?: string | iam.IManagedPolicy;
  /**
   * A role for nodes that exists, by ARN or construct; EC2NodeClasses name it in `spec.role`.
   * @default - a new role, JoinerNode-<region>-<cluster>
   */
  readonly nodeRole?: string | iam.IRole;
  /**
   * Whether the stack makes the access entries of `nodeRole` and `nodeRoles`. EKS has made one already where the role
   * is that of a managed node group.
   * @default true for a new role and for `nodeRoles`, false for a `nodeRole` that exists
   */
  readonly nodeRoleEntry?: boolean;
  /**
   * Further roles that EC2NodeClasses may name in `spec.role`, by ARN or construct: one for each
   * team or level of trust. Each may be passed to instances, and gets an access entry unless
   * `nodeRoleEntry` is false.
   * @default - none
   */
  readonly nodeRoles?: readonly (string | iam.IRole)[];
  /**
   * SSM parameters of one's own that `amiSelectorTerms[].ssmParameter` may name: names or ARNs; a
   * `*` at the end stands for anything.
   * @default - only AWS's public ones
   */
  readonly imageParameters?: readonly string[];
  /**
   * The stack may be destroyed, and a node role be taken out of it, while nodes are there. They go
   * on, since their role and its access entry stay, but nobody drains or ends them.
   * @default false
   */
  readonly leaveNodes?: boolean;
  /**
   * A second role and entry for Windows nodes, JoinerNode-<region>-<cluster>-windows.
   * @default false
   */
  readonly windowsNodes?: boolean;
  /**
   * Concurrency kept for single functions. Not needed: Leases see to it that one writes at a time.
   * @default - none
   */
  readonly reservedConcurrency?: Readonly<Partial<Record<FunctionName, number>>>;
  /**
   * Whether the installer is the cluster's admin while a deployment lasts that changes definitions
   * or rights; it gives that back at the end. Without it somebody else has to apply `infra/crds`,
   * `infra/rbac` and `infra/flow-control` before.
   * @default true
   */
  readonly installerAccess?: boolean;
  /**
   * Whether the installer applies the CRDs. Without it they are kept by other means, such as a
   * release's Helm chart or GitOps: the deployment fails where one is missing or lacks a field.
   * @default true
   */
  readonly installCrds?: boolean;
  /**
   * Where the code of a function comes from.
   * @default - that of the npm package; in a checkout bundled from `functions/<name>/handler.ts`
   */
  readonly code?: (name: FunctionName) => lambda.Code;
}
