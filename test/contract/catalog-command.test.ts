import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { C7G_LARGE } from '../builders/ec2-types.ts';
import { inFolder, joiner } from '../cli/run.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { poolKey } from '../support/aws/model/account.ts';

const REGION = 'ap-south-1';
const MANIFESTS = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: default }
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
      requirements:
        - { key: kubernetes.io/arch, operator: In, values: [arm64] }
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: default }
spec:
  amiSelectorTerms: [{ alias: al2023@latest }]
  role: nodes
  subnetSelectorTerms: [{ tags: { a: b } }]
  securityGroupSelectorTerms: [{ tags: { a: b } }]
---
apiVersion: v1
kind: Pod
metadata: { name: one }
spec: { containers: [{ name: a, image: a, resources: { requests: { cpu: '1' } } }] }
`;

const cloud = new WireCloud(REGION);

beforeEach(async () => {
  await cloud.start();
  cloud.account.instanceTypes = [C7G_LARGE];
  cloud.account.prices.set(poolKey('c7g.large', `${REGION}b`, 'spot'), 0.03);
  cloud.onDemandPrices.push({ instanceType: 'c7g.large', price: 0.0725 });
  vi.stubEnv('AWS_ENDPOINT_URL', cloud.endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-of-the-test');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await cloud.stop();
});

it('joiner catalog writes what AWS offers, and simulate plans with it', async () => {
  await inFolder({ 'world.yaml': MANIFESTS }, async (folder) => {
    const file = join(folder, 'catalog.json.gz');
    const written = await joiner('catalog', '--region', REGION, '-o', file);
    expect(written).toMatchObject({ exitCode: 0 });
    expect(written.stdout).toBe(
      `${REGION}: 1 instance types in 3 zones, 1 with an on-demand price, 1 with spot prices\n` +
        `written to ${file}\n`,
    );
    expect((await readFile(file)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    const world = join(folder, 'world.yaml');
    const args = ['simulate', world, '--bare', '--duration', '5m', '-o', 'json'];
    const run = await joiner(...args, '--catalog', file);
    expect(run.exitCode).toBe(0);
    const { region, nodeClaims } = JSON.parse(run.stdout);
    expect(region).toBe(REGION);
    expect(nodeClaims).toMatchObject([{ instanceType: 'c7g.large', zone: `${REGION}b` }]);
    const other = await joiner(...args, '--catalog', file, '--region', 'us-east-1');
    expect(other).toMatchObject({ exitCode: 2, stdout: '' });
    expect(other.stderr).toContain(`is of ${REGION}, and us-east-1 is asked for`);
    const none = await joiner(...args, '--region', REGION);
    expect(none).toMatchObject({ exitCode: 2, stdout: '' });
    expect(none.stderr).toContain(`joiner catalog --region ${REGION} -o FILE`);
    const wrong = await joiner(...args, '--catalog', world);
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
    expect(wrong.stderr).toContain('is no catalog as joiner catalog writes it');
  });
});

it('amounts of a region in China are shown in yuan', async () => {
  await cloud.stop();
  const china = new WireCloud('cn-north-1');
  await china.start();
  vi.stubEnv('AWS_ENDPOINT_URL', china.endpoint);
  china.account.instanceTypes = [C7G_LARGE];
  china.onDemandPrices.push({ instanceType: 'c7g.large', price: 0.6421 });
  try {
    await inFolder({ 'world.yaml': MANIFESTS }, async (folder) => {
      const file = join(folder, 'catalog.json.gz');
      await joiner('catalog', '--region', 'cn-north-1', '-o', file);
      const args = ['simulate', join(folder, 'world.yaml'), '--bare', '--duration', '5m'];
      const { exitCode, stdout } = await joiner(...args, '--catalog', file);
      expect(exitCode).toBe(0);
      expect(stdout).toContain('cost      ¥0.6421/h now');
      expect(stdout).toContain('at ¥0.6421/h for 1 pod');
      expect(stdout).not.toContain('$');
    });
  } finally {
    await china.stop();
  }
});
