import { describe, expect, it } from 'vitest';
import { decodePauses, encodePause } from '../../shared/api/pauses.ts';
import { CONFIG } from './kubeconfig.ts';
import { inFolder, joiner } from './run.ts';

describe.each(['pause', 'resume'])('joiner %s', (command) => {
  it.each([
    ['everything', 'all, launch, disrupt, terminate'],
    ['all launch', 'too many arguments'],
    ['disrupt --kubeconfig @/absent', 'kubeconfig: '],
    ['disrupt --kubeconfig @/config --context other', "no cluster for context 'other'"],
    ['disrupt -o xml', 'text, json, yaml'],
    ['disrupt --forever', '--forever'],
  ])('refuses %s', async (line, says) => {
    await inFolder({ config: CONFIG }, async (folder) => {
      const args = line.replaceAll('@', folder).split(' ');
      const { exitCode, stdout, stderr } = await joiner(command, ...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain(says);
    });
  });

  it('says that the API server does not answer', async () => {
    await inFolder({ config: CONFIG }, async (folder) => {
      const answer = await joiner(command, 'all', '--kubeconfig', `${folder}/config`);
      expect(answer).toMatchObject({ exitCode: 1, stdout: '' });
      expect(answer.stderr).toContain('error: ');
    });
  });
});

it('joiner pause has to be told what to pause', async () => {
  const { exitCode, stdout, stderr } = await joiner('pause');
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain("missing required argument 'scope'");
});

describe('joiner pause --for', () => {
  it.each(['0s', 'long', '-1h', '0d', '10000d', '99999999h'])('refuses %s', async (time) => {
    const { exitCode, stderr } = await joiner('pause', 'launch', `--for=${time}`);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('expected a time such as');
  });
});

describe('a pause', () => {
  it.each([undefined, Date.UTC(2026, 0, 2)])('is read as it was written: %s', (untilMs) => {
    const data = Object.fromEntries([encodePause('disrupt', untilMs)]);
    expect(decodePauses({ data })).toEqual({ disrupt: untilMs ?? Number.POSITIVE_INFINITY });
  });

  it.each(['1', 'incident 42', 'until 5', '1h', 'yes', '2026-13-01T00:00:00Z'])(
    'that has no time for its end has none: %s',
    (value) => {
      const data = { 'pause.launch': value };
      expect(decodePauses({ data })).toEqual({ launch: Number.POSITIVE_INFINITY });
    },
  );
});
