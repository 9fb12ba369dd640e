import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/repository.ts';
import { blocksIn, placeOf } from './pages.ts';

/** What apps of their own have around the lines that pages show. */
const AROUND = `
declare global {
  const stack: import('aws-cdk-lib').Stack;
  const cluster: string;
  const alarmTopic: import('aws-cdk-lib/aws-sns').ITopic;
  const engineers: import('aws-cdk-lib/aws-iam').IGrantable;
}
export {};
`;

describe('TypeScript in the pages', () => {
  const blocks = blocksIn('ts');
  const folder = join(root, '.cache/docs-ts');

  it(`compiles: ${blocks.map(placeOf).join(', ')}`, () => {
    expect(blocks.length).toBeGreaterThan(1);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'around.ts'), AROUND);
    for (const [at, { text }] of blocks.entries()) {
      writeFileSync(join(folder, `block-${at}.ts`), text);
    }
    const compilerOptions = {
      paths: { 'eks-joiner': ['../../infra/index.ts'] },
      types: ['node'],
      noUnusedLocals: false,
    };
    const config = { extends: '../../tsconfig.base.json', compilerOptions, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });
});
