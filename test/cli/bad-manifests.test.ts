import { describe, expect, it } from 'vitest';
import { POD } from './manifests.ts';
import { CLASSES } from './refused/node-classes.ts';
import { POOLS } from './refused/node-pools.ts';
import { REST } from './refused/other-kinds.ts';
import { OVERLAYS } from './refused/overlays.ts';
import { type Kind, WORLD } from './refused/row.ts';
import { inFolder, joiner } from './run.ts';

function filesWith(kind: Kind, text: string): Readonly<Record<string, string>> {
  const changed = Object.entries({ ...WORLD, [kind]: text });
  return Object.fromEntries(changed.map(([name, each]) => [`${name}.yaml`, each]));
}

describe('manifests that are refused', () => {
  it('the manifests that the rows change are accepted as they are', async () => {
    const answer = await inFolder(filesWith('Pod', POD), (folder) =>
      joiner('simulate', folder, '--duration', '1m'),
    );
    expect(answer).toMatchObject({ exitCode: 0 });
  });

  it.each([...OVERLAYS, ...POOLS, ...CLASSES, ...REST])('$kind: $what', async (each) => {
    const { kind, from, to, says } = each;
    expect(WORLD[kind]).toContain(from);
    const files = filesWith(kind, WORLD[kind].replace(from, to));
    const answer = await inFolder(files, (folder) =>
      joiner('simulate', folder, '--duration', '1m'),
    );
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
    const lines = answer.stderr.split('\n').filter((line) => line.includes(says));
    expect(lines, answer.stderr).not.toHaveLength(0);
    const text = files[`${kind}.yaml`] ?? '';
    const { line, path } = placeIn(lines[0] ?? '', kind, nameIn(text));
    // A field that is missing is told at the line of what should hold it.
    const here = text.split('\n')[line - 1] ?? '';
    const segments = path.split(/[.[\]:]+/).filter((each) => each !== '');
    const isAt = segments.some((each) => here.includes(each)) || here.trim().startsWith('-');
    expect(isAt || line === 1, `${line}: ${here} for ${path}`).toBe(true);
    if (segments[0] === 'spec') expect(line).toBeGreaterThan(1);
    expect(answer.stderr).not.toMatch(/ {4}at /);
  });
});

function nameIn(text: string): string {
  return /^metadata:\n {2}name: (\S+)/m.exec(text)?.[1] ?? '?';
}

/** Line and field of an error that names the file and the object. */
function placeIn(error: string, kind: string, name: string) {
  const object = `[\\w?]+/${name.replace('?', '\\?')}`;
  const pattern = new RegExp(`^error: \\S+/${kind}\\.yaml:(\\d+): ${object}: (\\S*)`);
  expect(error).toMatch(pattern);
  const [, line, path = ''] = pattern.exec(error) ?? [];
  return { line: Number(line), path };
}
