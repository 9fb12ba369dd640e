import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { s3Client } from '../../../shared/aws/access.ts';
import { Calls } from '../../../shared/aws/calls.ts';
import { CatalogFile } from '../../../shared/aws/memory/catalog-file.ts';
import { MemoryObjects } from '../../../shared/aws/memory/objects.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { FUNCTION_NAMES } from '../../../shared/contract.ts';
import { CheckedAccount } from '../../support/aws/checked-account.ts';
import { NODE_CLASS, NODE_POOL } from '../manifests.ts';
import { inFolder, joiner } from '../run.ts';

const HOUR_MS = 3_600_000;
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };

let aws = new CheckedAccount();
let endpoint = '';

beforeEach(async () => {
  aws = new CheckedAccount();
  endpoint = await aws.start();
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', KEYS.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', KEYS.secretAccessKey);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  aws.cluster = {
    name: 'demo',
    version: '1.33',
    status: 'ACTIVE',
    // Nobody answers there: what the API server says is tried in test/e2e/doctor.test.ts.
    endpoint: 'https://127.0.0.1:1',
    certificateAuthority: { data: 'Q0E=' },
    accessConfig: { authenticationMode: 'API' },
    resourcesVpcConfig: {
      vpcId: 'vpc-1',
      subnetIds: ['subnet-0000000000000000a', 'subnet-0000000000000000b'],
      clusterSecurityGroupId: 'sg-0000000000000000c',
      endpointPublicAccess: true,
      publicAccessCidrs: ['0.0.0.0/0'],
    },
  };
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await aws.stop();
});

const ENDPOINTS = [
  ['ec2', 'Interface', 'Available', true],
  ['ssm', 'Interface', 'Pending', true],
  ['eks', 'Interface', 'Available', false],
  ['s3', 'Gateway', 'Available', false],
] as const;

interface Check {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly advice?: string;
}

async function doctor(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await joiner(
    'doctor',
    '--cluster',
    'demo',
    '-o',
    'json',
    ...args,
  );
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] };
  const of = (check: string): readonly Check[] => checks.filter((each) => each.check === check);
  return { exitCode, stderr, checks, of, one: (check: string) => of(check)[0] };
}

/** The functions of a stack that acts. */
const WHOLE = FUNCTION_NAMES.filter((name) => name !== 'shadow');

