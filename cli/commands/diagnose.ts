import { Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { encodeOverlays } from '../../shared/api/case/overlays.ts';
import { BadInput, Problems, reporting } from '../bad-input.ts';
import { caseOf, readJson } from '../case-file.ts';
import { overlayEffects, overlaysOf } from '../diagnose/effects.ts';
import { renderDiagnosis } from '../diagnose/render.ts';
import { isSelected, rowsOf, type Selection } from '../diagnose/rows.ts';
import { type Diagnosis, diagnosisOfCase, diagnosisOfManifests } from '../diagnose/source.ts';
import {
  type OfflineCatalogOptions,
  offlineCatalog,
  withOfflineCatalog,
} from '../offline-catalog.ts';
import { documentText, isDocument, type OutputFormat, outputOption } from '../output.ts';
import { checkPage, HTML_OPTION, writePage } from '../page/write.ts';
import { quietOption } from '../progress.ts';
import { loadManifests } from '../simulate/load.ts';
import { collect, variablesOf } from '../simulate/variables.ts';
import { writeErr, writeOut } from '../terminal.ts';
import { unknownNames } from '../unknown-names.ts';

interface Options extends OfflineCatalogOptions {
  readonly overlay: readonly string[];
  readonly nodepool: readonly string[];
  readonly filename: readonly string[];
  readonly case?: string;
  readonly var: readonly string[];
  readonly all?: boolean;
  readonly zones?: boolean;
  readonly output: OutputFormat<'table'>;
  readonly html?: string;
  readonly strict?: boolean;
  readonly verbose?: boolean;
}

async function diagnosisOf(options: Options): Promise<Diagnosis> {
  const { filename } = options;
  const problems = new Problems();
  if (options.case !== undefined && filename.length > 0) {
    problems.add('give either --case or -f, not both');
  } else if (options.case === undefined && filename.length === 0) {
    problems.add('give manifests with -f, or a case file with --case');
  }
  const variables = variablesOf(options.var, problems);
  if (options.case !== undefined) {
    const file = options.case;
    const problem = problems.collect(() => caseOf(file, readJson(file)));
    return diagnosisOfCase(problems.checked(problem));
  }
  const note = (line: string): void => writeErr(`joiner: ${line}\n`);
  const catalog = await offlineCatalog(options);
  const { region } = catalog;
  const manifests = problems.collect(() => loadManifests(filename, region, variables, note));
  return diagnosisOfManifests(problems.checked(manifests), catalog);
}

/** Names that were asked for and do not exist. */
function checkNames(diagnosis: Diagnosis, { overlays, nodePools }: Selection): void {
  const known = {
    '--overlay': { asked: overlays, names: diagnosis.nodeOverlays.map(({ name }) => name) },
    '--nodepool': { asked: nodePools, names: [...diagnosis.before.keys()] },
  };
  const problems = Object.entries(known).flatMap(([option, { asked, names }]) =>
    unknownNames(option, asked, names),
  );
  if (problems.length > 0) throw new BadInput(problems);
}

/** The parts of the resolution that were asked for; types without an overlay stay in JSON. */
function jsonOf(diagnosis: Diagnosis, selection: Selection): object {
  const { resolution, rejected, region = null, source } = diagnosis;
  const { nodePools, overlays: asked } = selection;
  const shown = { ...selection, all: asked.length === 0 || selection.all };
  const instanceTypes = [...resolution.instanceTypes]
    .filter(([pool]) => nodePools.length === 0 || nodePools.includes(pool))
    .map(
      ([pool, types]) =>
        [pool, types.filter((type) => isSelected(overlaysOf(type), shown))] as const,
    );
  const overlays = resolution.overlays.filter(
    ({ name }) => asked.length === 0 || asked.includes(name),
  );
  const encoded = encodeOverlays({ overlays, instanceTypes: new Map(instanceTypes) }, rejected);
  const types = instanceTypes.flatMap(([, own]) => own);
  const effects = overlayEffects(overlays, diagnosis.nodeOverlays, types);
  return { joiner: packageJson.version, region, source, ...encoded, overlays: effects };
}

async function run(options: Options): Promise<number> {
  checkPage(options);
  const diagnosis = await diagnosisOf(options);
  const selection: Selection = {
    nodePools: options.nodepool,
    overlays: options.overlay,
    all: options.all === true,
    zones: options.zones === true,
  };
  checkNames(diagnosis, selection);
  const text = isDocument(options.output)
    ? documentText(jsonOf(diagnosis, selection), options.output)
    : renderDiagnosis(diagnosis, rowsOf(diagnosis, selection), selection, options.verbose === true);
  writeOut(text);
  const { filename, case: file } = options;
  const subject = file ?? filename.join(' ');
  await writePage(options, { command: 'diagnose', subject, json: jsonOf(diagnosis, selection) });
  const isImperfect = diagnosis.resolution.overlays.some((each) => !each.ready);
  return options.strict === true && isImperfect ? 1 : 0;
}

/** `joiner diagnose`: what overlays do to prices and capacities, and which of them do nothing. */
export function diagnoseCommand(): Command {
  return withOfflineCatalog(new Command('diagnose'))
    .description('show the effect of NodeOverlays per NodePool, instance type and capacity type')
    .addOption(
      new Option('--type <type>', 'the kind of rows; there is only one')
        .choices(['instance-type'])
        .default('instance-type'),
    )
    .option('--overlay <names...>', 'only rows that these NodeOverlays change', [])
    .option('--nodepool <names...>', 'only these NodePools', [])
    .option('-f, --filename <paths...>', 'files or folders of manifests; - is standard input', [])
    .option('--case <file>', 'a case file instead of manifests (- reads standard input)')
    .option('--var <name=value>', 'the value of a variable in the manifests', collect, [])
    .option('--all', 'also rows that no NodeOverlay changes')
    .option('--zones', 'one row per zone')
    .addOption(outputOption('table'))
    .option(...HTML_OPTION)
    .addOption(quietOption())
    .option('-v, --verbose', 'list every instance type instead of families')
    .option('--strict', 'exit 1 if a NodeOverlay is not ready')
    .action((options: Options) => reporting(() => run(options)));
}
