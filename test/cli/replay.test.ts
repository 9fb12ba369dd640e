import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DEPLOYMENT, NODE_CLASS, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

/** Six pods, of which five go after five minutes. */
const WORLD = {
  'manifests/class.yaml': NODE_CLASS,
  'manifests/pool.yaml': NODE_POOL,
  'manifests/pods.yaml': DEPLOYMENT.replace(/replicas: \d+/, 'replicas: 6'),
  'scenario.yaml': 'steps:\n  - at: 5m\n    scale: { name: web, replicas: 1 }\n',
};

async function recorded<Value>(
  work: (files: readonly string[]) => Promise<Value>,
  ...options: readonly string[]
) {
  return await inFolder(WORLD, async (folder) => {
    const out = join(folder, 'run');
    const { exitCode } = await joiner(
      'simulate',
      join(folder, 'manifests'),
      '--scenario',
      join(folder, 'scenario.yaml'),
      '--duration',
      '10m',
      '--record',
      out,
      ...options,
    );
    expect(exitCode).toBe(0);
    const snapshots = join(out, 'snapshots');
    const names = readdirSync(snapshots).sort();
    return await work(names.map((name) => join(snapshots, name)));
  });
}

describe('joiner replay', () => {
  it('decides the same again, byte for byte, whether compressed or not', async () => {
    await recorded(async (files) => {
      expect(files.some((file) => file.includes('/provision-'))).toBe(true);
      for (const file of files) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)));
      const all = [...files, ...files.map((file) => `${file}.gz`)];
      const { exitCode, stdout, stderr } = await joiner('replay', ...all);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      const lines = stdout.trimEnd().split('\n');
      expect(lines).toHaveLength(all.length);
      for (const line of lines)
        expect(line).toMatch(/by Joiner \d.*: the same, \d+ bytes, in \d+ ms$/);
    });
  });

  it('decides by the effort of the simulation, and by the normal one of older recordings', async () => {
    const work = async ([file = '']: readonly string[]) => {
      const folder = join(file, '..');
      const name = readdirSync(folder).find((each) => each.startsWith('provision-'));
      const path = join(folder, name ?? '');
      const recording = JSON.parse(readFileSync(path, 'utf8'));
      expect(recording.settings.effort).toBe('quick');
      delete recording.settings.effort;
      writeFileSync(path, JSON.stringify(recording));
      const { exitCode, stdout } = await joiner('replay', path);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/: the same, /);
    };
    await recorded(work, '--effort', 'quick');
  });

  it('says where another answer differs, and exits 1', async () => {
    await recorded(async ([file = '']) => {
      const path = files(file);
      const recording = JSON.parse(readFileSync(path, 'utf8'));
      recording.answer.newNodeClaims[0].chosen.type = 'm9.huge';
      writeFileSync(path, JSON.stringify(recording));
      const { exitCode, stdout } = await joiner('replay', path);
      expect(exitCode).toBe(1);
      expect(stdout).toContain(': ANOTHER RESULT\n  newNodeClaims[0].chosen.type: "m9.huge" → "');
      const json = await joiner('replay', path, '-o', 'json');
      expect(json.exitCode).toBe(1);
      expect(JSON.parse(json.stdout)).toMatchObject({
        recordings: [
          {
            useCase: 'provision',
            same: false,
            differences: [{ path: 'newNodeClaims[0].chosen.type', recorded: '"m9.huge"' }],
          },
        ],
      });
    });

    function files(file: string): string {
      const folder = join(file, '..');
      const name = readdirSync(folder).find((each) => each.startsWith('provision-'));
      return join(folder, name ?? '');
    }
  });

  it('changes its answer with what it is decided on', async () => {
    await recorded(async (all) => {
      const file = all.find((each) => each.includes('/provision-')) ?? '';
      const recording = JSON.parse(readFileSync(file, 'utf8'));
      for (const list of recording.snapshot.typeLists) list.splice(0, 1);
      recording.snapshot.pods = recording.snapshot.pods.slice(1);
      writeFileSync(file, JSON.stringify(recording));
      expect((await joiner('replay', file)).exitCode).toBe(1);
    });
  });

  it.each([
    ['no recording', '{"format": 3}', ': not a recording of Joiner'],
    ['of a layout to come', '{"format": 4, "snapshot": {}}', ': not a recording of Joiner'],
    ['null', 'null', ': not a recording of Joiner'],
    ['no JSON', 'kind: Pod', ': not a recording of Joiner: it is not JSON; recordings are in'],
    [
      'cut off',
      '{"format": 3, "snapshot": {"pods": [',
      ': not a recording of Joiner: it is not JSON',
    ],
    [
      'empty inside',
      '{"format": 3, "useCase": "provision", "snapshot": {}}',
      ': the decision cannot be repeated',
    ],
  ])('refuses what is %s', async (_, text, says) => {
    await inFolder({ 'a.json': text, 'b.json': text }, async (folder) => {
      const { exitCode, stdout, stderr } = await joiner(
        'replay',
        join(folder, 'a.json'),
        join(folder, 'b.json'),
        join(folder, 'none.json'),
      );
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain(`a.json${says}`);
      expect(stderr).toContain(`b.json${says}`);
      expect(stderr).toContain('none.json: no such file');
    });
  });

  it('names a recording of a folder that is given instead', async () => {
    await recorded(async ([file = '']) => {
      const { exitCode, stderr } = await joiner('replay', dirname(file));
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`${dirname(file)}: is a folder; expected a recording: name files`);
      expect(stderr).toContain(`such as ${dirname(file)}/`);
    });
  });

  it('refuses a file that was cut while it was compressed', async () => {
    const whole = gzipSync('{}');
    expect(gunzipSync(whole).toString()).toBe('{}');
    await inFolder({}, async (folder) => {
      const file = join(folder, 'a.json.gz');
      writeFileSync(file, whole.subarray(0, 12));
      const { exitCode, stderr } = await joiner('replay', file);
      expect(exitCode).toBe(2);
      expect(stderr).toContain('a.json.gz: ');
    });
  });
});
