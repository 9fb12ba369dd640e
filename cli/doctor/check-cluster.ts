import { isOpen } from '../../shared/aws/cluster-access.ts';
import { CLUSTER_FUNCTIONS, shortened } from '../../shared/contract.ts';
import type { NodeClass } from '../../shared/core/model/node-class.ts';
import { AWS_REGIONS, roleArn } from '../aws-regions.ts';
import { LOG_IN } from '../log-in.ts';
import { type Cluster, type Facts, isDeployed, type Known } from './facts.ts';
import { fail, judged, type Line, ok, warn } from './line.ts';

/** Who asks, and whether the cluster can take Joiner in. */
export function checkCluster(facts: Facts): readonly Line[] {
  const { asked, cluster } = facts;
  const { region } = asked;
  if (/^us-gov-|-iso|^eusc-/.test(region)) {
    const message = `${region} is of a partition for which there are neither prices nor a catalog`;
    return [fail('region', message, 'use a cluster in a region of the partition aws or aws-cn')];
  }
  const who = [...checkRegion(region), checkCaller(facts)];
  if (!isKnown(facts)) return who;
  if (!cluster.ok) {
    const advice = `let the caller use eks:DescribeCluster on ${asked.cluster}`;
    return [...who, fail('cluster', `cannot be described: ${cluster.why}`, advice)];
  }
  const { value } = cluster;
  if (value === undefined) {
    const message = `there is no EKS cluster ${asked.cluster} in ${region} in this account`;
    return [...who, fail('cluster', message, 'check --cluster, --region and the account')];
  }
  return [
    ...who,
    checkStatus(facts, value),
    checkVersion(value),
    checkAuthentication(facts, value),
    ...checkEndpoint(facts, value),
    ...checkAutoMode(value),
    ...checkNodeRoles(facts),
  ];
}

/** A region that is newer than the list of them works all the same, if it is one. */
function checkRegion(region: string): readonly Line[] {
  if (AWS_REGIONS.includes(region)) return [];
  const [part = ''] = region.split('-');
  const near = AWS_REGIONS.filter((each) => each.startsWith(`${part}-`));
  const advice = `check --region: ${(near.length > 0 ? near : AWS_REGIONS).join(', ')}`;
  return [warn('region', `${region} is in no list of AWS's regions`, advice)];
}

/** Whether AWS takes the caller's credentials: STS says so, or EKS by answering. */
export function isKnown({ caller, cluster }: Facts): boolean {
  return caller.ok || cluster.ok;
}

function checkCaller(facts: Facts): Line {
  const { caller } = facts;
  if (caller.ok) return ok('credentials', `${caller.value.arn} in account ${caller.value.account}`);
  if (isKnown(facts)) {
    const advice = 'nothing, if sts has no endpoint here: only this line needs it';
    return warn('credentials', `taken by EKS, but not told by STS: ${caller.why}`, advice);
  }
  return fail('credentials', `AWS does not know the caller: ${caller.why}`, LOG_IN);
}

function checkStatus({ asked }: Facts, { status }: Cluster): Line {
  const isUsable = status === 'ACTIVE' || status === 'UPDATING';
  if (isUsable) return ok('cluster', `${asked.cluster} is ${status}`);
  return fail('cluster', `${asked.cluster} is ${status}`, 'wait until it is ACTIVE');
}

/** The oldest that works. https://karpenter.sh/docs/upgrading/compatibility/ */
const MINOR_MIN = 29;

function checkVersion({ version }: Cluster): Line {
  const minor = Number(version.split('.')[1]);
  if (minor >= MINOR_MIN) return ok('version', `Kubernetes ${version}`);
  return warn(
    'version',
    `Kubernetes ${version} is older than 1.${MINOR_MIN}, the oldest that Karpenter's kinds are for`,
    'upgrade the cluster',
  );
}

function checkAuthentication({ asked }: Facts, { authenticationMode: mode }: Cluster): Line {
  if (mode !== 'CONFIG_MAP') return ok('authentication', `mode ${mode} supports access entries`);
  return fail(
    'authentication',
    'mode CONFIG_MAP does not support access entries; the functions need them',
    `aws eks update-cluster-config --name ${asked.cluster} --region ${asked.region} ` +
      '--access-config authenticationMode=API_AND_CONFIG_MAP (aws-auth continues to work)',
  );
}