describe('joiner doctor over the wire', () => {
  it('finds an account and a cluster without a stack good enough', async () => {
    const { exitCode, stderr, one, checks } = await doctor();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(one('credentials')?.message).toBe(
      'arn:aws:iam::111122223333:user/engineer in account 111122223333',
    );
    expect(one('cluster')?.message).toBe('demo is ACTIVE');
    expect(one('quota on-demand')?.message).toBe('1152 vCPUs of standard instances');
    expect(one('quota rules')?.message).toBe('20 of 300 rules of the default event bus');
    expect(one('stack')?.status).toBe('WARN');
    expect(one('kubernetes')).toMatchObject({ status: 'WARN' });
    expect(checks.filter(({ check }) => check.startsWith('reach '))).toHaveLength(10);
  });

  it("takes the account's own quotas before the defaults, and counts all pages of rules", async () => {
    aws.quotas.set('L-34B43A08', 0);
    aws.quotas.set('L-244521F2', 120);
    aws.rules = 115;
    const { exitCode, one } = await doctor();
    expect(one('quota spot')).toMatchObject({
      status: 'WARN',
      message: '0 vCPUs of standard instances',
    });
    expect(one('quota rules')?.message).toMatch(/^115 of 120 rules .*needs 13 more$/);
    expect(exitCode).toBe(1);
  });

  it('tells that the cluster is not there', async () => {
    aws.cluster = undefined;
    const { exitCode, one } = await doctor();
    expect(one('cluster')).toMatchObject({ status: 'FAIL' });
    expect(exitCode).toBe(1);
  });

  it('goes on where it may not look', async () => {
    for (const service of ['lambda', 'servicequotas', 'iam', 'events']) aws.denied.add(service);
    const { exitCode, one } = await doctor();
    expect(exitCode).toBe(0);
    for (const check of ['quota lambda', 'quota spot', 'quota rules', 'spot role', 'stack']) {
      expect(one(check)).toMatchObject({ status: 'WARN', advice: 'ask somebody who may read it' });
    }
    expect(one('quota lambda')?.message).toBe('not checked: AccessDeniedException: not for you');
  });

  it('follows the selectors of manifests, and knows who may join', async () => {
    aws.account.subnets = ['a', 'b'].map((letter) => ({
      SubnetId: `subnet-0000000000000000${letter}`,
      AvailabilityZone: `us-east-1${letter}`,
      AvailableIpAddressCount: 100,
      Tags: [{ Key: 'team', Value: 'web' }],
    }));
    aws.accessEntries = ['admin', 'ci', 'node-role'].map((name) => ({
      principalArn: `arn:aws:iam::111122223333:role/${name}`,
      type: name === 'node-role' ? 'EC2_LINUX' : 'STANDARD',
    }));
    aws.roles.clear();
    const files = { 'all.yaml': `${NODE_CLASS}---\n${NODE_POOL}` };
    const answer = await inFolder(files, (folder) => doctor('-f', folder));
    expect(answer.one('subnets')?.message).toBe(
      'of the EC2NodeClass default: 2 in 2 zones with 200 free addresses',
    );
    expect(answer.one('security groups')).toMatchObject({ status: 'FAIL' });
    expect(answer.one('node role')).toMatchObject({ status: 'OK' });
    expect(answer.one('spot role')?.status).not.toBe('OK');
    expect(answer.exitCode).toBe(1);
  });

  it('finds the role of a class in its instance profile', async () => {
    aws.profiles.profiles.set('nodes', { name: 'nodes', path: '/', tags: [], roles: ['hidden'] });
    const files = { 'class.yaml': NODE_CLASS.replace('role: node-role', 'instanceProfile: nodes') };
    const { one } = await inFolder(files, (folder) => doctor('-f', folder));
    expect(one('node role')).toMatchObject({ status: 'FAIL' });
    expect(one('node role')?.message).toContain('hidden of the EC2NodeClass default');
  });

  it('sees the ways out of a private network, by endpoints and by routes', async () => {
    const vpc = aws.cluster?.resourcesVpcConfig;
    if (vpc !== undefined) vpc.endpointPublicAccess = false;
    aws.endpoints = ENDPOINTS.map(([name, type, state, dns]) => ({
      ServiceName: `com.amazonaws.us-east-1.${name}`,
      VpcEndpointType: type,
      State: state,
      PrivateDnsEnabled: dns,
    }));
    const everywhere = { DestinationCidrBlock: '0.0.0.0/0', State: 'active' } as const;
    aws.routeTables = [
      {
        Associations: [{ SubnetId: 'subnet-0000000000000000a', Main: false }],
        Routes: [{ ...everywhere, NatGatewayId: 'nat-1' }],
      },
      { Associations: [{ Main: true }], Routes: [{ ...everywhere, GatewayId: 'igw-1' }] },
    ];
    const { one } = await doctor();
    expect(one('way to ec2')).toMatchObject({ status: 'OK' });
    expect(one('way to s3')).toMatchObject({ status: 'OK' });
    expect(one('way to eks')?.message).toContain('has no private DNS');
    expect(one('way to ssm')).toMatchObject({ status: 'WARN' });
    expect(one('way to iam')?.message).toContain('no route out of subnet-0000000000000000b');
    const other = await doctor('--subnets', 'subnet-0000000000000000a');
    expect(other.one('way to iam')).toMatchObject({ status: 'OK' });
  });

  it('reads what is deployed, and how old its prices are', async () => {
    aws.deploy('demo', WHOLE.slice(1));
    const none = await doctor();
    expect(none.one('stack')?.message).toBe('9 functions of version 0.1.0');
    expect(none.one('prices')?.message).toContain('no catalog in the bucket');
    const access = { region: 'us-east-1', credentials: KEYS, functionName: 'test', endpoint };
    const objects = new MemoryObjects({
      s3: s3Client(access),
      bucket: 'joiner-demo',
      calls: new Calls(),
      report: () => {},
    });
    const file = new CatalogFile(objects, { region: 'us-east-1', cluster: 'other' });
    const catalog = await loadCatalog('us-east-1');
    await file.write({ catalog, atMs: Date.now() - 3 * HOUR_MS });
    expect((await doctor()).one('prices')).toMatchObject({
      status: 'OK',
      message: 'read 3 hours ago',
    });
  });

  it('sees who the functions are in the cluster, and an installer that has kept its access', async () => {
    const policy = 'arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy';
    aws.deploy('demo', WHOLE);
    expect((await doctor()).one('identities')).toMatchObject({
      status: 'OK',
      message: '8 functions with groups of their own',
    });
    aws.accessPolicies.set('arn:aws:iam::111122223333:role/joiner-demo-install', [policy]);
    aws.accessEntries = aws.accessEntries.slice(1);
    const { of, exitCode } = await doctor();
    const said = of('identities');
    expect(said.map(({ status }) => status)).toEqual(['FAIL', 'WARN']);
    expect(said[0]?.message).toBe('watch is in no group, not in joiner:watch');
    expect(exitCode).toBe(1);
  });

  it('asks for nothing that docs/deploy.md does not say it takes, and for all of that', async () => {
    const vpc = aws.cluster?.resourcesVpcConfig;
    if (vpc !== undefined) vpc.endpointPublicAccess = false;
    aws.accessEntries = [{ principalArn: 'arn:aws:iam::1:role/hidden', type: 'EC2_LINUX' }];
    aws.profiles.profiles.set('nodes', { name: 'nodes', path: '/', tags: [], roles: ['hidden'] });
    const files = { 'class.yaml': NODE_CLASS.replace('role: node-role', 'instanceProfile: nodes') };
    await inFolder(files, (folder) => doctor('-f', folder));
    aws.deploy('demo', ['provision']);
    await doctor();
    aws.bucket.objects.set('shared/us-east-1/catalog/demo.json', Buffer.from(''));
    await doctor();
    const calls = aws.wire.calls.map(({ service, operation }) => `${service}:${operation}`);
    const renamed = { 's3:ListObjectsV2': 's3:ListBucket' } as Readonly<Record<string, string>>;
    const made = new Set([...calls, ...aws.plainCalls].map((each) => renamed[each] ?? each));
    const text = readFileSync(join(import.meta.dirname, '../../../docs/deploy.md'), 'utf8');
    const [, said = ''] = /together need these permissions:\n([\s\S]*?)\n\n/.exec(text) ?? [];
    const documented = [...said.matchAll(/`(\w+:\w+)`/g)].map(([, action]) => action);
    expect([...made].sort()).toEqual([...documented].sort());
  });

  it('says where functions run that are in the VPC', async () => {
    const VpcConfig = { SubnetIds: ['subnet-0000000000000000a'] };
    aws.deploy('demo', ['provision', 'lifecycle'], { VpcConfig });
    const { one } = await doctor();
    expect(one('endpoint')?.message).toContain('has no private endpoint');
    expect(one('way to ec2')?.message).toContain('no route out of subnet-0000000000000000a');
    expect(one('stack')?.message).toContain(
      'missing: disrupt, interrupt, nodeclass, catalog, install',
    );
  });
});

