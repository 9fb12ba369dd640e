import { CfnOutput, type CustomResource, Duration, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as sns from 'aws-cdk-lib/aws-sns';
import { Construct, type IConstruct } from 'constructs';
import packageJson from '../../package.json' with { type: 'json' };
import type { MetricKey } from '../../shared/contract/metrics.ts';
import {
  CLUSTER_FUNCTIONS,
  ENV,
  type FunctionName,
  REGION_VARIABLE,
  WAKE_EVENT,
} from '../../shared/contract.ts';
import { POLICIES } from '../policies/policies.ts';
import type { PolicyScope } from '../policies/statement.ts';
import { Alarms } from './alarms.ts';
import { ClusterAccess, clusterAdminPolicy } from './cluster-access.ts';
import { bundledCode, codeOf } from './code.ts';
import { DecisionDashboard } from './decision-dashboard.ts';
import { DecisionEvents } from './decision-events.ts';
import { DESCRIPTIONS, JoinerFunction, logGroupName } from './function.ts';
import { Installer } from './installer.ts';
import { InterruptionQueue } from './interruption-queue.ts';
import type { JoinerProps } from './joiner-props.ts';
import { admitLogs, keyOf } from './keys.ts';
import { grantReadable, MemoryBucket } from './memory-bucket.ts';
import { joinerMetric } from './metrics.ts';
import { admitNodes, type NodeRoles, nodeRoles } from './node-roles.ts';
import { namesOf, OUTPUT_NAMES, OUTPUTS, type OutputName } from './outputs.ts';
import { policyScope } from './policy-scope.ts';
import { RemoteWrite } from './remote-write.ts';
import {
  admitToCluster,
  checkProps,
  clusterName,
  environment,
  functionNames,
  KEPT_EVENTS,
  MEMORY_SIZES,
  networkOf,
  routesOf,
  sharedGroupsOf,
  statedSettings,
  TIMEOUTS,
} from './settings.ts';
import { Schedules, WakeUps } from './triggers.ts';
import { fingerprint, installRole } from './version.ts';

/**
 * Joiner for one EKS cluster: the functions, what triggers them, what they may do and remember, and
 * what people see of them. With `shadow` it decides beside Karpenter and never acts.
 */
export class Joiner extends Construct {
  /** The functions by name. */
  readonly functions: ReadonlyMap<FunctionName, JoinerFunction>;
  readonly bucket: s3.IBucket | s3.Bucket;
  readonly wakeUps: WakeUps;
  /** Undefined: the prop `dashboard` is false. */
  readonly dashboard: cloudwatch.Dashboard | undefined;
  readonly alarms: readonly cloudwatch.Alarm[];
  readonly clusterName: string;
  readonly #props: JoinerProps;
  /** Of the bucket; undefined: S3's own. */
  readonly #key: kms.IKey | undefined;
  /** Undefined: the stack never acts. */
  readonly #interruption: InterruptionQueue | undefined;
  readonly #nodeRoles: NodeRoles | undefined;

  constructor(scope: Construct, id: string, props: JoinerProps) {
    super(scope, id);
    checkProps(this, props);
    this.#props = props;
    this.clusterName = clusterName(props) ?? '';
    const cluster = this.clusterName;
    if (props.permissionsBoundary !== undefined) this.#bound(props.permissionsBoundary);
    this.#key = keyOf(this, 'Key', props.encryptionKey);
    this.bucket = this.#bucket();
    this.wakeUps = new WakeUps(this, 'WakeUps', {
      cluster,
      encryptionKey: keyOf(this, 'BusKey', props.busEncryptionKey),
    });
    const isActing = props.shadow !== true;
    this.#interruption = isActing ? this.#interruptions() : undefined;
    this.#nodeRoles = isActing ? nodeRoles(this, props, cluster) : undefined;
    this.functions = this.#functions();
    const wayIn = admitToCluster(this, props);
    const access = new ClusterAccess(this, 'Access', { cluster: this.clusterName });
    if (this.#nodeRoles !== undefined) admitNodes(access, this.#nodeRoles, props);
    const installer = this.#install(access, wayIn);
    this.alarms = this.#alarms();
    this.dashboard = this.#dashboard();
    this.#finish(installer);
    this.#output();
  }

  /** Throws where `shadow` is true: the stack has no queue. */
  get interruptionQueue(): InterruptionQueue {
    return this.#acting('interruptionQueue', this.#interruption);
  }

  /**
   * ARN of the role that Linux nodes get; EC2NodeClasses name it in `spec.role`. Throws where
   * `shadow` is true: the stack launches no nodes.
   */
  get nodeRoleArn(): string {
    return this.#acting('nodeRoleArn', this.#nodeRoles?.linux.roleArn);
  }

  /** Lets somebody put wake-ups onto the bus. */
  grantWake(grantee: iam.IGrantable): iam.Grant {
    return iam.Grant.addToPrincipal({
      grantee,
      actions: ['events:PutEvents'],
      resourceArns: [this.wakeUps.bus.eventBusArn],
      conditions: { StringEquals: { 'events:source': WAKE_EVENT.source } },
    });
  }

  /**
   * Lets somebody read prices, bars, decision records and snapshots: `joiner plan`, `explain`, `top`
   * and `replay` go by them.
   */
  grantReadMemory(grantee: iam.IGrantable): iam.Grant {
    const groups = sharedGroupsOf(this.#props);
    const place = [this.clusterName, Stack.of(this).region, groups] as const;
    const grant = grantReadable(this.bucket, grantee, place);
    // A bucket that is given may not know its key.
    const isKnown = this.bucket.encryptionKey !== undefined || this.#key === undefined;
    return isKnown ? grant : grant.combine(this.#key.grantDecrypt(grantee));
  }

  /** One of Joiner's metrics for this cluster. */
  metric(key: MetricKey, options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return joinerMetric(this.clusterName, key, options);
  }

  /** Pods that Joiner should serve and has not. */
  metricPendingPods(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('pendingPods', options);
  }

  /** USD an hour, with overlays. */
  metricCost(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('cost', options);
  }

  /** Launches that EC2 refused. */
  metricLaunchFailures(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('launchFailures', options);
  }

  #bound(boundary: string | iam.IManagedPolicy): void {
    const policy =
      typeof boundary === 'string'
        ? iam.ManagedPolicy.fromManagedPolicyArn(this, 'Boundary', boundary)
        : boundary;
    iam.PermissionsBoundary.of(this).apply(policy);
  }

  /** What the command line finds in the cluster: what is decided by, by which version, and where. */
  #stated(): Readonly<Record<string, string>> {
    const { region } = Stack.of(this);
    const place = { [ENV.cluster]: this.clusterName, [REGION_VARIABLE]: region };
    const own = { [ENV.version]: packageJson.version, [ENV.bucket]: this.bucket.bucketName };
    return { ...statedSettings(this.#props, region), ...place, ...own };
  }

  #bucket(): s3.IBucket | s3.Bucket {
    const { bucket, dataRetentionDays } = this.#props;
    if (typeof bucket === 'string') return s3.Bucket.fromBucketName(this, 'Bucket', bucket);
    if (bucket !== undefined) return bucket;
    return new MemoryBucket(this, 'Memory', {
      cluster: this.clusterName,
      encryptionKey: this.#key,
      dataRetention: Duration.days(dataRetentionDays ?? 30),
      isAnnounced: this.#props.decisionEvents !== undefined,
    }).bucket;
  }

  #interruptions(): InterruptionQueue {
    return new InterruptionQueue(this, 'Interruption', {
      cluster: this.clusterName,
      encryptionKey: keyOf(this, 'QueueKey', this.#props.queueEncryptionKey),
      timeout: TIMEOUTS.interrupt,
    });
  }

  #acting<Part>(name: string, part: Part | undefined): Part {
    if (part !== undefined) return part;
    throw new Error(`${name}: a stack with shadow: true has none`);
  }

  #functions(): ReadonlyMap<FunctionName, JoinerFunction> {
    const names = functionNames(this.#props);
    const code = this.#props.code ?? bundledCode(names);
    const scope = this.#policyScope();
    const logKey = keyOf(this, 'LogKey', this.#props.logEncryptionKey);
    const logs = names.map((name) => logGroupName(this.clusterName, name));
    if (logKey !== undefined) admitLogs(this, logKey, logs);
    return new Map(
      names.map((name) => [name, this.#function(name, codeOf(name, code), scope, logKey)]),
    );
  }

  #function(
    name: FunctionName,
    code: lambda.Code,
    scope: PolicyScope,
    logEncryptionKey: kms.IKey | undefined,
  ): JoinerFunction {
    const { memorySizes, reservedConcurrency, logRetentionDays, logLevel } = this.#props;
    const shared = {
      cluster: this.clusterName,
      version: packageJson.version,
      bucketName: this.bucket.bucketName,
      eventBusName: this.wakeUps.bus.eventBusName,
    };
    return new JoinerFunction(this, name, {
      name,
      cluster: this.clusterName,
      description: DESCRIPTIONS[name],
      code,
      memorySize: memorySizes?.[name] ?? MEMORY_SIZES[name],
      timeout: TIMEOUTS[name],
      environment: environment(this, name, this.#props, shared),
      statements: POLICIES[name](scope),
      role: name === 'install' ? this.#installRole() : undefined,
      logRetention: logRetentionDays ?? 30,
      logEncryptionKey,
      logLevel: lambda.ApplicationLogLevel[logLevel ?? 'INFO'],
      network: networkOf(this.#props, name),
      reservedConcurrentExecutions: reservedConcurrency?.[name],
      events: KEPT_EVENTS.has(name) ? 'kept' : 'fresh',
    });
  }

  #policyScope(): PolicyScope {
    return policyScope(this, this.#props, {
      cluster: this.clusterName,
      bucket: this.bucket,
      eventBusArn: this.wakeUps.bus.eventBusArn,
      queueArn: this.#interruption?.queue.queueArn ?? '',
      nodeRoleArns: this.#nodeRoles?.arns ?? [],
      installRoleName: this.#installRole().name,
    });
  }

  #installRole(): { readonly id: string; readonly name: string } {
    return installRole(this, this.clusterName, fingerprint(this.#props));
  }

  /**
   * Check → the installer's access → definitions and rights → the functions' access → triggers, and
   * away in the opposite order: no function is moved to rights that are not there yet. `wayIn` goes
   * last, or the installer could not take back its rights.
   */
  #install(access: ClusterAccess, wayIn: readonly IConstruct[]): Installer {
    const { installerAccess, installCrds, endpoint, cluster, leaveNodes, shadow } = this.#props;
    const version = fingerprint(this.#props);
    const install = this.#get('install');
    // Or a stack with its VPC would take the route away before the installer has answered.
    install.function.node.addDependency(...routesOf(this.#props));
    const lentPolicyArn = (installerAccess ?? true) ? clusterAdminPolicy(this) : undefined;
    const installer = new Installer(this, 'Installer', {
      cluster: this.clusterName,
      handler: install.function,
      endpoint: endpoint ?? 'public',
      nodeRoles: this.#nodeRoles?.arns ?? [],
      leaveNodes: leaveNodes ?? false,
      isShadow: shadow ?? false,
      fingerprint: version,
      lentPolicyArn,
      installCrds: installCrds ?? true,
    });
    const check = installer.check();
    if (typeof cluster !== 'string') check.node.addDependency(cluster);
    const own = new ClusterAccess(this, 'InstallerAccess', { cluster: this.clusterName });
    own.admitInstaller(version, install.role, lentPolicyArn);
    own.node.addDependency(check);
    const [roles, applied] = [installer.roles(), installer.apply()];
    for (const each of [roles, applied]) each.node.addDependency(own, ...wayIn);
    installer.settings(this.#stated()).node.addDependency(applied);
    for (const name of CLUSTER_FUNCTIONS) {
      const admitted = name === 'install' ? undefined : this.functions.get(name);
      if (admitted !== undefined) access.admitFunction(name, admitted.role);
    }
    access.node.addDependency(roles, applied);
    this.#data(installer);
    this.#trigger(applied, access);
    return installer;
  }

  /**
   * When everything else is made, the installer gives back what it was lent. Last of all is who is
   * asked first when a stack goes: not while nodes are there.
   */
  #finish(installer: Installer): void {
    const before = this.node.children.filter((each) => each !== installer);
    const steps = [...installer.node.children];
    const settled = installer.settle();
    settled.node.addDependency(...before, ...steps);
    installer.nodes().node.addDependency(...before, ...steps, settled);
  }

  /** Whoever writes goes before the memory is emptied. */
  #data(installer: Installer): void {
    const extent = this.#props.bucket === undefined ? 'all' : 'own';
    const data = installer.data(this.bucket.bucketName, extent);
    data.node.addDependency(this.bucket);
    for (const [name, { function: fn }] of this.functions) {
      if (name !== 'install') fn.node.addDependency(data);
    }
  }

  /** New code starts with its rights, and is asked for something once it is let in. */
  #trigger(applied: CustomResource, access: ClusterAccess): void {
    const handlers = new Map([...this.functions].map(([name, each]) => [name, each.function]));
    for (const [name, handler] of handlers) {
      if (name !== 'install') handler.node.addDependency(applied);
    }
    this.wakeUps.connect(this.clusterName, handlers);
    const schedules = new Schedules(this, 'Schedules', { cluster: this.clusterName, handlers });
    schedules.node.addDependency(access);
    this.#interruption?.feed(this.#get('interrupt').function, access);
    new RemoteWrite(this, 'RemoteWrite', { functions: this.functions });
    const [publisher, bucket] = [handlers.get('events'), this.bucket];
    if (publisher === undefined) return;
    new DecisionEvents(this, 'DecisionEvents', { cluster: this.clusterName, bucket, publisher });
  }

  #observed() {
    const memorySizes = { ...MEMORY_SIZES, ...this.#props.memorySizes };
    return {
      cluster: this.clusterName,
      functions: this.functions,
      memorySizes,
      interruption: this.#interruption,
    };
  }

  #dashboard(): cloudwatch.Dashboard | undefined {
    if (this.#props.dashboard === false) return undefined;
    const props = { ...this.#observed(), alarms: this.alarms };
    return new DecisionDashboard(this, 'Dashboard', props).dashboard;
  }

  #alarms(): readonly cloudwatch.Alarm[] {
    const { alarms, alarmTopic } = this.#props;
    if (alarms === false) return [];
    const topic =
      typeof alarmTopic === 'string'
        ? sns.Topic.fromTopicArn(this, 'AlarmTopic', alarmTopic)
        : alarmTopic;
    return new Alarms(this, 'Alarms', { ...this.#observed(), topic }).alarms;
  }

  #output(): void {
    const values: Readonly<Record<OutputName, string | undefined>> = {
      NodeRoleArn: this.#nodeRoles?.linux.roleArn,
      BucketName: this.bucket.bucketName,
      InterruptionQueueUrl: this.#interruption?.queue.queueUrl,
      DashboardName: this.dashboard?.dashboardName,
      FunctionNames: namesOf(this.functions.values()),
    };
    for (const name of OUTPUT_NAMES) {
      const value = values[name];
      if (value !== undefined) new CfnOutput(this, name, { value, description: OUTPUTS[name] });
    }
  }

  #get(name: FunctionName): JoinerFunction {
    const found = this.functions.get(name);
    if (found === undefined) throw new Error(`there is no function ${name}`);
    return found;
  }
}
