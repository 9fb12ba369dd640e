import {
  DescribeInstancesCommand,
  DescribeLaunchTemplatesCommand,
  type Instance,
} from '@aws-sdk/client-ec2';
import { ListRuleNamesByTargetCommand } from '@aws-sdk/client-eventbridge';
import { GetRoleCommand, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { type AwsAccess, ec2Client, iamClient } from '../../shared/aws/access.ts';
import { allPages } from '../../shared/aws/calls.ts';
import { eventBridgeClient } from '../../shared/aws/events.ts';
import { interruptionQueueNames, TAGS } from '../../shared/contract.ts';
import { queueArn } from '../dead-letters/queue.ts';
import { type Facts, type Known, known } from '../doctor/facts.ts';

/** A queue for interruption messages. */
export interface QueueFacts {
  readonly name: string;
  /** Names of the EventBridge rules that send to it; undefined: there is no such queue. */
  readonly rules: readonly string[] | undefined;
}

/** What AWS says of the hand-over. */
export interface AccountFacts {
  /** Of the roles of EC2NodeClasses, by ARN: whether `provision` may give them to instances. */
  readonly passable: Known<ReadonlyMap<string, boolean>>;
  readonly queue: Known<QueueFacts>;
  /** Undefined: Karpenter has none. */
  readonly karpenterQueue: Known<QueueFacts> | undefined;
  /** Ids of instances that are not terminated and have the cluster's tags. */
  readonly instances: Known<readonly string[]>;
  /** Launch templates of Karpenter; Joiner does not use them. */
  readonly templates: Known<number>;
}

async function rulesOf(access: AwsAccess, name: string): Promise<QueueFacts> {
  const TargetArn = await queueArn(access, name);
  if (TargetArn === undefined) return { name, rules: undefined };
  const events = eventBridgeClient(access);
  const rules = await allPages(async (NextToken) => {
    const command = new ListRuleNamesByTargetCommand({ TargetArn, NextToken });
    const page = await events.send(command);
    return { items: page.RuleNames, next: page.NextToken };
  });
  return { name, rules };
}

/** Whether IAM lets `provision` pass the roles, as its policies say; only IAM knows their paths. */
async function passableRoles(
  access: AwsAccess,
  { functions, classes }: Facts,
): Promise<ReadonlyMap<string, boolean>> {
  const iam = iamClient(access);
  const provision = functions.ok
    ? functions.value.find(({ name }) => name === 'provision')
    : undefined;
  if (provision === undefined) throw new Error('the function provision is not known');
  const roles = new Set(classes.flatMap(({ role }) => (role.ok ? [role.value] : [])));
  const found = new Map<string, boolean>();
  for (const role of roles) {
    // A class may name a role with its path, IAM takes the name alone.
    const RoleName = role.split('/').at(-1);
    const { Role } = await iam.send(new GetRoleCommand({ RoleName }));
    const arn = Role?.Arn ?? '';
    const answer = await iam.send(
      new SimulatePrincipalPolicyCommand({
        PolicySourceArn: provision.roleArn,
        ActionNames: ['iam:PassRole'],
        ResourceArns: [arn],
        ContextEntries: [
          {
            ContextKeyName: 'iam:PassedToService',
            ContextKeyType: 'string',
            ContextKeyValues: ['ec2.amazonaws.com'],
          },
        ],
      }),
    );
    const decisions = (answer.EvaluationResults ?? []).map(({ EvalDecision }) => EvalDecision);
    found.set(arn, decisions.length > 0 && decisions.every((each) => each === 'allowed'));
  }
  return found;
}

/** By the tags by which Karpenter and Joiner find their instances. */
async function instancesOf(access: AwsAccess, cluster: string): Promise<readonly string[]> {
  const ec2 = ec2Client(access);
  const Filters = [
    { Name: 'tag-key', Values: [TAGS.nodePool] },
    { Name: 'tag-key', Values: [TAGS.nodeClass] },
    { Name: `tag:${TAGS.clusterName}`, Values: [cluster] },
    { Name: 'instance-state-name', Values: ['pending', 'running', 'stopping', 'stopped'] },
  ];
  const reservations = await allPages(async (NextToken) => {
    const page = await ec2.send(new DescribeInstancesCommand({ Filters, NextToken }));
    return { items: page.Reservations, next: page.NextToken };
  });
  const instances: readonly Instance[] = reservations.flatMap(({ Instances = [] }) => Instances);
  return instances.flatMap(({ InstanceId }) => InstanceId ?? []).sort();
}

/** Karpenter names its templates by its group. */
const TEMPLATE_PREFIX = 'karpenter.k8s.aws/';

async function templatesOf(access: AwsAccess, cluster: string): Promise<number> {
  const ec2 = ec2Client(access);
  const Filters = [{ Name: `tag:${TAGS.clusterName}`, Values: [cluster] }];
  const all = await allPages(async (NextToken) => {
    const page = await ec2.send(new DescribeLaunchTemplatesCommand({ Filters, NextToken }));
    return { items: page.LaunchTemplates, next: page.NextToken };
  });
  return all.filter(({ LaunchTemplateName = '' }) => LaunchTemplateName.startsWith(TEMPLATE_PREFIX))
    .length;
}

/** Everything that is asked; what cannot be known says why, and nothing stops the others. */
export async function accountFacts(
  access: AwsAccess,
  facts: Facts,
  karpenterQueue: string | undefined,
): Promise<AccountFacts> {
  const { cluster } = facts.asked;
  const { queue } = interruptionQueueNames(cluster);
  return {
    passable: await known(() => passableRoles(access, facts)),
    queue: await known(() => rulesOf(access, queue)),
    karpenterQueue:
      karpenterQueue === undefined ? undefined : await known(() => rulesOf(access, karpenterQueue)),
    instances: await known(() => instancesOf(access, cluster)),
    templates: await known(() => templatesOf(access, cluster)),
  };
}
