import { join } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { synthesise } from './synthesis.ts';
import { VARIANTS, type Variant } from './variants.ts';

/** Hashes of what is applied and of the stand-in code say nothing about the stack. */
function legible(template: object): string {
  return `${JSON.stringify(template, undefined, 2)
    .replaceAll(/"Fingerprint": "[0-9a-f]{16}"/g, '"Fingerprint": "…"')
    // The installer's role and entry are new ones for each version of what it applies.
    .replaceAll(/(?<=Role|Access)[0-9a-f]{16}[0-9A-F]{8}/g, '…')
    .replaceAll(/(JoinerInstall-[^"]*)-[0-9a-f]{8}/g, '$1-…')
    .replaceAll(/(-demo)-[0-9a-f]{8}(\/\*)?"/g, '$1-…$2"')
    .replaceAll(/"JOINER_VERSION": "[^"]*"/g, '"JOINER_VERSION": "…"')
    .replaceAll(/[0-9a-f]{64}\.zip/g, '….zip')}\n`;
}

const variants = Object.entries<Variant>(VARIANTS);

describe.each(variants)('the stack, %s', (name, { joiner, env }) => {
  it('passes the rules of AWS Solutions and has the template that was reviewed', async () => {
    const { template } = synthesise(joiner, { rules: true, ...(env === undefined ? {} : { env }) });
    const file = join(import.meta.dirname, 'golden', `${name}.json`);
    await expect(legible(template.toJSON())).toMatchFileSnapshot(file);
  });
});

it('fails the synthesis where a rule is broken', () => {
  const broken = (): void => {
    synthesise({ cluster: 'demo' }, { rules: true, change: breakTls });
  };
  expect(broken).toThrow(/validation/i);
});

function breakTls(stack: Stack): void {
  new Queue(stack, 'Open', { enforceSSL: false });
}
