import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { callMoto, motoEnvironment, REGION, startMoto } from './moto.ts';

/**
 * Deploys, updates and destroys the stack with the plain CDK command line against moto, an emulator
 * of AWS in Python (pip install 'moto[server]'). Opt-in: nothing else needs Python.
 *
 * What moto has not, and is therefore not tried here: policies of buckets and queues, access
 * entries, event-invoke settings, metric filters and alarms are skipped with a warning; custom
 * resources are taken as done without a run of their function, and one that depends on what an
 * update removes is dropped; code does not run. `test/infra` asserts the template's part of these,
 * `test/e2e/install.test.ts` runs the installer. docs/decisions/0033-deployed-against-an-emulator.md
 */

const ROOT = join(import.meta.dirname, '..');
const ACCOUNT = '123456789012';
const STACK = 'joiner-demo';

async function main(more: readonly string[]): Promise<void> {
  const moto = await startMoto();
  const { url } = moto;
  try {
    await bootstrap(url);
    cdk(url, ['deploy', '--require-approval', 'never', ...more]);
    const deployed = await resources(url);
    report('deployed', deployed);
    expect(deployed.get('AWS::Lambda::Function') === 8, 'eight functions');
    expect(deployed.get('AWS::Events::Rule') === 18, 'eighteen rules');
    const nodes = await nodeRoles(url);
    expect(nodes.length === 1, 'one node role');
    // moto loses change sets of stacks that exist, and defaults of parameters.
    const direct = ['--method', 'direct', '--no-previous-parameters'];
    const update = ['deploy', '--require-approval', 'never', ...direct];
    cdk(url, [...update, '-c', 'reaction=tick', ...more]);
    const updated = await resources(url);
    report('updated to reaction=tick', updated);
    expect(updated.get('AWS::Lambda::Function') === 7, 'no watch any more');
    const role = `arn:aws:iam::${ACCOUNT}:role/other`;
    cdk(url, [...update, '-c', 'reaction=tick', '-c', `nodeRole=${role}`, ...more]);
    expect(isSame(await nodeRoles(url), nodes), 'the node role is left to the nodes that have it');
    cdk(url, ['destroy', '--force', ...more]);
    const left = await resources(url);
    report('destroyed', left);
    expect(left.size === 0, 'nothing left in the stack');
    expect(isSame(await nodeRoles(url), nodes), 'the node role is left to the nodes that have it');
  } finally {
    moto.stop();
  }
}

function expect(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`expected: ${what}`);
}

function report(title: string, types: ReadonlyMap<string, number>): void {
  const counts = [...types].map(([type, count]) => `${type} ${count}`);
  process.stdout.write(`${title}: ${counts.join(', ') || 'no resources'}\n`);
}

function cdk(url: string, args: readonly string[]): void {
  const context = ['-c', 'cluster=demo', '-c', `region=${REGION}`, '--no-notices'];
  const { status } = spawnSync('cdk', [...args, ...context], {
    cwd: ROOT,
    env: motoEnvironment(url),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error(`cdk ${args[0]} ended with ${status}`);
}

/** What the CDK expects of an account: a bucket for assets and the version of the bootstrap. */
async function bootstrap(url: string): Promise<void> {
  await callMoto(`${url}/cdk-hnb659fds-assets-${ACCOUNT}-${REGION}`, 's3', {
    method: 'PUT',
    body: `<CreateBucketConfiguration><LocationConstraint>${REGION}</LocationConstraint></CreateBucketConfiguration>`,
  });
  await callMoto(url, 'ssm', {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'AmazonSSM.PutParameter',
    },
    body: JSON.stringify({
      Name: '/cdk-bootstrap/hnb659fds/version',
      Value: '30',
      Type: 'String',
    }),
  });
}

/** How many resources of each type the stack has; none when there is no stack. */
async function resources(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await callMoto(url, 'cloudformation', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      Action: 'DescribeStackResources',
      Version: '2010-05-15',
      StackName: STACK,
    }).toString(),
  });
  const types = new Map<string, number>();
  for (const [, type = ''] of text.matchAll(/<ResourceType>([^<]*)<\/ResourceType>/g)) {
    types.set(type, (types.get(type) ?? 0) + 1);
  }
  return types;
}

/** Names of the node roles of the account. */
async function nodeRoles(url: string): Promise<readonly string[]> {
  const text = await callMoto(url, 'iam', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ Action: 'ListRoles', Version: '2010-05-08' }).toString(),
  });
  const names = [...text.matchAll(/<RoleName>([^<]*)<\/RoleName>/g)].map(([, name = '']) => name);
  return names.filter((name) => name.startsWith('JoinerNode-'));
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
