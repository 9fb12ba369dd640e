/**
 * A second opinion on the AWS that tests run against: the product's adapters make the same calls of
 * it and of moto, an emulator of AWS that others wrote (pip install 'moto[server]'), and what they
 * give is compared. Opt-in: nothing else needs Python. Exit code 1: a difference that
 * {@link KNOWN} does not name, or one that it names and that is none any more.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  CreateTagsCommand,
  DescribeImagesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
} from '@aws-sdk/client-ec2';
import { CreateClusterCommand } from '@aws-sdk/client-eks';
import { CreateRoleCommand } from '@aws-sdk/client-iam';
import { type AwsAccess, ec2Client, eksClient, iamClient } from '../shared/aws/access.ts';
import { Calls } from '../shared/aws/calls.ts';
import { sha256 } from '../shared/core/launch/sha256.ts';
import { PortError } from '../shared/ports/fault.ts';
import { aFleet, aNodeClass, anOverride } from '../test/builders/launches.ts';
import { accessTo, adapterAt, adapterOn } from '../test/support/aws/adapter.ts';
import { CLUSTER, WireCloud } from '../test/support/aws/cloud.ts';
import { poolKey } from '../test/support/aws/model/account.ts';
import { startMoto } from './moto.ts';

const TYPE = 'c5.large';
const ROLE = 'nodes';

type Adapter = ReturnType<typeof adapterAt>;

/** What moto has by itself, and the in-process AWS is given: then requests are the same bytes. */
interface Surroundings {
  readonly subnets: readonly {
    readonly id: string;
    readonly zone: string;
    readonly zoneId: string;
  }[];
  readonly securityGroup: string;
  readonly imageId: string;
}

const DISCOVERY = { Key: 'karpenter.sh/discovery', Value: 'demo' };

/** Finds what the emulator's account has, tags it, and adds the node role and the cluster. */
async function surroundingsOf(access: AwsAccess): Promise<Surroundings> {
  const ec2 = ec2Client(access);
  const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({}));
  const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({}));
  const { Images = [] } = await ec2.send(
    new DescribeImagesCommand({ Filters: [{ Name: 'architecture', Values: ['x86_64'] }] }),
  );
  const subnets = Subnets.slice(0, 3).map((each) => ({
    id: each.SubnetId ?? '',
    zone: each.AvailabilityZone ?? '',
    zoneId: each.AvailabilityZoneId ?? '',
  }));
  const securityGroup = SecurityGroups[0]?.GroupId ?? '';
  const ids = [...subnets.map(({ id }) => id), securityGroup];
  await ec2.send(new CreateTagsCommand({ Resources: ids, Tags: [DISCOVERY] }));
  const role = { RoleName: ROLE, AssumeRolePolicyDocument: '{}' };
  const { Role } = await iamClient(access).send(new CreateRoleCommand(role));
  const resourcesVpcConfig = { subnetIds: subnets.map(({ id }) => id) };
  const cluster = { name: CLUSTER, version: '1.33', roleArn: Role?.Arn, resourcesVpcConfig };
  await eksClient(access).send(new CreateClusterCommand(cluster));
  return { subnets, securityGroup, imageId: Images[0]?.ImageId ?? '' };
}

function furnish({ account }: WireCloud, { subnets, securityGroup, imageId }: Surroundings): void {
  account.subnets = subnets.map(({ id, zone, zoneId }) => ({
    SubnetId: id,
    AvailabilityZone: zone,
    AvailabilityZoneId: zoneId,
    AvailableIpAddressCount: 4091,
    Tags: [DISCOVERY],
  }));
  account.securityGroups = [{ GroupId: securityGroup, GroupName: 'default', Tags: [DISCOVERY] }];
  account.images = [{ ImageId: imageId, Architecture: 'x86_64', State: 'available' }];
  for (const { zone } of subnets) {
    for (const market of ['spot', 'on-demand'])
      account.prices.set(poolKey(TYPE, zone, market), 0.1);
  }
}

/** One call of the product; `ids` are of the instances launched before. */
interface Step {
  readonly name: string;
  readonly run: (adapter: Adapter, ids: readonly string[]) => Promise<unknown>;
}

const TERMS = [{ tags: { [DISCOVERY.Key]: DISCOVERY.Value } }];
const UNKNOWN = 'i-0ffffffffffffffff';

