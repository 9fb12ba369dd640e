import { instanceIdOf } from '../../shared/core/lifecycle/actions.ts';
import type { ClusterState } from '../../shared/ports.ts';
import type { Facts } from '../doctor/facts.ts';
import { fail, judged, type Line, ok, warn } from '../doctor/line.ts';
import { someOf } from '../words.ts';
import type { AccountFacts, QueueFacts } from './account.ts';
import { liveClaims } from './claims.ts';

function checkRoles({ asked }: Facts, { passable }: AccountFacts): readonly Line[] {
  const { cluster } = asked;
  return judged('pass role', passable, (roles) => {
    const refused = [...roles].filter(([, isPassable]) => !isPassable);
    // One option for all of them: it takes the place of the list that the stack has.
    const arns = refused.map(([arn]) => arn);
    const advice =
      `deploy with -c nodeRoles=${arns.join(',')} -c cluster=${cluster}; ` +
      'roles that nodeRoles has already have to stay in the list. Where they have access entries: ' +
      '-c nodeRoleEntry=false';
    return [...roles].map(([arn, isPassable]): Line => {
      const role = arn.replace(/^.*:role\//, '');
      if (isPassable) return ok('pass role', `provision may launch nodes with the role ${role}`);
      return fail('pass role', `provision may not launch nodes with the role ${role}`, advice);
    });
  });
}

function counted(rules: readonly string[]): string {
  return `${rules.length} EventBridge ${rules.length === 1 ? 'rule sends' : 'rules send'}`;
}

function checkOwnQueue({ name, rules }: QueueFacts): Line {
  const advice = 'deploy the stack; joiner doctor --probe sends a test message';
  if (rules === undefined) return fail('queue', `there is no queue ${name}`, advice);
  if (rules.length === 0) return fail('queue', `no EventBridge rule sends to ${name}`, advice);
  return ok('queue', `${counted(rules)} to ${name}`);
}

function checkKarpenterQueue({ name, rules }: QueueFacts): Line {
  if (rules === undefined) {
    return warn(
      'queue',
      `Karpenter's queue ${name} is not there`,
      'Karpenter receives no interruption messages',
    );
  }
  const message = `${counted(rules)} to Karpenter's queue ${name}; both queues get every message`;
  return ok('queue', message);
}

function checkInstances(
  state: ClusterState,
  { instances }: AccountFacts,
  { asked }: Facts,
): readonly Line[] {
  return judged('instances', instances, (found) => {
    const claims = liveClaims(state).filter(({ providerId }) => providerId !== undefined);
    const known = new Set(found);
    const unseen = claims.filter(({ providerId }) => !known.has(instanceIdOf(providerId) ?? ''));
    const owned = new Set(
      state.objects.nodeClaims.map(({ providerId }) => instanceIdOf(providerId)),
    );
    const orphans = found.filter((id) => !owned.has(id));
    const lines: Line[] = [];
    if (unseen.length > 0) {
      lines.push(
        fail(
          'instances',
          `the instances of NodeClaim ${someOf(unseen.map(({ name }) => name))} are gone or lack the tag ` +
            `eks:eks-cluster-name=${asked.cluster}: Joiner would treat their nodes as terminated`,
          'let Karpenter delete the NodeClaim, or add the tag to the instance',
        ),
      );
    }
    if (orphans.length > 0) {
      const message = `instances without a NodeClaim: ${someOf(orphans)}`;
      lines.push(warn('instances', message, 'Karpenter and Joiner terminate them'));
    }
    return lines.length > 0
      ? lines
      : [ok('instances', `${claims.length}, each with its NodeClaim`)];
  });
}

function checkTemplates({ templates }: AccountFacts, { asked }: Facts): readonly Line[] {
  return judged('launch templates', templates, (count): Line => {
    if (count === 0) return ok('launch templates', 'none of Karpenter is left');
    return warn(
      'launch templates',
      `${count} of Karpenter stay when it is stopped; Joiner makes its own`,
      'when Karpenter is no longer needed: aws ec2 describe-launch-templates --filters ' +
        `Name=tag:eks:eks-cluster-name,Values=${asked.cluster} ` +
        "--query 'LaunchTemplates[?starts_with(LaunchTemplateName,`karpenter.k8s.aws/`)].LaunchTemplateId' " +
        '--output text | xargs -n1 aws ec2 delete-launch-template --launch-template-id',
    );
  });
}

/** What AWS says of a take-over. */
export function checkAccountOf(
  state: ClusterState,
  account: AccountFacts,
  facts: Facts,
): readonly Line[] {
  const { queue, karpenterQueue } = account;
  return [
    ...checkRoles(facts, account),
    ...judged('queue', queue, checkOwnQueue),
    ...(karpenterQueue === undefined ? [] : judged('queue', karpenterQueue, checkKarpenterQueue)),
    ...checkInstances(state, account, facts),
    ...checkTemplates(account, facts),
  ];
}
