import type { Duration } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { IConstruct } from 'constructs';
import type { DECISION_EVENTS, FeatureGate, FunctionName } from '../../shared/contract.ts';

/** A cluster construct of CDK, of `aws-eks` or `aws-eks-v2`, as far as Joiner looks at it. */
export interface JoinerCluster extends IConstruct {
  readonly clusterName: string;
  readonly clusterSecurityGroupId: string;
}

/** Where metrics go beside CloudWatch. */
export interface MetricsProps {
  /**
   * Writes Karpenter's metrics to Prometheus, with a function of its own.
   * @default - nothing is written
   */
  readonly remoteWrite?: RemoteWriteProps;
}

/** An endpoint that takes remote write. */
export interface RemoteWriteProps {
  /**
   * The address of remote write, with `https://`, or `http://` without `secret`. Requests to a
   * workspace of Amazon Managed Prometheus in the stack's account are signed (SigV4):
   * `https://aps-workspaces.REGION.amazonaws.com/workspaces/ID/api/v1/remote_write`.
   */
  readonly endpoint: string;
  /**
   * The ARN of a secret in Secrets Manager or of a parameter in SSM, in the stack's region. It
   * contains a bearer token, `{"token": …}`, or `{"username": …, "password": …}`.
   * @default - SigV4 for Amazon Managed Prometheus, no credentials for other endpoints
   */
  readonly secret?: string;
  /**
   * Whether there are series for each pod: Karpenter's dashboards use them.
   * @default true
   */
  readonly perPod?: boolean;
}

/**
 * The props of {@link Joiner}; only `cluster` is required. A setting that functions read also has
 * its line in `shared/contract/settings.ts`.
 */
