import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/command-list.ts';
import { CONFIG } from './kubeconfig.ts';
import { inFolder, joiner } from './run.ts';
import { POOL_AND_CLASS } from './usage/row.ts';

/** Commands without a format: what they write is a file or a folder, or they are a server. */
const WITHOUT = ['catalog', 'template', 'export', 'schema', 'mcp', 'completion'];

/** Formats besides json and yaml; the first of all is the default. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  compare: ['table'],
  plan: ['table'],
  diagnose: ['table'],
  top: ['table', 'wide', 'name'],
  decisions: ['text', 'wide'],
  budgets: ['table', 'name'],
  bars: ['text', 'name'],
  crds: ['name'],
  convert: [],
  cost: ['text', 'markdown'],
  solve: [],
};

describe('the option -o', () => {
  it.each(COMMANDS.map(({ name, load }) => [name, load] as const))('of %s', async (name, load) => {
    const option = (await load()).options.find(({ short }) => short === '-o');
    if (WITHOUT.includes(name)) return expect(option?.argChoices).toBeUndefined();
    const { description, argChoices = [], long, defaultValue } = option ?? {};
    expect([long, description, defaultValue]).toEqual(['--output', 'output format', argChoices[0]]);
    const others = argChoices.filter((each) => each !== 'json' && each !== 'yaml');
    expect(others).toEqual(FORMATS[name] ?? ['text']);
    expect(argChoices).toEqual(expect.arrayContaining(['json', 'yaml']));
  });

  it('prints names as kubectl does', async () => {
    const { stdout } = await joiner('crds', '-o', 'name');
    expect(stdout.split('\n')).toContain(
      'customresourcedefinition.apiextensions.k8s.io/nodepools.karpenter.sh',
    );
  });

  it('prints a simulation as YAML', async () => {
    const files = { 'world.yaml': POOL_AND_CLASS };
    const run = (format: string) =>
      inFolder(files, (folder) => joiner('simulate', folder, '--duration', '1m', '-o', format));
    const [json, yaml] = [await run('json'), await run('yaml')];
    const { parse } = await import('yaml');
    const one = JSON.parse(json.stdout) as { nodePools: object };
    const other = parse(yaml.stdout) as { nodePools: object };
    expect(other.nodePools).toEqual(one.nodePools);
  });

  it('of names does not go with --watch', async () => {
    const { exitCode, stderr } = await inFolder({ config: CONFIG }, (folder) =>
      joiner('top', '--kubeconfig', `${folder}/config`, '-w', '-o', 'name'),
    );
    expect([exitCode, stderr]).toEqual([2, 'error: --watch: not with -o name\n']);
  });
});
