import { describe, expect, it } from 'vitest';
import { CONFIG } from './kubeconfig.ts';
import { inFolder, joiner } from './run.ts';

describe('joiner plan', () => {
  it.each([
    ['--kubeconfig @/absent', 'kubeconfig: '],
    ['--kubeconfig @/config --context other', "no cluster for context 'other'"],
    ['--region mars-1', 'us-east-1'],
    ['-o xml', 'table, json, yaml'],
    ['--apply', '--apply'],
  ])('refuses %s', async (line, says) => {
    await inFolder({ config: CONFIG }, async (folder) => {
      const { exitCode, stdout, stderr } = await joiner(
        'plan',
        ...line.replaceAll('@', folder).split(' '),
      );
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain(says);
    });
  });

  it('says that the API server does not answer', async () => {
    await inFolder({ config: CONFIG }, async (folder) => {
      const answer = await joiner('plan', '--kubeconfig', `${folder}/config`);
      expect(answer).toMatchObject({ exitCode: 1, stdout: '' });
      expect(answer.stderr).toMatch(/^error: /);
    });
  });
});

describe('joiner budgets --next', () => {
  it.each(['soon', '0d', '1000d', '-1h', '10s'])('refuses %s', async (time) => {
    const { exitCode, stdout, stderr } = await joiner('budgets', `--next=${time}`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('expected a time such as 7d');
  });
});