export interface JoinerProps {
  /**
   * The EKS cluster: its name, or the construct. A cluster of the same app needs an explicit
   * `clusterName`, because the name is part of condition keys in IAM policies.
   */
  readonly cluster: string | JoinerCluster;
  /**
   * The cluster's region. The stack must be in this region.
   * @default the stack's
   */
  readonly region?: string;
  /**
   * Decides beside Karpenter and never acts (docs/migrate/karpenter.md). The stack has `catalog`,
   * `install` and the function `shadow`, which once a minute records in the bucket what it would do.
   * `joiner shadow report` shows it beside what Karpenter did. Without `shadow`, the next deployment
   * adds everything else and keeps the bucket.
   * @default false
   */
  readonly shadow?: boolean;
  /**
   * `watch` holds a Kubernetes watch and reacts within a second. `tick` polls every minute and
   * saves about $9 a month.
   * @default 'watch'
   */
  readonly reaction?: 'watch' | 'tick';
  /**
   * Memory in MB by function. Lambda assigns CPU in proportion.
   * @default watch 256, provision 1769, lifecycle 1024, disrupt 1769, interrupt 512,
   * nodeclass 512, catalog 512, events 256, metrics 512, shadow 1769, install 256
   */
  readonly memorySizes?: Readonly<Partial<Record<FunctionName, number>>>;
  /**
   * How the functions reach the cluster's API. `private` runs all functions except `catalog` in
   * `subnets`.
   * @default 'public'
   */
  readonly endpoint?: 'public' | 'private';
  /**
   * Subnets of the functions, with a route to AWS APIs by NAT or endpoints
   * (docs/private-clusters.md).
   * @default - none; required with a private endpoint
   */
  readonly subnets?: readonly (string | ec2.ISubnet)[];
  /**
   * Security groups of the functions. The cluster security group admits its own members.
   * @default - none; required with a private endpoint
   */
  readonly securityGroups?: readonly (string | ec2.ISecurityGroup)[];
  /**
   * The cluster security group. The stack adds a rule to it that admits `securityGroups` on port
   * 443.
   * @default - the group of a cluster construct of the same app; otherwise no rule is added
   */
  readonly clusterSecurityGroup?: string | ec2.ISecurityGroup;
  /**
   * The subnets have no route to IAM: every EC2NodeClass must set `instanceProfile`.
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
   * A batch of pending pods is complete when no pod was added for this time.
   * @default Duration.millis(300)
   */
  readonly batchIdleDuration?: Duration;
  /**
   * The maximum time that a batch of pending pods is collected.
   * @default Duration.seconds(3)
   */
  readonly batchMaxDuration?: Duration;
  /**
   * `Ignore` plans without preferences of pods (preferred affinity, `ScheduleAnyway`).
   * @default 'Respect'
   */
  readonly preferencePolicy?: 'Respect' | 'Ignore';
  /**
   * `BestEffort` launches a NodeClaim with fewer values than `minValues` if no more are possible.
   * @default 'Strict'
   */
  readonly minValuesPolicy?: 'Strict' | 'BestEffort';
  /**
   * The share of a plan's cost that preferences for zones and capacity types may add.
   * @default 0.1
   */
  readonly preferenceWorthZone?: number;
  /**
   * The share of a plan's cost that all other preferences may add.
   * @default 0.02
   */
  readonly preferenceWorthOther?: number;
  /**
   * USD per hour added to each node's price in planning, for example for its root volume, public
   * addresses, or agents licensed per host. If two plans differ by less, Joiner chooses the plan
   * with fewer nodes. The amount is not part of any reported cost.
   * @default 0.003, in China 0.021 (yuan)
   */
  readonly nodePrice?: number;
  /**
   * How many steps go into cheaper plans. `quick` packs only. `normal` also searches longer the more
   * a plan costs. `thorough` takes the better of the normal plan and of one with several times the
   * steps.
   * @default 'normal'
   */
  readonly effort?: 'quick' | 'normal' | 'thorough';
  /**
   * A consolidation must save its cost within this time. The cost is `evictionPrice` for each
   * eviction, and the price of new nodes while the old ones still run. 0 turns consolidation of
   * underutilized nodes off.
   * @default Duration.hours(4)
   */
  readonly consolidationHorizon?: Duration;
  /**
   * USD per eviction of a pod in consolidation. A higher deletion cost or priority of the pod
   * increases the amount, at most to twice as much.
   * @default 0.02, in China 0.14 (yuan)
   */
  readonly evictionPrice?: number;
  /**
   * Caps on nodes, cpu, memory and price an hour of the NodePools of a group together. A NodePool
   * names its group in the annotation `joiner.dev/limit-group`; every NodePool belongs to the group
   * `all`. Entries end with `;`. An entry with `from CRON for DURATION` (UTC) holds at these times
   * only; of entries that hold at once the lowest cap of each resource counts. A group with `shared`
   * after its caps counts the nodes of all clusters that share `bucket` and have it. For example
   * `batch nodes=20 cpu=400 memory=1Ti price=12.5 shared; batch nodes=5 from 0 18 * * 1-5 for 14h`.
   * @default 'none'
   */
  readonly limitGroups?: string;
  /**
   * The estimated share of an instance's memory that the hypervisor uses. The allocatable memory of
   * registered nodes of the same instance type replaces the estimate.
   * @default 0.075
   */
  readonly vmMemoryOverhead?: number;
  /**
   * The number of network interfaces of each node that pods cannot use.
   * @default 0
   */
  readonly reservedEnis?: number;
  /**
   * The maximum number of launches per minute in the cluster.
   * @default 200
   */
  readonly maxLaunchesPerMinute?: number;
  /**
   * The maximum number of terminations per minute in the cluster. Interrupted nodes are exempt.
   * @default 50
   */
  readonly maxTerminationsPerMinute?: number;
  /**
   * The lowest level of messages in the functions' logs.
   * @default 'INFO'
   */
  readonly logLevel?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  /**
   * Days that logs are kept: one of the values that CloudWatch allows.
   * @default 30
   */
  readonly logRetentionDays?: number;
  /**
   * Days that decision records, recordings and observations are kept.
   * @default 30
   */
  readonly dataRetentionDays?: number;
  /**
   * Publishes decisions on the account's default event bus, with the source `joiner.decisions`
   * (docs/tasks/decision-events.md). `changes`: decisions that change something. `all`: also those
   * that change nothing. An existing `bucket` must send its notifications to EventBridge.
   * @default - no events
   */
  readonly decisionEvents?: (typeof DECISION_EVENTS)[number];
  /**
   * Where metrics go beside CloudWatch. `remoteWrite` writes Karpenter's metrics to Prometheus
   * (docs/tasks/prometheus.md).
   * @default - CloudWatch only
   */
  readonly metrics?: MetricsProps;
  /**
   * An existing bucket, by name or construct. Several clusters can share it: each stack can access
   * only its own folder and the shared one.
   * @default - a new bucket, which is deleted with the stack
   */
  readonly bucket?: string | s3.IBucket;
  /**
   * The KMS key of the bucket, by ARN or construct. For an existing bucket: the key that encrypts
   * it.
   * @default - S3's own keys
   */
  readonly encryptionKey?: string | kms.IKey;
  /**
   * The KMS key of the interruption queue and its dead-letter queue, by ARN or construct. If the
   * key is given by ARN, its policy must allow EventBridge to use it. Otherwise spot warnings are
   * lost.
   * @default - SQS's own keys
   */
  readonly queueEncryptionKey?: string | kms.IKey;
  /**
   * The KMS key of the functions' log groups, by ARN or construct. If the key is given by ARN, its
   * policy must allow CloudWatch Logs to use it. Otherwise the stack's creation fails.
   * @default - CloudWatch's own keys
   */
  readonly logEncryptionKey?: string | kms.IKey;
  /**
   * The KMS key of the event bus for wake-ups, by ARN or construct. If the key is given by ARN, its
   * policy must allow EventBridge to use it. Otherwise functions run only on their schedules.
   * @default - EventBridge's own keys
   */
  readonly busEncryptionKey?: string | kms.IKey;
  /**
   * Whether the stack has CloudWatch alarms (about $3.20 a month).
   * @default true
   */
  readonly alarms?: boolean;
  /**
   * The SNS topic that the alarms notify, by ARN or construct.
   * @default - none
   */
  readonly alarmTopic?: string | sns.ITopic;
  /**
   * Whether the stack has a dashboard. It costs $3 a month after the account's first three.
   * @default true
   */
  readonly dashboard?: boolean;
  /**
   * The permissions boundary of every role in the stack, by ARN or construct.
   * @default - none
   */
  readonly permissionsBoundary?: string | iam.IManagedPolicy;
  /**
   * An existing role for nodes, by ARN or construct. EC2NodeClasses name it in `spec.role`.
   * @default - a new role, JoinerNode-<region>-<cluster>
   */
  readonly nodeRole?: string | iam.IRole;
  /**
   * Whether the stack creates the access entries of `nodeRole` and `nodeRoles`. If a managed node
   * group uses the role, EKS has already created its access entry.
   * @default true for a new role and for `nodeRoles`, false for an existing `nodeRole`
   */
  readonly nodeRoleEntry?: boolean;
  /**
   * Further roles that EC2NodeClasses may name in `spec.role`, by ARN or construct, for example one
   * for each team. Joiner may pass these roles to instances. They get access entries unless
   * `nodeRoleEntry` is false.
   * @default - none
   */
  readonly nodeRoles?: readonly (string | iam.IRole)[];
  /**
   * Your own SSM parameters for `amiSelectorTerms[].ssmParameter`, as names or ARNs. A `*` at the
   * end matches any suffix.
   * @default - only AWS's public parameters
   */
  readonly imageParameters?: readonly string[];
  /**
   * Allows deletion of the stack, or of its node role, while nodes exist. The nodes keep running,
   * because their role and its access entry are retained. Nothing drains or terminates them.
   * @default false
   */
  readonly leaveNodes?: boolean;
  /**
   * Creates a second role and access entry, for Windows nodes:
   * JoinerNode-<region>-<cluster>-windows.
   * @default false
   */
  readonly windowsNodes?: boolean;
  /**
   * Reserved concurrency by function. It is not needed for correctness: Leases ensure a single
   * writer.
   * @default - none
   */
  readonly reservedConcurrency?: Readonly<Partial<Record<FunctionName, number>>>;
  /**
   * Whether the installer is a cluster admin during deployments that change CRDs or RBAC. The stack
   * removes the admin policy at the end. If false, apply what `joiner export manifests` writes
   * before each deployment.
   * @default true
   */
  readonly installerAccess?: boolean;
  /**
   * Whether the installer applies the CRDs. If false, apply them by other means, such as the Helm
   * chart of a release or GitOps. The deployment fails if a CRD is missing or lacks a field.
   * @default true
   */
  readonly installCrds?: boolean;
  /**
   * The code of a function.
   * @default - the code in the npm package; in a checkout, a bundle of `functions/<name>/handler.ts`
   */
  readonly code?: (name: FunctionName) => lambda.Code;
}
