import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type FunctionName, functionName } from '../../shared/contract.ts';
import { BUNDLE_HANDLER } from '../bundle.ts';
import type { Statement } from '../policies/statement.ts';
import { acknowledgeWildcards } from './acknowledge.ts';

/** What each function does, for Lambda's console. */
export const DESCRIPTIONS: Readonly<Record<FunctionName, string>> = {
  watch: 'Joiner: holds a watch on the cluster and wakes the others',
  provision: 'Joiner: launches nodes for pending pods',
  lifecycle: 'Joiner: registers, drains and terminates nodes',
  disrupt: 'Joiner: removes empty nodes and replaces those that have drifted',
  interrupt: 'Joiner: handles interruption messages from the queue',
  nodeclass: 'Joiner: keeps the status of EC2NodeClasses',
  catalog: 'Joiner: reads instance types and prices',
  events: 'Joiner: publishes decisions as events',
  metrics: 'Joiner: writes metrics to Prometheus',
  shadow: 'Joiner: records what it would do beside Karpenter',
  install: 'Joiner: applies CRDs and RBAC for CloudFormation',
};

/** Where a function's network interfaces are. */
export interface FunctionNetwork {
  readonly subnetIds: readonly string[];
  readonly securityGroupIds: readonly string[];
}

export interface JoinerFunctionProps {
  readonly name: FunctionName;
  readonly cluster: string;
  /** One sentence for the console. */
  readonly description: string;
  readonly code: lambda.Code;
  readonly memorySize: number;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
  readonly statements: readonly Statement[];
  /** Undefined: CloudFormation names it, and it stays. */
  readonly role: { readonly id: string; readonly name: string } | undefined;
  readonly logRetention: logs.RetentionDays;
  /** Undefined: keys of CloudWatch. */
  readonly logEncryptionKey: kms.IKey | undefined;
  readonly logLevel: lambda.ApplicationLogLevel;
  /** Undefined: outside of any VPC. */
  readonly network: FunctionNetwork | undefined;
  /** Undefined: none, since small accounts refuse it. */
  readonly reservedConcurrentExecutions: number | undefined;
  /**
   * How long an event may wait and how often it is tried again. The next minute is the retry of
   * what runs by schedule; what CloudFormation asks for must not be lost.
   */
  readonly events: 'fresh' | 'kept';
}

const EVENTS = {
  fresh: { maxEventAge: Duration.seconds(60), retryAttempts: 0 },
  kept: { maxEventAge: Duration.minutes(15), retryAttempts: 2 },
} as const;

export function logGroupName(cluster: string, name: FunctionName): string {
  return `/aws/lambda/${functionName(cluster, name)}`;
}

/** One of Joiner's Lambda functions with its own role and its own log. */
export class JoinerFunction extends Construct {
  readonly function: lambda.Function;
  readonly role: iam.Role;
  readonly logGroup: logs.LogGroup;

  constructor(scope: Construct, id: string, props: JoinerFunctionProps) {
    super(scope, id);
    const name = functionName(props.cluster, props.name);
    this.logGroup = new logs.LogGroup(this, 'Logs', {
      logGroupName: logGroupName(props.cluster, props.name),
      retention: props.logRetention,
      ...(props.logEncryptionKey === undefined ? {} : { encryptionKey: props.logEncryptionKey }),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = this.#role(name, props);
    this.function = new lambda.Function(this, 'Function', {
      functionName: name,
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: BUNDLE_HANDLER,
      code: props.code,
      memorySize: props.memorySize,
      timeout: props.timeout,
      environment: { ...props.environment },
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      // Lambda takes a line without a level for INFO, and metrics are such lines: above INFO it is
      // the Logger alone that leaves lines out.
      applicationLogLevelV2:
        props.logLevel === lambda.ApplicationLogLevel.DEBUG
          ? lambda.ApplicationLogLevel.DEBUG
          : lambda.ApplicationLogLevel.INFO,
      // The report of each run, from which the memory alarm is made.
      systemLogLevelV2: lambda.SystemLogLevel.INFO,
      ...EVENTS[props.events],
      ...(props.reservedConcurrentExecutions === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrentExecutions }),
    });
    this.#attach(props.network);
  }

  #role(name: string, props: JoinerFunctionProps): iam.Role {
    const { network, statements } = props;
    const inlinePolicies: Record<string, iam.PolicyDocument> = {
      log: new iam.PolicyDocument({ statements: [this.#logStatement()] }),
    };
    if (statements.length > 0) {
      inlinePolicies['function'] = new iam.PolicyDocument({ statements: statements.map(toIam) });
    }
    if (network !== undefined) {
      inlinePolicies['network'] = new iam.PolicyDocument({
        statements: networkStatements(this, name),
      });
    }
    const role = new iam.Role(this, props.role?.id ?? 'Role', {
      ...(props.role === undefined ? {} : { roleName: props.role.name }),
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      description: `Joiner's function ${props.name} for the cluster ${props.cluster}`,
      inlinePolicies,
    });
    acknowledgeWildcards(role, network === undefined ? statements : [...statements, INTERFACES]);
    return role;
  }

  #logStatement(): iam.PolicyStatement {
    return new iam.PolicyStatement({
      sid: 'Log',
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [this.logGroup.logGroupArn],
    });
  }

  #attach(network: FunctionNetwork | undefined): void {
    const resource = this.function.node.defaultChild;
    if (network === undefined || !(resource instanceof lambda.CfnFunction)) return;
    // The class for functions wants a VPC, which could only be had by a look-up.
    resource.vpcConfig = {
      subnetIds: [...network.subnetIds],
      securityGroupIds: [...network.securityGroupIds],
    };
  }
}

/** A statement of ours as CDK has it. */
export function toIam(statement: Statement): iam.PolicyStatement {
  return new iam.PolicyStatement({
    sid: statement.sid,
    actions: [...statement.actions],
    resources: [...statement.resources],
    ...(statement.conditions === undefined ? {} : { conditions: statement.conditions }),
  });
}

const INTERFACE_ACTIONS = [
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
];

const INTERFACES: Statement = {
  sid: 'Interfaces',
  why: "Lambda makes the function's network interfaces; their calls know no resources before.",
  actions: [...INTERFACE_ACTIONS, 'ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets'],
  resources: ['*'],
};

/** Lambda makes the interfaces with the function's role; the function's own code must not. */
function networkStatements(scope: Construct, name: string): iam.PolicyStatement[] {
  const { partition, region, account } = Stack.of(scope);
  return [
    toIam(INTERFACES),
    new iam.PolicyStatement({
      sid: 'NotByTheCode',
      effect: iam.Effect.DENY,
      actions: INTERFACE_ACTIONS,
      resources: ['*'],
      conditions: {
        ArnEquals: {
          'lambda:SourceFunctionArn': `arn:${partition}:lambda:${region}:${account}:function:${name}`,
        },
      },
    }),
  ];
}
