import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeRelease } from '../infra/release.ts';
import { callMoto, motoEnvironment, REGION, startMoto } from './moto.ts';

/**
 * Validates, plans, applies and destroys the Terraform module with a template of this checkout
 * against moto. Opt-in: it takes Python, `terraform`, and its AWS provider from the registry, or
 * from a folder: `node scripts/run.mjs scripts/terraform-emulated.ts [FOLDER OF PLUGINS]`.
 * docs/decisions/0033-deployed-against-an-emulator.md says what moto does not show.
 */

const BUCKET = 'joiner-releases';
const PREFIX = 'joiner/emulated/';

const PROGRAM = `provider "aws" {
  region                      = "${REGION}"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
  skip_metadata_api_check     = true
}

module "joiner" {
  source       = "${join(import.meta.dirname, '../infra/terraform')}"
  cluster_name = "blue_1"
  template_url = "https://${BUCKET}.s3.${REGION}.amazonaws.com/${PREFIX}template.json"
}

output "node_role_arn" {
  value = module.joiner.node_role_arn
}
`;

async function main(plugins: string | undefined): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-terraform-'));
  const moto = await startMoto();
  try {
    await release(moto.url, folder);
    writeFileSync(join(folder, 'main.tf'), PROGRAM);
    const terraform = (...args: readonly string[]): string => inTerraform(moto.url, folder, args);
    terraform('init', ...(plugins === undefined ? [] : [`-plugin-dir=${plugins}`]));
    terraform('validate');
    expect(terraform('plan'), 'Plan: 1 to add, 0 to change, 0 to destroy.');
    expect(terraform('apply', '-auto-approve'), 'joiner-blue-1-97a219c9');
    expect(terraform('output', 'node_role_arn'), `role/JoinerNode-${REGION}-blue_1`);
    expect(terraform('plan'), 'No changes.');
    expect(terraform('destroy', '-auto-approve'), '1 destroyed.');
  } finally {
    moto.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts the template and the functions' code where the module looks for them. */
async function release(url: string, folder: string): Promise<void> {
  const joiner = { cluster: 'blue_1', region: REGION };
  const out = join(folder, 'release');
  const files = writeRelease({ joiner, bucket: BUCKET, prefix: PREFIX, folder: out });
  await callMoto(`${url}/${BUCKET}`, 's3', {
    method: 'PUT',
    body: `<CreateBucketConfiguration><LocationConstraint>${REGION}</LocationConstraint></CreateBucketConfiguration>`,
  });
  for (const { path } of files) {
    const key = path.startsWith(PREFIX) ? path : `${PREFIX}${path}`;
    const body = readFileSync(join(out, path));
    await callMoto(`${url}/${BUCKET}/${key}`, 's3', { method: 'PUT', body });
  }
}

function inTerraform(url: string, cwd: string, [command = '', ...args]: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('terraform', [command, '-no-color', ...args], {
    cwd,
    env: motoEnvironment(url),
    encoding: 'utf8',
  });
  const [last = ''] = stdout.trim().split('\n').slice(-1);
  process.stdout.write(`terraform ${command}: ${last}\n`);
  if (status !== 0) throw new Error(`terraform ${command} ended with ${status}\n${stderr}`);
  return stdout;
}

function expect(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`expected "${part}" in\n${text}`);
}

await main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
