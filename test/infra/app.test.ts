import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FUNCTION_NAMES, OPTIONAL_FUNCTIONS } from '../../shared/contract.ts';

const ROOT = join(import.meta.dirname, '../..');
const output = mkdtempSync(join(tmpdir(), 'joiner-app-'));
afterAll(() => rmSync(output, { recursive: true, force: true }));

/** `cdk synth` as a new user types it, with no credentials and no region anywhere. */
function synth(...context: readonly string[]) {
  const env = {
    PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
    HOME: output,
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  };
  const args = ['synth', '--quiet', '--no-notices', '--output', join(output, 'cdk.out')];
  const flags = context.flatMap((each) => ['-c', each]);
  return spawnSync('cdk', [...args, ...flags], { cwd: ROOT, env, encoding: 'utf8' });
}

describe('cdk synth', () => {
  it.each([
    [[], 'cluster is undefined, but has to be the name of an EKS cluster'],
    [['cluster=a b'], 'cluster is "a b", but has to be the name of an EKS cluster'],
    [['cluster=demo', 'reaction=poll'], "reaction is \"poll\", but has to be 'watch' or 'tick'"],
    [['cluster=demo', 'endpoint=private'], 'subnets is undefined, but has to be given'],
    [['clusters='], 'clusters: cluster is "", but has to be the name of an EKS cluster'],
    [['clusters=blue,blue'], 'clusters has blue twice'],
    [
      ['cluster=demo', 'memorySize=512'],
      'memorySize is not a prop of Joiner (did you mean memorySizes?)',
    ],
    [
      ['cluster=demo', 'endpont=private'],
      'endpont is not a prop of Joiner (did you mean endpoint?)',
    ],
    [
      ['cluster=demo', 'clusters=demo'],
      'cluster is given, but has no meaning together with cluste',
    ],
    [['clusters=demo', 'region=us-gov-west-1'], 'region is "us-gov-west-1", but has to be'],
  ])('with %j says what is wrong and how to call it', (context, message) => {
    const { status, stderr } = synth(...context);
    expect(status).not.toBe(0);
    expect(stderr).toContain(message);
    expect(stderr).toContain('usage: cdk deploy -c cluster=NAME');
    expect(stderr).not.toMatch(/^\s+at .*\.ts:/m);
  });

  it('makes a dashboard across clusters', () => {
    const { status, stderr } = synth('clusters=blue,green', 'region=eu-west-1');
    expect(stderr).not.toContain('Error');
    expect(status).toBe(0);
    const template = readFileSync(join(output, 'cdk.out/joiner-clusters.template.json'), 'utf8');
    expect(template).toContain('blue');
    expect(template).toContain('green');
  });

  it('makes the stack of a cluster with its real functions', () => {
    const { status, stderr } = synth('cluster=demo');
    expect(stderr).not.toContain('Error');
    expect(stderr).not.toContain('feature flags are not configured');
    expect(status).toBe(0);
    const assets = readFileSync(join(output, 'cdk.out/joiner-demo.assets.json'), 'utf8');
    const packaged = assets.match(/"packaging": "zip"/g) ?? [];
    expect(packaged).toHaveLength(FUNCTION_NAMES.length - OPTIONAL_FUNCTIONS.size);
  });
}, 120_000);
