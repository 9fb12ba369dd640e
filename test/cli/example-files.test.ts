import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadManifests } from '../../cli/simulate/load.ts';
import { decodeCase } from '../../shared/api/case/decode.ts';
import { decodeScenario } from '../../shared/sim/scenario.ts';
import { root, textOf, tracked } from '../support/repository.ts';

describe('examples', () => {
  const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  const filesOf = (folder: string): readonly string[] =>
    tracked.filter((file) => file.startsWith(`examples/${folder}/`));
  const load = (files: readonly string[]) =>
    loadManifests(
      files.map((file) => join(root, file)),
      'us-east-1',
      new Map(),
      () => {},
    );
  const manifests = (folder: string): readonly string[] =>
    filesOf(folder).filter(
      (file) => /\.ya?ml$/.test(file) && !/(\.refused|\/scenario)\./.test(file),
    );
  const refused = tracked.filter((file) => file.endsWith('.refused.yaml'));
  const scenarios = tracked.filter((file) => /\/scenario\.ya?ml$/.test(file));

  const cases = tracked.filter((file) => /^examples\/.*\/case\.json$/.test(file));
  const withManifests = examples.filter((folder) => manifests(folder).length > 0);

  it.each(examples)('%s is named in the list and explained', (folder) => {
    expect(textOf('examples/README.md')).toContain(`(${folder})`);
    expect(filesOf(folder)).toContain(`examples/${folder}/README.md`);
  });

  it.each(cases)('%s is read', (file) => {
    const decoded = decodeCase(JSON.parse(textOf(file)));
    expect(decoded).toMatchObject({ ok: true, value: { rejected: {} } });
  });

  it.each(withManifests)('every file of %s loads', (folder) => {
    const isCluster = /\/(nodeclass|nodepool)[^/]*\.yaml$/;
    const all = manifests(folder);
    const cluster = all.filter((file) => isCluster.test(file));
    expect(load(cluster)).not.toHaveLength(0);
    for (const file of all) expect(load([...new Set([...cluster, file])])).not.toHaveLength(0);
  });

  it.each(refused)('%s is refused', (file) => {
    expect(() => load([file])).toThrow();
  });

  it.each(scenarios)('%s is read', (file) => {
    expect(decodeScenario(parse(textOf(file)))).toMatchObject({ ok: true });
  });
});
