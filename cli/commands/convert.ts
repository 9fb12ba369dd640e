import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { Problems, reporting } from '../bad-input.ts';
import { type Conversion, convert, type ObjectNote, type Output } from '../convert/convert.ts';
import { awsAnswer } from '../convert/node-groups/read.ts';
import type { Identity } from '../convert/selectors.ts';
import { foreignNote } from '../foreign.ts';
import { jsonText } from '../json.ts';
import { labelOf, manifestFiles } from '../manifest-files.ts';
import { type Finding, type Manifest, manifestsOf } from '../manifests.ts';
import { formatOption, yamlText } from '../output.ts';
import { quietOption } from '../progress.ts';
import { isVisible, writeErr, writeOut } from '../terminal.ts';

interface Options {
  readonly filename: readonly string[];
  readonly role?: string;
  readonly instanceProfile?: string;
  readonly output: 'yaml' | 'json';
  readonly strict?: true;
}

function manifestsAt(path: string, finding: Finding): readonly Manifest[] {
  const { problems } = finding;
  const before = problems.length;
  const found = manifestFiles(path, problems).flatMap((file) => manifestsOf(file, finding));
  const isEmpty = found.length === 0 && problems.length === before;
  if (isEmpty) problems.push(`${labelOf(path)}: holds no Kubernetes object`);
  return found;
}

function identityOf({ role, instanceProfile }: Options, problems: Problems): Identity {
  if (role !== undefined && instanceProfile !== undefined) {
    problems.add(`--role ${role}: give this or --instance-profile ${instanceProfile}, not both`);
  }
  if (role === '') problems.add('--role: expected the name of an IAM role');
  if (instanceProfile === '') {
    problems.add('--instance-profile: expected the name of an instance profile');
  }
  if (role !== undefined) return { role, source: '--role' };
  return instanceProfile === undefined
    ? undefined
    : { instanceProfile, source: '--instance-profile' };
}

/**
 * Strings are quoted wherever YAML 1.1 would read something else, since that is what kubectl reads:
 * "yes", "0644" and "12:30" are no strings there without quotes.
 */
function manifestText({ object, text }: Output): string {
  const lines = text?.replaceAll('\r\n', '\n');
  // Characters that are escaped when they are written keep their meaning in quotes only.
  if (lines !== undefined && isVisible(lines)) return `${lines}\n`;
  return yamlText(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

function asJson({ outputs, notes }: Conversion): string {
  return jsonText({
    joiner: packageJson.version,
    objects: outputs.map(({ object }) => object),
    notes: notes.map(({ object, field, message }) => ({ object, field, message })),
  });
}

function line({ place, field, message }: ObjectNote): string {
  return `note: ${place}: ${field}: ${message}\n`;
}

async function run(paths: readonly string[], options: Options): Promise<number> {
  const problems = new Problems();
  const all = [...paths, ...options.filename];
  if (all.length === 0) {
    problems.add('give at least one file or folder of manifests, or - for standard input');
  }
  const identity = identityOf(options, problems);
  const unread: string[] = [];
  const finding: Finding = { problems: unread, foreign: [], named: awsAnswer };
  const manifests = all.flatMap((path) => manifestsAt(path, finding));
  const conversion = convert(manifests, identity);
  for (const problem of [...unread, ...conversion.problems]) problems.add(problem);
  const { outputs, notes } = problems.checked(conversion);
  for (const note of notes) writeErr(line(note));
  const left = foreignNote(finding.foreign);
  if (left !== undefined) writeErr(`${left}\n`);
  writeOut(
    options.output === 'json' ? asJson(conversion) : outputs.map(manifestText).join('---\n'),
  );
  return options.strict === true && notes.length > 0 ? 1 : 0;
}

/** `joiner convert`: Karpenter's old APIs and node groups as v1, for `kubectl apply -f -`. */
export function convertCommand(): Command {
  return new Command('convert')
    .description('convert older Karpenter manifests and node groups to v1')
    .argument('[paths...]', 'files or folders of manifests; - is standard input')
    .option('-f, --filename <paths...>', 'the same as the arguments', [])
    .option('--role <name>', 'spec.role of EC2NodeClasses whose source names no role')
    .option(
      '--instance-profile <name>',
      'spec.instanceProfile of EC2NodeClasses whose source names none',
    )
    .addOption(formatOption('yaml', 'json'))
    .addOption(quietOption())
    .option('--strict', 'exit 1 if the conversion reports a change')
    .action((paths: readonly string[], options: Options) => reporting(() => run(paths, options)));
}
