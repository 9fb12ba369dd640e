import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inFolder, joiner } from '../run.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-01-01T00:00:00Z');

function record(id: string, hours: number, detail: object): string {
  const object = `NodeClaim/${id}`;
  const atMs = START_MS + hours * HOUR_MS;
  const base = { id, atMs, useCase: 'provision', object, action: 'create', reasons: [] };
  return `${JSON.stringify({ ...base, message: `why ${id}`, detail })}\n`;
}

const FILES = {
  'decisions.ndjson':
    record('web-a', 0, { nodePool: 'web' }) +
    record('web-b', 9.5, { nodePool: 'web' }) +
    record('api-c', 10, { nodePool: 'api' }),
};

async function listed(folder: string, ...args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await joiner('decisions', '--dir', folder, ...args);
  return stdout.split('\n').flatMap((line) => /NodeClaim\/(\S+)/.exec(line)?.[1] ?? []);
}

describe('joiner decisions --dir', () => {
  it('lists the last hour of a folder, of the object that is asked about', async () => {
    await inFolder(FILES, async (folder) => {
      expect(await listed(folder)).toEqual(['web-b', 'api-c']);
      expect(await listed(folder, '--since', '1d')).toEqual(['web-a', 'web-b', 'api-c']);
      expect(await listed(folder, '--since', '1d', '--nodepool', 'web')).toEqual([
        'web-a',
        'web-b',
      ]);
    });
  });

  it('warns of records that cannot be read, and lists the others', async () => {
    await inFolder(FILES, async (folder) => {
      writeFileSync(join(folder, 'cut.ndjson'), '{"id":');
      const { stdout, stderr, exitCode } = await joiner('decisions', '--dir', folder);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 0,
        stderr: `warning: ${join(folder, 'cut.ndjson')}: 1 of its records cannot be read\n`,
      });
      expect(stdout).toContain('NodeClaim/api-c');
    });
  });

  it('names a file that is damaged, and lists the others', async () => {
    await inFolder(FILES, async (folder) => {
      const file = join(folder, 'broken.ndjson.gz');
      writeFileSync(file, Buffer.from([0x1f, 0x8b, 0x00, 0x00]));
      const { stdout, stderr, exitCode } = await joiner('decisions', '--dir', folder);
      expect(exitCode).toBe(0);
      expect(stderr).toMatch(/^warning: \S+broken\.ndjson\.gz: .+\n$/);
      expect(stdout).toContain('NodeClaim/api-c');
    });
  });

  it.each([
    [['-f'], '--follow: a folder does not change; give a cluster'],
    [['--cluster', 'demo'], '--cluster: give either --dir or a cluster'],
    [['--bucket', 'b', '--region', 'us-east-1'], '--region: give either --dir or a cluster'],
  ])('refuses %j beside it', async (args, said) => {
    await inFolder(FILES, async (folder) => {
      const { stderr, exitCode } = await joiner('decisions', '--dir', folder, ...args);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`error: ${said}`);
    });
  });

  it('or a cluster has to be given', async () => {
    const { stderr, exitCode } = await joiner('decisions');
    expect({ stderr, exitCode }).toEqual({
      stderr: 'error: give --dir or --cluster\n',
      exitCode: 2,
    });
  });
});
