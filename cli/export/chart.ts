import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { crdFiles } from '../../shared/api/crds/text.ts';

/** Helm keeps what has it when the chart is uninstalled or stops having it. */
const KEEP = { 'helm.sh/resource-policy': 'keep' };

/** Argo CD neither prunes nor deletes what has it. */
const NO_PRUNE = { 'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false' };

/** Flux does not collect what has it. */
const NO_COLLECTION = { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' };

/** One file of a chart, relative to its folder. */
export interface ChartFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The definition with its annotations: with it every NodeClaim would go, and every node that Joiner
 * has launched.
 */
function kept(text: string): string {
  const document = parseDocument(text);
  for (const [key, value] of Object.entries({ ...KEEP, ...NO_PRUNE, ...NO_COLLECTION })) {
    document.setIn(['metadata', 'annotations', key], value);
  }
  return document.toString({ lineWidth: 0 });
}

/**
 * The chart `joiner-crds` for clusters whose CRDs are kept by Helm or GitOps (`installCrds: false`).
 * They are templates and not in `crds/`, which Helm never upgrades.
 */
export function chartFiles(version: string): readonly ChartFile[] {
  const chart = {
    apiVersion: 'v2',
    name: 'joiner-crds',
    description:
      'CustomResourceDefinitions of Joiner, a serverless node provisioner for Amazon EKS',
    type: 'application',
    version,
    appVersion: version,
  };
  const templates = [...crdFiles()]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, definition]): ChartFile => {
      const text = kept(definition);
      if (text.includes('{{')) throw new Error(`${name} has braces, which Helm takes for its own`);
      return { path: `templates/${name}`, text };
    });
  return [{ path: 'Chart.yaml', text: stringify(chart) }, ...templates];
}

/** Writes the chart into `joiner-crds` below the folder; other files there stay. Its own files. */
export function writeChart(version: string, folder: string): readonly string[] {
  const chart = join(folder, 'joiner-crds');
  return chartFiles(version).map(({ path, text }) => {
    const file = join(chart, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  });
}
