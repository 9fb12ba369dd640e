import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeCatalogFile } from '../../shared/aws/memory/catalog-file.ts';
import { joiner } from '../cli/run.ts';
import { catalogIn } from '../support/aws/catalogs.ts';
import { root, textOf } from '../support/repository.ts';
import { blocksIn, blocksOf, placeOf } from './pages.ts';
import { commandsIn, joinerWords } from './shell.ts';

/** Commands of the pages that need neither a cluster nor an account, as they are printed there. */

const HERE = 'test/docs/given';
/** What stands in the pages for files that people have, and what is there in its place. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  'my-manifests': [HERE],
  'my-pools': [`${HERE}/nodeclass.yaml`, `${HERE}/nodepools.yaml`],
  'my-application': [`${HERE}/application.yaml`],
  'scenario.yaml': [`${HERE}/scenario.yaml`],
  'old-manifests': ['test/cli/convert/v1beta1/old.yaml'],
  'cluster.yaml': ['test/cli/convert/eksctl/old.yaml'],
  'settings.yaml': [],
  'group.json': ['test/cli/convert/managed-node-groups/old.yaml'],
  'groups.json': ['test/cli/convert/auto-scaling-groups/old.yaml'],
  'template.json': [],
  'CASE.json': ['examples/09-solve/case.json'],
};
/** What a program in front of a pipe prints. */
const PIPED: Readonly<Record<string, string>> = {
  helm: `${HERE}/application.yaml`,
  kustomize: `${HERE}/application.yaml`,
  head: 'examples/09-solve/case.json',
};
const REGION = 'ap-south-1';

const COMPUTES = ['simulate', 'solve', 'diagnose', 'convert', 'crds', 'cost', 'replay'];

function needsNoCluster(words: readonly string[]): boolean {
  const [name = '', ...rest] = words;
  if (rest.some((word) => word.includes('…') && !word.startsWith('RECORDING'))) return false;
  if (COMPUTES.includes(name)) return true;
  if (name === 'explain') return rest.includes('-f');
  return name === 'compare' && rest.some((word) => /[/.]/.test(word) && !word.startsWith('-'));
}

const RUNS = blocksIn('sh')
  .flatMap((block) =>
    commandsIn(block.text).flatMap((command) => {
      const words = joinerWords(command);
      if (words === undefined || !needsNoCluster(words)) return [];
      const piped = command.input?.words[0];
      const line = `${piped === undefined ? '' : `${piped} … | `}joiner ${words.join(' ')}`;
      return [{ file: block.file, place: placeOf(block), line, words, piped }];
    }),
  )
  .filter(({ line }, at, all) => all.findIndex((each) => each.line === line) === at);

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'joiner-docs-'));
  const catalog = await catalogIn(REGION);
  writeFileSync(join(folder, `${REGION}.json.gz`), encodeCatalogFile({ catalog, atMs: 0 }));
  await joiner('simulate', join(root, HERE), '--duration', '5m', '--record', join(folder, 'made'));
  const [recording = ''] = readdirSync(join(folder, 'made/snapshots'));
  cpSync(join(folder, 'made/snapshots', recording), join(folder, 'recording.json'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Files that a page gives by the first lines of its YAML: `# world.yaml`. */
function writeFilesOf(file: string): string {
  const own = join(folder, file);
  mkdirSync(own, { recursive: true });
  for (const { language, text } of blocksOf(file)) {
    const name = language === 'yaml' ? /^# (\S+\.yaml)\n/.exec(text)?.[1] : undefined;
    if (name === undefined) continue;
    mkdirSync(dirname(join(own, name)), { recursive: true });
    writeFileSync(join(own, name), text);
  }
  return own;
}

/** Options whose value is a file or folder that the command writes. */
const WRITES = new Set(['--html', '--record', '--out', '-o']);

/** The words with paths that are there. */
function placed(file: string, words: readonly string[], piped: string | undefined): string[] {
  const own = writeFilesOf(file);
  return words.flatMap((word, at) => {
    if (WRITES.has(words[at - 1] ?? '') && /[./]/.test(word)) return [join(own, 'made', word)];
    const name = word.replace(/\/$/, '');
    const given = GIVEN[name];
    if (given !== undefined) return given.map((each) => join(root, each));
    if (/^RECORDING…?$/.test(name) || /-provision-.*\.json\.gz$/.test(name)) {
      return [join(folder, 'recording.json')];
    }
    if (name === `${REGION}.json.gz`) return [join(folder, name)];
    if (name === '-' && piped !== undefined) return [join(root, PIPED[piped] ?? '')];
    const near = [own, root, join(root, 'examples/06-overlay-design')].map((each) =>
      join(each, name),
    );
    const found = /[/.]/.test(name) ? near.find((each) => existsSync(each)) : undefined;
    return [found ?? word.replace(/^REGION$/, 'us-east-1').replace(/^[NP]$/, '10')];
  });
}

/** A stated line of a summary, with one space between words, and the command that prints it. */
const STATED = [
  {
    page: 'docs/start/quick-start.md',
    line: 'gone 10: 9 Empty, 1 Underutilized; 1 eviction',
    command: ['simulate', 'world.yaml', '--scenario', 'scenario.yaml', '--duration', '1h'],
  },
  ...[
    { line: 'nodes 1: 1 t4g.2xlarge on-demand', duration: '19m' },
    { line: 'nodes 3: 2 t4g.large spot, 1 c8gd.xlarge spot', duration: '2h' },
  ].map(({ line, duration }) => ({
    page: 'docs/tasks/spot.md',
    line,
    command: [
      ...['simulate', 'spot-world.yaml', '--scenario', 'shortage-at-start.yaml'],
      ...['--duration', duration],
    ],
  })),
];

it.each(STATED)('$page states what is printed: $line', async ({ page, line, command }) => {
  expect(textOf(page)).toContain(`\`${line}\``);
  expect(textOf(page)).toContain(`joiner ${command.join(' ')}\n`);
  const own = writeFilesOf(page);
  const { stdout } = await joiner(
    ...command.map((word) => (word.endsWith('.yaml') ? join(own, word) : word)),
  );
  expect(stdout.split('\n').map((each) => each.trim().replace(/ +/g, ' '))).toContain(line);
});

describe('commands of the pages that need no cluster', () => {
  it('are some', () => {
    expect(RUNS.length).toBeGreaterThan(20);
  });

  it.each(RUNS)('$place: $line', async ({ file, words, piped }) => {
    const given = placed(file, words, piped);
    mkdirSync(join(folder, file, 'made'), { recursive: true });
    const { exitCode, stdout, stderr } = await joiner(...given);
    expect({ exitCode, errors: /^error:.*/m.exec(stderr)?.[0] }).toEqual({ exitCode: 0 });
    expect(stdout).not.toBe('');
  });
});
