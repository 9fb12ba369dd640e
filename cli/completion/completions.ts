import type { Argument, Command, Option } from 'commander';
import { AWS_REGIONS } from '../aws-regions.ts';
import { COMMANDS } from '../command-list.ts';
import { EXPLAINED } from '../explain/asked.ts';

/** What a word may go on as. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** The candidates for the last word of a line; `files`: the shell adds names of files. */
export interface Completions {
  readonly candidates: readonly Candidate[];
  readonly files: boolean;
}

/** Objects whose names are completed, in kubectl's words. */
export type Named =
  | 'context'
  | 'namespace'
  | 'node'
  | 'nodeclaim'
  | 'nodeoverlay'
  | 'nodepool'
  | 'pod';

/** Where names are asked for: the options of the line so far that choose it. */
export interface Where {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

/** Names of objects of these kinds; none where the cluster does not answer. */
export type NamesOf = (kinds: readonly Named[], where: Where) => Promise<readonly string[]>;

const NOTHING: Completions = { candidates: [], files: false };
const FILES: Completions = { candidates: [], files: true };

/** Options whose values are names of objects. */
const NAMES_OF_OPTION: Readonly<Record<string, readonly Named[]>> = {
  '--context': ['context'],
  '--namespace': ['namespace'],
  '--nodepool': ['nodepool'],
  '--overlay': ['nodeoverlay'],
};

const OF_FILES = /\b(dir|file|folder|paths?|recordings?|snapshots|case\.json)\b/;

function plain(values: readonly string[]): Completions {
  return { candidates: values.map((value) => ({ value, description: '' })), files: false };
}

/** The words of a line, taken apart by a command's options. */
interface Line {
  /** What is not an option nor an option's value. */
  readonly positional: readonly string[];
  /** Values by the option's long name, the last one of each. */
  readonly values: ReadonlyMap<string, string>;
  readonly given: ReadonlySet<Option>;
  /** The option whose value comes next. */
  readonly open: Option | undefined;
}

function optionNamed(command: Command, word: string): Option | undefined {
  return command.options.find(({ long, short }) => word === long || word === short);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function lineOf(command: Command, words: readonly string[]): Line {
  const positional: string[] = [];
  const values = new Map<string, string>();
  const given = new Set<Option>();
  let open: Option | undefined;
  for (const word of words) {
    const [name = '', ...rest] = word.split('=');
    const option = word.startsWith('-') ? optionNamed(command, name) : undefined;
    if (option !== undefined) {
      given.add(option);
      if (rest.length > 0) values.set(option.long ?? '', rest.join('='));
      open = takesValue(option) && rest.length === 0 ? option : undefined;
    } else if (open !== undefined) {
      values.set(open.long ?? '', word);
      if (!open.variadic) open = undefined;
    } else if (!word.startsWith('-')) positional.push(word);
  }
  return { positional, values, given, open };
}

function whereOf({ values }: Line): Where {
  const kubeconfig = values.get('--kubeconfig');
  const context = values.get('--context');
  const namespace = values.get('--namespace');
  return {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

async function valuesOf(option: Option, line: Line, namesOf: NamesOf): Promise<Completions> {
  const { long = '', flags, argChoices } = option;
  if (argChoices !== undefined) return plain(argChoices);
  const kinds = NAMES_OF_OPTION[long];
  if (kinds !== undefined) return plain(await namesOf(kinds, whereOf(line)));
  if (long === '--region') return plain(AWS_REGIONS);
  return OF_FILES.test(flags) ? FILES : NOTHING;
}

/** Kinds whose names are read from the cluster. */
const NAMED: readonly Named[] = ['pod', 'node', 'nodeclaim'];

/** `joiner explain` takes a kind and a name, apart or with a slash between them. */
async function explained(line: Line, word: string, namesOf: NamesOf): Promise<Completions> {
  const [first] = line.positional;
  const kind = NAMED.find((each) => each === (first ?? word.split('/')[0]));
  if (first === undefined && !word.includes('/')) return plain(EXPLAINED);
  if (kind === undefined || line.positional.length > 1) return NOTHING;
  const names = await namesOf([kind], whereOf(line));
  return plain(first === undefined ? names.map((name) => `${kind}/${name}`) : names);
}

function argumentAt({ registeredArguments: all }: Command, index: number): Argument | undefined {
  const last = all.at(-1);
  return all[index] ?? (last?.variadic === true ? last : undefined);
}

async function positional(
  command: Command,
  line: Line,
  word: string,
  namesOf: NamesOf,
): Promise<Completions> {
  if (command.name() === 'explain') return await explained(line, word, namesOf);
  const argument = argumentAt(command, line.positional.length);
  if (argument === undefined) return NOTHING;
  if (argument.argChoices !== undefined) return plain(argument.argChoices);
  if (command.name() === 'release') {
    return plain(await namesOf(['node', 'nodeclaim'], whereOf(line)));
  }
  return OF_FILES.test(argument.name()) ? FILES : NOTHING;
}

function optionCandidates({ options }: Command, { given }: Line): readonly Candidate[] {
  return options
    .filter((option) => !option.hidden && (option.variadic || !given.has(option)))
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}

const HELP: Candidate = { value: '--help', description: 'display help for command' };

async function ofCommand(
  command: Command,
  before: readonly string[],
  word: string,
  namesOf: NamesOf,
): Promise<Completions> {
  const line = lineOf(command, before);
  const [name = '', ...rest] = word.split('=');
  const assigned = rest.length === 0 ? undefined : optionNamed(command, name);
  if (assigned !== undefined && takesValue(assigned)) {
    const { candidates, files } = await valuesOf(assigned, line, namesOf);
    const whole = candidates.map(({ value }) => ({ value: `${name}=${value}`, description: '' }));
    return { candidates: whole, files };
  }
  if (word.startsWith('-')) {
    return { candidates: [...optionCandidates(command, line), HELP], files: false };
  }
  if (line.open !== undefined) return await valuesOf(line.open, line, namesOf);
  return await positional(command, line, word, namesOf);
}

/**
 * What the last of the words behind `joiner` may go on as; it is empty where a new one begins. Only
 * the command that the line names is loaded.
 */
export async function completionsOf(
  words: readonly string[],
  namesOf: NamesOf,
): Promise<Completions> {
  const word = words.at(-1) ?? '';
  const [name, ...before] = words.slice(0, -1);
  const command = COMMANDS.find((each) => each.name === name);
  if (name !== undefined && name !== 'help' && command === undefined) return NOTHING;
  const { candidates, files } =
    command === undefined
      ? { candidates: [...COMMANDS.map(commandCandidate), HELP], files: false }
      : await ofCommand(await command.load(), before, word, namesOf);
  return { candidates: candidates.filter(({ value }) => value.startsWith(word)), files };
}

function commandCandidate({ name, description }: (typeof COMMANDS)[number]): Candidate {
  return { value: name, description };
}
