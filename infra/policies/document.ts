import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract.ts';
import { POLICIES } from './policies.ts';
import type { Conditions, PolicyScope, Statement } from './statement.ts';

/** What stands for the parts of ARNs that differ from stack to stack. */
export const DOCUMENT_SCOPE: PolicyScope = {
  partition: 'aws',
  region: 'REGION',
  account: 'ACCOUNT',
  dnsSuffix: 'amazonaws.com',
  cluster: 'CLUSTER',
  clusterArn: 'arn:aws:eks:REGION:ACCOUNT:cluster/CLUSTER',
  bucketArn: 'arn:aws:s3:::BUCKET',
  sharedGroups: ['GROUP'],
  isBucketOwned: true,
  keyArn: 'arn:aws:kms:REGION:ACCOUNT:key/KEY',
  eventBusArn: 'arn:aws:events:REGION:ACCOUNT:event-bus/BUS',
  queueArn: 'arn:aws:sqs:REGION:ACCOUNT:QUEUE',
  queueKeyArn: 'arn:aws:kms:REGION:ACCOUNT:key/QUEUE-KEY',
  nodeRoleArns: ['arn:aws:iam::ACCOUNT:role/NODE'],
  imageParameterArns: [],
  installRoleName: 'INSTALL',
  isIsolated: false,
  remoteWrite: { workspaceArn: 'arn:aws:aps:REGION:ACCOUNT:workspace/WORKSPACE' },
};

const HEAD = `# Permissions

Each function has a role of its own, and in the cluster a group of its own: \`joiner:watch\`,
\`joiner:provision\` and so on, whose rights are in \`infra/rbac\`, a file each. No role may
both launch and terminate instances. \`install\` is the cluster's admin while a deployment lasts that
changes what it applies, and has given that back when it is done
([0052](decisions/0052-an-admin-for-a-while.md)); with \`installerAccess: false\` it never is.

Written by \`npm test -- test/infra/policies -u\` from \`infra/policies\`; the documents themselves are in
\`test/infra/golden/policies\`. Upper-case words stand for what differs from stack to stack. Every role
may also write to the log of its function and, in a VPC, Lambda may make the function's network
interfaces with it, while the function's own code is denied that. The statements \`MemoryKey\` and
\`MessagesKey\` are there only where bucket and queue have keys of the account, those of instance profiles only where the VPC has a
way to IAM. No role has rights on the keys of volumes: the policies of [keys that you
manage](deploy.md#volumes-with-a-customer-managed-key) have to let \`provision\` use them.
\`LimitGroups\` is there for the [limit groups that are shared](tasks/limit-groups.md#several-clusters).
\`RemoteWrite\` is there where metrics are written to a workspace of Amazon Managed Prometheus; for other endpoints the
role may instead read the one secret, or nothing.

What each function asks of AWS and of the cluster is recorded from its bundle, on a real control
plane and AWS over the wire: \`JOINER_RECORD=1 npm test -- test/e2e/bundles\` writes
\`test/infra/golden/requests.json\`, and without the variable fails when that is not true any more.
\`npm run generate\` writes \`infra/rbac\` from it and from what only other suites show
(\`further-requests.json\`, written in the same way), with what only follows now and then: a Lease that is
not there yet, an object that another writer has changed. \`test/infra/coverage\` finds nothing missing in
these tables and in the rules, and nothing unused; \`test/e2e\` asks an API server that knows no others.
`;

/** The page `docs/permissions.md`. */
export function permissionsDocument(): string {
  return [HEAD, ...FUNCTION_NAMES.map(section)].join('\n');
}

function section(name: FunctionName): string {
  const rows = POLICIES[name](DOCUMENT_SCOPE).map(row);
  return [
    `## ${name}`,
    '',
    '| statement | why | actions | resources | only if |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function row({ sid, why, actions, resources, conditions }: Statement): string {
  const cells = [sid, why, lines(actions), lines(resources), lines(conditionLines(conditions))];
  return `| ${cells.join(' | ')} |`;
}

function lines(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join('<br>');
}

function conditionLines(conditions: Conditions = {}): readonly string[] {
  return Object.entries(conditions).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, value]) => {
      const values = typeof value === 'string' ? value : value.join(', ');
      return `${operator} ${key}: ${values}`;
    }),
  );
}
