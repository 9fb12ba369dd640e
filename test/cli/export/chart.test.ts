import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { chartFiles, writeChart } from '../../../cli/export/chart.ts';
import { crdFiles } from '../../../shared/api/crds/text.ts';

const folder = mkdtempSync(join(tmpdir(), 'joiner-chart-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEPT = {
  'helm.sh/resource-policy': 'keep',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
};

/** The definition without what keeps it. */
function bare(text: string): unknown {
  const { metadata, ...rest } = parse(text);
  const { annotations = {}, ...named } = metadata;
  for (const key of Object.keys(KEPT)) delete annotations[key];
  return { ...rest, metadata: { ...named, annotations } };
}

describe('the chart of the CRDs', () => {
  const files = chartFiles('1.2.3');

  it('has its name and version', () => {
    expect(parse(files[0]?.text ?? '')).toMatchObject({
      apiVersion: 'v2',
      name: 'joiner-crds',
      version: '1.2.3',
    });
  });

  it('has every definition, unchanged, as what neither Helm nor Argo CD nor Flux deletes', () => {
    const templates = files.slice(1);
    expect(templates.map(({ path }) => path)).toEqual(
      [...crdFiles().keys()].map((name) => `templates/${name}`).sort(),
    );
    const texts = new Map([...crdFiles()].map(([name, text]) => [`templates/${name}`, text]));
    for (const { path, text } of templates) {
      expect(parse(text).metadata.annotations).toMatchObject(KEPT);
      expect(bare(text)).toEqual(bare(texts.get(path) ?? ''));
    }
  });

  it('is written anew into its folder', () => {
    writeChart('1.0.0', folder);
    writeChart('1.2.3', folder);
    expect(readdirSync(join(folder, 'joiner-crds')).sort()).toEqual(['Chart.yaml', 'templates']);
  });

  const hasHelm = spawnSync('helm', ['version']).status === 0;
  it.skipIf(!hasHelm)('is rendered by Helm to the same definitions', () => {
    writeChart('1.2.3', folder);
    const chart = join(folder, 'joiner-crds');
    expect(spawnSync('helm', ['lint', chart], { encoding: 'utf8' }).stdout).toContain(
      '0 chart(s) failed',
    );
    const { stdout } = spawnSync('helm', ['template', 'x', chart], { encoding: 'utf8' });
    const rendered = parseAllDocuments(stdout).map((document) => document.toJS());
    const own = files.slice(1).map(({ text }) => parse(text));
    const nameOf = (crd: { metadata: { name: string } }): string => crd.metadata.name;
    const sorted = (list: typeof own) => list.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    expect(sorted(rendered)).toEqual(sorted(own));
  });
});
