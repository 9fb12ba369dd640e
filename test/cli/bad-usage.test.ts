import { describe, expect, it } from 'vitest';
import { NODE_OVERLAY, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';
import { CASES } from './usage/cases.ts';
import { CONVERT } from './usage/convert.ts';
import { FILES } from './usage/files.ts';
import { MEANT } from './usage/meant.ts';
import { OPTIONS } from './usage/options.ts';

describe('usage and files that are refused', () => {
  it.each([...FILES, ...OPTIONS, ...CASES, ...CONVERT, ...MEANT])(
    '$what: $line',
    async ({ files, line, says }) => {
      const { answer, expected } = await inFolder(files, async (folder) => {
        const args = line.split(' ').map((each) => each.replace('@', folder));
        const texts = says.map((each) => each.replaceAll('@', folder));
        return { answer: await joiner(...args), expected: texts };
      });
      expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
      const lines = answer.stderr.split('\n');
      const found = lines.filter((each) => expected.every((text) => each.includes(text)));
      expect(found, answer.stderr).not.toHaveLength(0);
      expect(answer.stderr).toMatch(/^error: /);
      expect(answer.stderr).not.toMatch(/ {4}at /);
    },
  );

  it('tells every problem of options and files at once', async () => {
    const files = {
      'a.yaml': NODE_OVERLAY.replace('weight: 10', 'weight: 0').replace('"+10%"', '"10%"'),
      'b.yaml': NODE_POOL,
    };
    const { exitCode, stderr } = await inFolder(files, (folder) =>
      joiner('simulate', folder, '--seed', 'x', '--var', 'y', '--duration', 'z'),
    );
    expect(exitCode).toBe(2);
    const fields = ['--seed x', '--var y', '--duration z', 'spec.weight', 'spec.priceAdjustment'];
    for (const field of [...fields, 'nodeClassRef.name']) expect(stderr).toContain(field);
    expect(stderr.trim().split('\n')).toHaveLength(6);
  });
});

describe('commands that are fine', () => {
  it.each([
    ['--help', 'Usage: joiner'],
    ['--version', '0.'],
    ['simulate --help', '--scenario'],
    ['crds', 'kind: CustomResourceDefinition'],
  ])('%s', async (line, says) => {
    const { exitCode, stdout, stderr } = await joiner(...line.split(' '));
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain(says);
  });
});
