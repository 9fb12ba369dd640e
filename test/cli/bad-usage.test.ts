import { describe, expect, it } from 'vitest';
import { aCase, NODE_CLASS, NODE_OVERLAY, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOL_AND_CLASS = `${NODE_POOL}---\n${NODE_CLASS}`;
const GOOD = { 'good/world.yaml': `${POOL_AND_CLASS}---\n${NODE_OVERLAY}` };

function caseWith(change: (each: Record<string, unknown>) => void): string {
  const changed = aCase();
  change(changed);
  return JSON.stringify(changed);
}

function first(object: Record<string, unknown>, field: string): Record<string, unknown> {
  return (object[field] as Record<string, unknown>[])[0] ?? {};
}

interface Row {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  /** `@` stands for the folder of the files. */
  readonly line: string;
  /** Each is found in one line of the errors. */
  readonly says: readonly string[];
}

function row(
  what: string,
  files: Readonly<Record<string, string>>,
  line: string,
  ...says: readonly string[]
): Row {
  return { what, files, line, says };
}

const FILES: readonly Row[] = [
  row(
    'a path that is not there',
    {},
    'simulate @/none.yaml',
    '@/none.yaml: no such file or folder',
  ),
  row('a folder with nothing in it', { 'empty/readme.txt': '' }, 'simulate @/empty', '@/empty'),
  row('no path', {}, 'simulate', 'give at least one file or folder of manifests'),
  row('broken YAML', { 'a.yaml': 'kind: NodePool\nspec: [1, 2\n' }, 'simulate @', '@/a.yaml:3:1: '),
  row('a tab', { 'a.yaml': 'kind: NodePool\nspec:\n\tweight: 1\n' }, 'simulate @', '@/a.yaml:3:'),
  row('a key given twice', { 'a.yaml': 'kind: A\nkind: B\n' }, 'simulate @', '@/a.yaml:2:1: '),
  row('broken JSON', { 'a.json': '{"kind": ' }, 'simulate @', '@/a.json:1:'),
  row(
    'a document that is no object',
    { 'a.yaml': 'just words\n' },
    'simulate @',
    '@/a.yaml:1: a Kubernetes object is expected',
  ),
  row(
    'bytes that are no text',
    { 'a.yaml': 'kind: \0' },
    'simulate @',
    '@/a.yaml: is not a text file',
  ),
  row(
    'an unset variable',
    { 'a.yaml': `\n${POOL_AND_CLASS.replace('general', '$' + '{NAME}')}` },
    'simulate @',
    '@/a.yaml:5: $',
    '{NAME} is not set; give it as --var NAME=VALUE',
  ),
  row(
    'the same object in one file',
    { 'a.yaml': `${POOL_AND_CLASS}---\n${NODE_POOL}` },
    'simulate @',
    'NodePool/general: the same object is also in @/a.yaml:1',
  ),
  row(
    'the same object in two files',
    { 'a.yaml': POOL_AND_CLASS, 'b.yaml': NODE_CLASS },
    'simulate @',
    '@/b.yaml:1: EC2NodeClass/default: the same object is also in @/a.yaml:',
  ),
  row(
    'the second document',
    { 'a.yaml': `${NODE_CLASS}---\n${NODE_POOL.replace('weight: 10', 'weight: 0')}` },
    'simulate @',
    '@/a.yaml:26: NodePool/general: spec.weight must be at least 1, not 0',
  ),
];

const SCENARIO = 'simulate @/good --scenario @/s.yaml';
const OPTIONS: readonly Row[] = [
  row(
    'a duration that is none',
    GOOD,
    'simulate @/good --duration soon',
    '--duration soon: expected a time',
  ),
  row('a seed that is none', GOOD, 'simulate @/good --seed x', '--seed x: expected a whole number'),
  row(
    'a variable without a value',
    GOOD,
    'simulate @/good --var NAME',
    '--var NAME: expected NAME=VALUE',
  ),
  row(
    'a region without a catalog',
    GOOD,
    'simulate @/good --region mars-1',
    "'mars-1' is invalid",
    'us-east-1, us-west-2',
  ),
  row('an unknown output', GOOD, 'simulate @/good -o xml', "'xml' is invalid", 'text, json'),
  row('an unknown option', GOOD, 'simulate @/good --fast', "unknown option '--fast'"),
  row('an unknown command', {}, 'simulat', "unknown command 'simulat'"),
  row('no scenario file', GOOD, SCENARIO, '@/s.yaml'),
  row('a scenario that is no YAML', { ...GOOD, 's.yaml': 'steps: [' }, SCENARIO, '@/s.yaml:1:'),
  row(
    'an unknown step',
    { ...GOOD, 's.yaml': 'steps: [{at: 1m, explode: true}]' },
    SCENARIO,
    '@/s.yaml: steps[0]',
    'explode',
  ),
  row(
    'a time that is none',
    { ...GOOD, 's.yaml': 'steps: [{at: noon, interrupt: {}}]' },
    SCENARIO,
    '@/s.yaml: steps[0].at must be a time',
  ),
  row(
    'a step that does nothing',
    { ...GOOD, 's.yaml': 'steps: [{at: 1m}]' },
    SCENARIO,
    'a step needs something to do',
  ),
  row(
    'a price below 0',
    {
      ...GOOD,
      's.yaml':
        'steps: [{at: 1m, price: {instanceType: m6i.large, capacityType: spot, price: -1}}]',
    },
    SCENARIO,
    'steps[0].price.price',
  ),
  row(
    'a manifest of a scenario that is not there',
    { ...GOOD, 's.yaml': 'steps: [{at: 1m, apply: [none.yaml]}]' },
    SCENARIO,
    '@/none.yaml: no such file or folder',
  ),
  row(
    'a bad object in a scenario',
    {
      ...GOOD,
      's.yaml': 'steps: [{at: 1m, apply: [a.yaml]}]',
      'a.yaml': NODE_OVERLAY.replace('weight: 10', 'weight: 0'),
    },
    SCENARIO,
    '@/a.yaml:1: NodeOverlay/dearer: spec.weight must be at least 1, not 0',
  ),
  row(
    'an unknown output of the CRDs',
    {},
    'crds -o xml',
    '--output must be yaml or json, not "xml"',
  ),
];

const CASES: readonly Row[] = [
  row('no case', {}, 'solve', "missing required argument 'case.json'"),
  row('a case that is not there', {}, 'solve @/none.json', '@/none.json: no such file'),
  row('a folder as case', {}, 'solve @', '@: is a folder'),
  row(
    'a case that is no JSON',
    { 'c.json': '{\n "name": oops\n}' },
    'solve @/c.json',
    '@/c.json:2:10: is not JSON',
  ),
  row('NaN', { 'c.json': '{"pods": NaN}' }, 'solve @/c.json', '@/c.json:1:10: is not JSON'),
  row('a list as case', { 'c.json': '[]' }, 'solve @/c.json', 'must be an object, not []'),
  row(
    'an unknown field',
    { 'c.json': caseWith((each) => Object.assign(each, { pod: [] })) },
    'solve @/c.json',
    '@/c.json: pod is not a known field; valid: name',
  ),
  row(
    'an unknown option',
    { 'c.json': caseWith((each) => Object.assign(each, { options: { fast: true } })) },
    'solve @/c.json',
    'options.fast is not a known field; valid: preferencePolicy',
  ),
  row(
    'an unknown policy',
    {
      'c.json': caseWith((each) => Object.assign(each, { options: { preferencePolicy: 'Maybe' } })),
    },
    'solve @/c.json',
    'options.preferencePolicy must be one of Respect, Ignore, not "Maybe"',
  ),
  row(
    'no pods',
    { 'c.json': caseWith((each) => delete each['pods']) },
    'solve @/c.json',
    'pods is required',
  ),
  row(
    'a price as text',
    {
      'c.json': caseWith((each) =>
        Object.assign(first(first(each, 'instanceTypes'), 'offerings'), { price: '1' }),
      ),
    },
    'solve @/c.json',
    'instanceTypes[0].offerings[0].price must be a number of at least 0, not "1"',
  ),
  row(
    'a negative price',
    {
      'c.json': caseWith((each) =>
        Object.assign(first(first(each, 'instanceTypes'), 'offerings'), { price: -1 }),
      ),
    },
    'solve @/c.json',
    'instanceTypes[0].offerings[0].price',
    '-1',
  ),
  row(
    'an unknown capacity type',
    {
      'c.json': caseWith((each) =>
        Object.assign(first(first(each, 'instanceTypes'), 'offerings'), { capacityType: 'free' }),
      ),
    },
    'solve @/c.json',
    'must be one of on-demand, spot, reserved, not "free"',
  ),
  row(
    'a capacity that is none',
    {
      'c.json': caseWith((each) =>
        Object.assign(first(each, 'instanceTypes'), { capacity: { cpu: 'two' } }),
      ),
    },
    'solve @/c.json',
    'instanceTypes[0].capacity.cpu must be a quantity',
  ),
  row(
    'an unknown field of a NodePool',
    { 'c.json': caseWith((each) => Object.assign(first(each, 'nodePools'), { sepc: {} })) },
    'solve @/c.json',
    'nodePools[0].sepc is not a known field',
  ),
  row(
    'two pods of one name',
    { 'c.json': caseWith((each) => (each['pods'] as object[]).push(first(each, 'pods'))) },
    'solve @/c.json',
    'pods[1].metadata.name is the second Pod/web',
  ),
  row(
    'no rounds',
    { 'c.json': caseWith(() => {}) },
    'solve @/c.json --repeat 0',
    "'0' is invalid",
    'from 1 to 1000',
  ),
  row('nothing to diagnose', {}, 'diagnose', 'give manifests with -f, or a case file with --case'),
  row(
    'manifests and a case',
    { ...GOOD, 'c.json': caseWith(() => {}) },
    'diagnose -f @/good --case @/c.json',
    'give either --case or -f, not both',
  ),
  row(
    'an overlay that is not there',
    GOOD,
    'diagnose -f @/good --overlay cheaper',
    '--overlay cheaper: there is none of this name; there are: dearer',
  ),
  row(
    'a NodePool that is not there',
    GOOD,
    'diagnose -f @/good --nodepool web',
    '--nodepool web: there is none of this name; there are: general',
  ),
  row(
    'another thing to diagnose',
    GOOD,
    'diagnose -f @/good --type node',
    "'node' is invalid",
    'instance-type',
  ),
];

describe('usage and files that are refused', () => {
  it.each([...FILES, ...OPTIONS, ...CASES])('$what: $line', async ({ files, line, says }) => {
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
  });

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
