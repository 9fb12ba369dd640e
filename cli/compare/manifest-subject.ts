import type { Command } from 'commander';
import { type Json, textAt } from '../../shared/sim/json.ts';
import { BadInput, Problems } from '../bad-input.ts';
import type { ClusterOptions } from '../connect.ts';
import { type OfflineCatalogOptions, offlineCatalog } from '../offline-catalog.ts';
import { BARE, inEksCluster } from '../simulate/eks-cluster.ts';
import { loadManifests } from '../simulate/load.ts';
import { reservationNotes } from '../simulate/remarks.ts';
import { readSettings } from '../simulate/settings-file.ts';
import { unknownValueNotes } from '../simulate/unknown-values.ts';
import { collect, variablesOf } from '../simulate/variables.ts';
import { writeErr } from '../terminal.ts';
import { appliedManifests, type Subject } from './subject.ts';

/** Which manifests, and what they are planned by. */
export interface ManifestOptions extends OfflineCatalogOptions, ClusterOptions {
  readonly var: readonly string[];
  readonly bare?: boolean;
  readonly settings?: string;
}

/** The command with options for {@link ManifestOptions}. */
export function withManifestOptions(command: Command): Command {
  return command
    .option('--var <name=value>', 'the value of a variable in the manifests', collect, [])
    .option(...BARE)
    .option('--settings <file>', 'settings for manifests, as in joiner simulate');
}

/** Throws where options are given that mean something for manifests only. */
export function refuseManifestOptions(options: ManifestOptions): void {
  const faults = [
    ...(options.var.length > 0 ? ['--var: there is no manifest to put it in'] : []),
    ...(options.bare === true ? ['--bare: a cluster has what it has'] : []),
    ...(options.settings === undefined
      ? []
      : ['--settings: a cluster states what its stack decides by']),
  ];
  if (faults.length > 0) throw new BadInput(faults);
}

function note(line: string): void {
  writeErr(`joiner: ${line}\n`);
}

/** The manifests at the paths; notes go to stderr. */
export async function manifestSubject(
  paths: readonly string[],
  options: ManifestOptions,
): Promise<Subject> {
  const problems = new Problems();
  const given = variablesOf(options.var, problems);
  const catalog = await offlineCatalog(options);
  for (const option of ['context', 'kubeconfig'] as const) {
    if (options[option] === undefined) continue;
    problems.add(`--${option}: give either paths or a cluster`);
  }
  const loaded = problems.collect(() =>
    loadManifests(paths, catalog.region, given, note, [], 'planned'),
  );
  const stated = options.settings;
  const stack = stated === undefined ? undefined : problems.collect(() => readSettings(stated));
  const manifests = problems.checked(loaded);
  for (const line of unknownValueNotes(manifests, catalog)) note(line);
  for (const line of reservationNotes(manifests, undefined)) note(line);
  if (!manifests.some(({ kind }) => kind === 'NodePool')) throw new BadInput([NO_NODE_POOL]);
  const all = options.bare === true ? manifests : inEksCluster(manifests, note);
  return appliedManifests(all, catalog, { stack, added: deploymentsBeside(all, manifests) });
}

const NO_NODE_POOL =
  'there is no NodePool among the manifests: nodes are launched for NodePools. Give the files of ' +
  'yours, with their EC2NodeClass, as further paths; examples/03-eks-guide of joiner export examples has one';

/** `namespace/name` of Deployments that the cluster adds. */
function deploymentsBeside(all: readonly Json[], own: readonly Json[]): ReadonlySet<string> {
  const given = new Set(own);
  const added = all.filter((each) => each['kind'] === 'Deployment' && !given.has(each));
  return new Set(
    added.map(
      (each) => `${textAt(each, 'metadata', 'namespace')}/${textAt(each, 'metadata', 'name')}`,
    ),
  );
}
