import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { loadManifests } from '../../cli/simulate/load.ts';
import { readSettings } from '../../cli/simulate/settings-file.ts';
import { isJson, type Json, textAt } from '../../shared/sim/json.ts';
import { decodeScenario } from '../../shared/sim/scenario.ts';
import { NODE_CLASS, NODE_POOL } from '../cli/manifests.ts';
import { inFolder } from '../cli/run.ts';
import { type Block, blocksIn, blocksOf, PAGES, placeOf } from './pages.ts';

/**
 * YAML and JSON in the pages. A block of YAML is read as `joiner simulate` reads manifests. The word
 * after `yaml` says what else it is:
 * - the kind of an object, of which the block is a part: it is put into a whole one;
 * - `scenario` or `settings`: a file for that option of `joiner simulate`;
 * - `other`: a file of another program, which only has to be YAML.
 */

const BASES: Readonly<Record<string, string>> = {
  NodePool: NODE_POOL,
  EC2NodeClass: NODE_CLASS,
  NodeOverlay: `apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata:
  name: default
spec:
  requirements: []
`,
  Deployment: `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels: { app: web }
  template:
    metadata:
      labels: { app: web }
    spec:
      containers: [{ name: web, image: example.com/web }]
`,
};

/** The first over the second; lists are taken whole. */
function merged(over: Json, base: Json): Json {
  const both = Object.entries(over).map(([key, value]) => {
    const below = base[key];
    return [key, isJson(value) && isJson(below) ? merged(value, below) : value] as const;
  });
  return { ...base, ...Object.fromEntries(both) };
}

/** Classes that pools of the text name and that are not in it. */
function missingClasses(objects: readonly Json[]): readonly string[] {
  const own = objects.filter((each) => each['kind'] === 'EC2NodeClass');
  const there = own.map((each) => textAt(each, 'metadata', 'name'));
  const named = objects.map((each) =>
    textAt(each, 'spec', 'template', 'spec', 'nodeClassRef', 'name'),
  );
  return [...new Set(named)]
    .filter((name) => name !== undefined && !there.includes(name))
    .map((name) => NODE_CLASS.replace('name: default', `name: ${name}`));
}

/** Loads manifests as `joiner simulate` does; errors are thrown, notes returned. */
async function loaded(text: string): Promise<readonly Json[]> {
  const objects = parseAllDocuments(text).map((each): Json => Object(each.toJS()));
  const files = { 'manifests.yaml': [text, ...missingClasses(objects)].join('\n---\n') };
  return inFolder(files, async (folder) =>
    loadManifests([join(folder, 'manifests.yaml')], 'us-east-1', new Map(), () => {}),
  );
}

async function check({ marks: [mark], text }: Block): Promise<void> {
  const base = BASES[mark ?? ''];
  if (base !== undefined) {
    await loaded(stringify(merged(parse(text), parse(base))));
  } else if (mark === 'other') {
    expect(parseAllDocuments(text).flatMap(({ errors }) => errors)).toEqual([]);
  } else if (mark === 'settings') {
    await inFolder({ 'settings.yaml': text }, async (folder) =>
      readSettings(join(folder, 'settings.yaml')),
    );
  } else if (mark === 'scenario' || /^(#.*\n)*steps:/.test(text)) {
    expect(decodeScenario(parse(text))).toMatchObject({ ok: true });
  } else {
    expect(mark).toBeUndefined();
    expect(await loaded(text)).not.toHaveLength(0);
  }
}

describe('manifests in the pages', () => {
  const blocks = blocksIn('yaml').map((block) => ({ place: placeOf(block), block }));

  it('are some', () => expect(blocks.length).toBeGreaterThan(10));

  it.each(blocks)('$place is read', async ({ block }) => check(block));

  it.each(blocksIn('json').map((block) => ({ place: placeOf(block), block })))(
    '$place is JSON',
    ({ block }) => expect(() => JSON.parse(block.text)).not.toThrow(),
  );

  it('of a part of an object every field is checked', async () => {
    const block = { file: '', line: 0, language: 'yaml', text: 'spec:\n  wieght: 3\n' };
    await expect(check({ ...block, marks: ['NodePool'] })).rejects.toThrow('wieght');
  });

  it('every block has a language that is checked, or is text', () => {
    const known = new Set(['sh', 'json', 'yaml', 'ts', 'hcl', 'text', 'mermaid']);
    const others = PAGES.flatMap(blocksOf).filter(({ language }) => !known.has(language));
    expect(others.map(placeOf)).toEqual([]);
  });
});
