import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@cdktf/hcl2json';
import { describe, expect, it } from 'vitest';
import { OUTPUTS } from '../../infra/constructs/outputs.ts';
import { stackNameOf } from '../../infra/joiner-stack.ts';
import { synthesise } from './synthesis.ts';

const folder = join(import.meta.dirname, '../../infra/terraform');
const texts = readdirSync(folder)
  .filter((name) => name.endsWith('.tf'))
  .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);

/** All blocks of a kind, by name. */
async function blocks(kind: string): Promise<ReadonlyMap<string, Record<string, unknown>>> {
  const found = new Map<string, Record<string, unknown>>();
  for (const [name, text] of texts) {
    const parsed: Record<string, Record<string, readonly Record<string, unknown>[]>> = await parse(
      name,
      text,
    );
    for (const [key, [block]] of Object.entries(parsed[kind] ?? {})) {
      if (block !== undefined) found.set(key, block);
    }
  }
  return found;
}

describe('the Terraform module', () => {
  it('hands on every output of the stack, and no other', async () => {
    const outputs = await blocks('output');
    const values = [...outputs.values()].map(({ value }) => String(value));
    const names = values.map((value) => /outputs(?:\[|, )"(\w+)"/.exec(value)?.[1]);
    expect(names.toSorted()).toEqual(Object.keys(OUTPUTS).sort());
    expect([...outputs.keys()]).toContain('node_role_arn');
  });

  it('fails at no output that a template does not have, such as the queue with shadow', async () => {
    const joiner = { cluster: 'demo', shadow: true, dashboard: false };
    const always = Object.keys(synthesise(joiner).template.findOutputs('*'));
    for (const { value } of (await blocks('output')).values()) {
      const [, indexed] = /outputs\["(\w+)"\]/.exec(String(value)) ?? [];
      if (indexed !== undefined) expect(always).toContain(indexed);
      else expect(value).toMatch(/lookup\(.*, null\)/);
    }
  });

  it('names the stack as the app does: the same but where a name has underscores', async () => {
    const names = ['demo', 'prod-eu', 'prod_eu', 'prod_eu-1', 'prod-eu_1'].map(stackNameOf);
    expect(names.slice(0, 3)).toEqual(['joiner-demo', 'joiner-prod-eu', 'joiner-prod-eu-c0dc854d']);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-zA-Z][a-zA-Z0-9-]*$/.test(name))).toEqual([]);
    const [, main = ''] = texts.find(([name]) => name === 'main.tf') ?? [];
    for (const line of [
      'hyphened = replace(var.cluster_name, "_", "-")',
      'checksum = substr(sha256(var.cluster_name), 0, 8)',
      'suffix   = local.hyphened == var.cluster_name ? "" : "-$' + '{local.checksum}"',
      'name         = "joiner-$' + '{local.hyphened}$' + '{local.suffix}"',
    ]) {
      expect(main).toContain(`  ${line}\n`);
    }
  });

  it('describes every variable, and uses all that there are', async () => {
    const variables = await blocks('variable');
    const all = texts.map(([, text]) => text).join('\n');
    const used = new Set([...all.matchAll(/\bvar\.(\w+)/g)].map(([, name]) => name));
    expect([...variables.keys()].sort()).toEqual([...used].sort());
    for (const { description } of variables.values()) expect(description).toMatch(/\.$/);
  });

  it('lets CloudFormation make roles of the names that the template gives them', async () => {
    const [, main = ''] = texts.find(([name]) => name === 'main.tf') ?? [];
    const { resource } = await parse('main.tf', main);
    const [stack] = resource.aws_cloudformation_stack.joiner;
    expect(stack.capabilities).toEqual(['CAPABILITY_NAMED_IAM']);
  });
});