/** What is deployed has to fit the endpoint; what is not yet deployed gets the options for it. */
function checkEndpoint(facts: Facts, cluster: Cluster): readonly Line[] {
  const { functions } = facts;
  const deployed = functions.ok
    ? functions.value.filter(({ name }) => CLUSTER_FUNCTIONS.some((each) => each === name))
    : [];
  const isInside = deployed.some(({ subnetIds }) => subnetIds.length > 0);
  const options =
    `-c endpoint=private -c subnets=${cluster.subnetIds.join(',')} ` +
    `-c securityGroups=${cluster.securityGroupId}`;
  if (deployed.length > 0 && isInside) {
    if (cluster.isPrivate) return [ok('endpoint', 'private, and the functions are in the VPC')];
    return [
      fail(
        'endpoint',
        'the functions are in the VPC, but the cluster has no private endpoint',
        'turn the private endpoint on, or deploy with -c endpoint=public',
      ),
    ];
  }
  if (!cluster.isPublic) {
    const message = 'private only';
    if (deployed.length > 0)
      return [
        fail(
          'endpoint',
          `${message}, and the functions are outside of the VPC`,
          `deploy with ${options}`,
        ),
      ];
    return [warn('endpoint', message, `deploy with ${options}`)];
  }
  return [checkCidrs(cluster, options)];
}

/** Functions outside of a VPC call from addresses that nobody can foresee. */
function checkCidrs(cluster: Cluster, options: string): Line {
  const { publicCidrs } = cluster;
  if (isOpen(cluster)) return ok('endpoint', 'public');
  return fail(
    'endpoint',
    `public, but only for ${publicCidrs.join(', ')}: functions outside of the VPC are not let in`,
    `deploy with ${options}`,
  );
}

function checkAutoMode({ isAutoMode }: Cluster): readonly Line[] {
  if (!isAutoMode) return [];
  return [
    warn(
      'auto mode',
      'is on: EKS runs the definitions of karpenter.sh and its own NodePools',
      'Joiner acts only on NodePools whose nodeClassRef is an EC2NodeClass',
    ),
  ];
}

/** Nodes join by an entry of their role; a class's role is known only with the class. */
function checkNodeRoles(facts: Facts): readonly Line[] {
  const { accessEntries, classes, asked } = facts;
  if (classes.length === 0) return [];
  const own = stackRole(asked.cluster, asked.region);
  return judged('node role', accessEntries, (entries) =>
    classes.flatMap(({ nodeClass, role, roleArn: arn }) =>
      judged('node role', role, (name): Line => {
        const mine = entries.filter(({ principalArn }) => principalArn.endsWith(`/${name}`));
        const types = entryTypes(nodeClass);
        const entry = mine.find(({ type }) => types.includes(type));
        if (entry !== undefined) {
          return ok('node role', `${name} of ${nodeClass.name} has an access entry ${entry.type}`);
        }
        if ([own, windowsRole(own)].includes(name) && !isDeployed(facts)) {
          return ok('node role', `${name} of ${nodeClass.name} comes with the stack`);
        }
        const [other] = mine;
        return fail(
          'node role',
          `${name} of the EC2NodeClass ${nodeClass.name} has no access entry of type ${types[0]}` +
            `${other === undefined ? '' : `, but one of type ${other.type}`}: nodes cannot join`,
          entryAdvice(facts, nodeClass, { name, arn }, other !== undefined),
        );
      }),
    ),
  );
}

/**
 * The best type first. `EC2` is for nodes of Auto Mode; with that of Linux no kube-proxy runs on
 * Windows, while that of Windows has all rights of the other.
 */
function entryTypes({ imageFamily }: NodeClass): readonly string[] {
  const windows = 'EC2_WINDOWS';
  return imageFamily.startsWith('Windows') ? [windows] : ['EC2_LINUX', windows];
}

function entryAdvice(
  facts: Facts,
  { imageFamily }: NodeClass,
  role: { readonly name: string; readonly arn: Known<string> },
  hasOther: boolean,
): string {
  const { cluster, region } = facts.asked;
  const own = stackRole(cluster, region);
  if (imageFamily.startsWith('Windows')) {
    return `deploy with -c windowsNodes=true, and name its role in spec.role: ${windowsRole(own)}`;
  }
  if (hasOther) return `the type cannot be changed: name another role in spec.role, such as ${own}`;
  const account = facts.caller.ok ? facts.caller.value.account : 'ACCOUNT';
  const arn = role.arn.ok ? role.arn.value : roleArn(region, account, role.name);
  if (!isDeployed(facts)) return `deploy with -c nodeRole=${arn} -c nodeRoleEntry=true`;
  // The stack's own: CloudFormation has made its entry, and does not look for it again.
  if (role.name === own) {
    return (
      `aws eks create-access-entry --cluster-name ${cluster} --region ${region} ` +
      `--principal-arn ${arn} --type EC2_LINUX`
    );
  }
  // As nodeRole it would take the place of the role that other classes name.
  const others = 'roles that nodeRoles has already have to stay in the list';
  return `deploy with -c nodeRoles=${arn}; ${others}`;
}

function windowsRole(stackRole: string): string {
  return `${stackRole}-windows`;
}

/** As the construct of the node role names it. */
export function stackRole(cluster: string, region: string): string {
  return `JoinerNode-${region}-${shortened(cluster, 28)}`;
}