function steps({ subnets, securityGroup, imageId }: Surroundings): readonly Step[] {
  const [subnet] = subnets;
  const nodeClass = aNodeClass({}, { securityGroups: [{ id: securityGroup, name: 'default' }] });
  const fleet = (count: number, spot: boolean, changes: { imageId?: string; subnetId?: string }) =>
    aFleet({
      count,
      nodeClass,
      clientToken: sha256(JSON.stringify({ count, spot, changes })),
      ...(spot ? { capacityType: 'spot', strategy: 'price-capacity-optimized' } : {}),
      overrides: [
        anOverride(TYPE, 'a', 1, {
          zone: subnet?.zone ?? '',
          subnetId: subnet?.id ?? '',
          imageId,
          ...changes,
        }),
      ],
    });
  const launch = (name: string, ...args: Parameters<typeof fleet>): Step => ({
    name,
    run: ({ compute }) => compute.launch(fleet(...args)),
  });
  const profile = nodeClass.role === undefined ? nodeClass : { ...nodeClass, role: ROLE };
  return [
    { name: 'subnets by tag', run: ({ network }) => network.subnets(TERMS) },
    { name: 'security groups by tag', run: ({ network }) => network.securityGroups(TERMS) },
    { name: 'no reservation', run: ({ network }) => network.reservations([{ id: 'cr-0' }]) },
    { name: 'instance profile', run: ({ profiles }) => profiles.ensure(profile) },
    { name: 'instance profile again', run: ({ profiles }) => profiles.ensure(profile) },
    launch('two on-demand instances', 2, false, {}),
    launch('the same token again', 2, false, {}),
    launch('a spot instance', 1, true, {}),
    launch('an image that is not there', 1, false, { imageId: 'ami-0ffffffffffffffff' }),
    launch('a subnet that is not there', 1, false, { subnetId: 'subnet-0ffffffffffffffff' }),
    { name: 'what runs', run: ({ compute }) => compute.list() },
    { name: 'by ids', run: ({ compute }, ids) => compute.describe([...ids, UNKNOWN]) },
    { name: 'spot requests', run: ({ compute }, ids) => compute.spotRequests(ids) },
    { name: 'statuses', run: ({ compute }) => compute.statuses() },
    { name: 'a tag', run: ({ compute }, ids) => compute.tag(ids[0] ?? '', { Name: 'node' }) },
    { name: 'a tag of nothing', run: ({ compute }) => compute.tag(UNKNOWN, { Name: 'node' }) },
    {
      name: 'end, with one unknown',
      run: ({ compute }, ids) => compute.terminate([...ids, UNKNOWN]),
    },
    { name: 'end again', run: ({ compute }, ids) => compute.terminate(ids) },
    {
      name: 'templates go',
      run: ({ compute }) => compute.removeLaunchTemplates('default', 'none'),
    },
    { name: 'profile goes', run: ({ profiles }) => profiles.remove(profile) },
    { name: 'profile goes again', run: ({ profiles }) => profiles.remove(profile) },
  ];
}

/** What differs from one launch to the next, and is not compared. */
const PASSING = /^(id|instanceId|launchedAtMs|freeAddresses|message)$/;

/** The answer without it: of tags their keys, lists in one order. */
function comparable(value: unknown, key = ''): unknown {
  if (value === 'pending') return 'running';
  if (key === 'tags' && typeof value === 'object' && value !== null)
    return Object.keys(value).sort();
  if (PASSING.test(key)) return typeof value;
  if (Array.isArray(value)) {
    const texts = value.map((each) => JSON.stringify(comparable(each)));
    return texts.sort().map((each) => JSON.parse(each) as unknown);
  }
  if (typeof value !== 'object' || value === null) return value ?? null;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.sort().map(([name, each]) => [name, comparable(each, name)]));
}

async function outcomes(
  adapter: Adapter,
  surroundings: Surroundings,
): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  const ids = new Set<string>();
  for (const { name, run } of steps(surroundings)) {
    const outcome = await run(adapter, [...ids]).catch((error: unknown) => {
      if (error instanceof PortError) return { kind: error.kind, code: error.code };
      throw error;
    });
    for (const id of JSON.stringify(outcome ?? null).match(/\bi-[0-9a-f]{17}\b/g) ?? [])
      ids.add(id);
    found.set(name, comparable(outcome));
  }
  return found;
}

/** By step: why moto answers otherwise, and which of the two AWS is like. */
const KNOWN: Readonly<Record<string, string>> = {
  'no reservation': 'moto refuses a filter that has no match, EC2 answers an empty list',
  'an image that is not there': 'moto launches it, EC2 says InvalidAMIID.NotFound',
  'a subnet that is not there': 'moto refuses the fleet, EC2 the line of it',
  'what runs': 'moto knows no client token and no tag of the launch template',
  'by ids': 'as above',
  'a tag of nothing': 'moto takes it, EC2 says InvalidInstanceID.NotFound',
};

async function main(): Promise<void> {
  const moto = await startMoto();
  const cloud = new WireCloud();
  await cloud.start();
  try {
    const access = { ...accessTo(cloud), endpoint: moto.url, timeoutMs: 20_000 };
    const surroundings = await surroundingsOf(access);
    furnish(cloud, surroundings);
    const theirs = await outcomes(adapterAt(access, new Calls()), surroundings);
    const ours = await outcomes(adapterOn(cloud), surroundings);
    for (const [name, mine] of ours) report(name, mine, theirs.get(name));
  } finally {
    moto.stop();
    await cloud.stop();
  }
}

function report(name: string, ours: unknown, theirs: unknown): void {
  const why = KNOWN[name];
  const isSame = isDeepStrictEqual(ours, theirs);
  const mark = isSame ? 'same' : why === undefined ? 'DIFFERS' : 'differs as known';
  process.stdout.write(`${mark.padEnd(17)} ${name}${why === undefined ? '' : `: ${why}`}\n`);
  if (isSame === (why === undefined)) return;
  process.exitCode = 1;
  process.stdout.write(`  ours ${JSON.stringify(ours)}\n  moto ${JSON.stringify(theirs)}\n`);
}

await main();
