import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inFolder, joiner } from './run.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/scenarios.md'), 'utf8');

/** Blocks of YAML by the names of the files that their first lines give. */
const FILES = Object.fromEntries(
  [...PAGE.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = '', text = '']) => [
    name,
    text,
  ]),
);
const SCENARIOS = Object.keys(FILES).filter((name) => FILES[name]?.startsWith('steps:') === true);

const spaced = (text: string): string => text.replaceAll(/ +/g, ' ').trim();

/** Lines of output that the page quotes after a scenario and before the next one. */
function quoted(scenario: string): readonly string[] {
  const next = SCENARIOS[SCENARIOS.indexOf(scenario) + 1];
  const end = next === undefined ? PAGE.length : PAGE.indexOf(`# ${next}\n`);
  const part = PAGE.slice(PAGE.indexOf(`# ${scenario}\n`), end);
  const [, text = ''] = /^```text\n([\s\S]*?)^```$/m.exec(part) ?? [];
  return text.split('\n').filter((line) => line !== '');
}

/** Half an hour of a cluster, on a machine that may be busy. */
const TIMEOUT_MS = 120_000;

/** What the page's command prints with one of its scenarios. */
function ran(scenario: string) {
  return inFolder(FILES, (folder) => {
    const files = [join(folder, 'world.yaml'), '--scenario', join(folder, scenario)];
    return joiner('simulate', ...files, '--duration', '30m', '-v');
  });
}

describe('docs/scenarios.md', () => {
  it('names a file in every block, and has an example for every verb', () => {
    expect(PAGE.match(/^```yaml$/gm)).toHaveLength(Object.keys(FILES).length);
    const verbs = [...PAGE.matchAll(/^\| `(\w+)` \|/gm)].map(([, verb = '']) => verb);
    expect(verbs).toHaveLength(9);
    const steps = SCENARIOS.map((name) => FILES[name]).join('\n');
    for (const verb of verbs) expect(steps).toContain(`    ${verb}:`);
  });

  it('is named by the help and the README', async () => {
    expect((await joiner('simulate', '--help')).stdout).toContain('scenarios.html');
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
    expect(readme).toContain('(docs/scenarios.md)');
  });

  it.each(SCENARIOS)(
    '%s runs, does all it says, and prints what is quoted',
    async (scenario) => {
      const { exitCode, stdout, stderr } = await ran(scenario);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).not.toContain('Not done');
      const output = spaced(stdout);
      const lines = quoted(scenario);
      expect(lines.length > 0).toBe(scenario.includes('rollout'));
      for (const line of lines) expect(output).toContain(spaced(line));
    },
    TIMEOUT_MS,
  );
});