describe('joiner doctor', () => {
  it('prints a line for each check, what to do below it, and what nobody checked', async () => {
    aws.concurrency = { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 };
    const { exitCode, stdout } = await joiner('doctor', '--cluster', 'demo');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^OK {4}cluster +demo is ACTIVE$/m);
    expect(stdout).toMatch(/^WARN {2}quota lambda +10 of 10 .*\n +→ aws service-quotas request/m);
    expect(stdout).toMatch(/^\d+ ok, \d+ to look at, 0 to change$/m);
    expect(stdout).toContain('not checked: EC2 Fleet');
  });

  it.each([
    ['doctor', "required option '--cluster <name>' not specified"],
    ['doctor --cluster a/b --region eu-west-1', '--cluster a/b: expected the name'],
    ['doctor --cluster demo --region Ireland', '--region Ireland: expected the name of a region'],
    ['doctor --cluster demo --subnets vpc-1', '--subnets vpc-1: expected an id such as subnet-'],
    ['doctor --cluster demo -f @/absent', '@/absent: no such file or folder'],
    ['doctor --cluster demo -f @/bad.yaml', 'spec.amiSelectorTerms'],
    ['doctor --cluster demo --var x', '--var x: expected NAME=VALUE'],
    ['doctor --cluster demo -o xml', 'text, json'],
  ])('refuses %s', async (line, says) => {
    const files = { 'bad.yaml': NODE_CLASS.replace('alias: al2023@latest', 'alias: 7') };
    const { answer, expected } = await inFolder(files, async (folder) => ({
      answer: await joiner(...line.split(' ').map((each) => each.replace('@', folder))),
      expected: says.replace('@', folder),
    }));
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
    expect(answer.stderr).toContain(expected);
  });

  it('asks for a region where the environment has none', async () => {
    vi.stubEnv('AWS_REGION', undefined);
    vi.stubEnv('AWS_DEFAULT_REGION', undefined);
    const { exitCode, stderr } = await joiner('doctor', '--cluster', 'demo');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('give --region, or set AWS_REGION');
  });
});

it('docs/private-clusters.md names every service that is tried', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/private-clusters.md'), 'utf8');
  for (const service of [
    'eks',
    'ec2',
    'sts',
    'ssm',
    's3',
    'sqs',
    'events',
    'pricing',
    'iam',
    'logs',
  ])
    expect(text).toMatch(new RegExp(`\\b${service}\\b`));
});
