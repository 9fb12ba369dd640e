import { basename } from 'node:path';
import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { type Replayed, replayed } from '../../shared/app/recording/replayed.ts';
import { BadInput, Problems, reporting } from '../bad-input.ts';
import { recordingText, WHERE } from '../ledger/files.ts';
import { documentText, isDocument, type OutputFormat, outputOption } from '../output.ts';
import { replayedPacking } from '../packing/replayed.ts';
import { checkPage, HTML_OPTION, writePage } from '../page/write.ts';
import { type QuietOptions, quietOption, withProgress } from '../progress.ts';
import { type Difference, differences } from '../replay/difference.ts';
import { writeOut } from '../terminal.ts';
import { counted, someOf } from '../words.ts';

interface Options extends QuietOptions {
  readonly output: OutputFormat<'text'>;
  readonly html?: string;
}

/** A recording that was decided again. */
interface Outcome extends Replayed {
  readonly file: string;
  readonly ms: number;
  readonly differences: readonly Difference[];
}

/** Places that are shown; a plan that is another one differs in hundreds. */
const SHOWN_MAX = 10;

function replay(file: string): Outcome {
  const text = recordingText(file);
  const began = performance.now();
  let found: Replayed | undefined;
  try {
    found = replayed(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new BadInput([`${file}: not a recording of Joiner: it is not JSON; ${WHERE}`]);
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new BadInput([`${file}: the decision cannot be repeated: ${why}`]);
  }
  if (found === undefined) {
    throw new BadInput([`${file}: not a recording of Joiner; ${WHERE}`]);
  }
  const ms = performance.now() - began;
  const { recorded, now } = found;
  const differ = recorded === now ? [] : differences(JSON.parse(recorded), JSON.parse(now));
  return { ...found, file, ms, differences: differ };
}

function isSame({ recorded, now }: Replayed): boolean {
  return recorded === now;
}

function line({ path, recorded = 'nothing', now = 'nothing' }: Difference): string {
  const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
  return `  ${path === '' ? 'the result' : path}: ${short(recorded)} → ${short(now)}`;
}

function asText(outcome: Outcome): string {
  const { file, useCase, at, joiner, recorded, ms } = outcome;
  const what = `${file}: ${useCase} of ${at} by Joiner ${joiner}`;
  if (isSame(outcome)) {
    return `${what}: the same, ${recorded.length} bytes, in ${ms.toFixed(0)} ms\n`;
  }
  const all = outcome.differences;
  const shown = all.slice(0, SHOWN_MAX).map(line);
  const more = all.length > SHOWN_MAX ? [`  and ${all.length - SHOWN_MAX} more`] : [];
  const other = joiner === packageJson.version ? '' : `; this is Joiner ${packageJson.version}`;
  return `${what}: ANOTHER RESULT${other}\n${[...shown, ...more].join('\n')}\n`;
}

/** What is printed as JSON, and what a page is made of. */
function resultOf(outcomes: readonly Outcome[]): object {
  return {
    joiner: packageJson.version,
    recordings: outcomes.map((outcome) => ({
      file: outcome.file,
      useCase: outcome.useCase,
      at: outcome.at,
      joiner: outcome.joiner,
      currency: outcome.decided.currency,
      same: isSame(outcome),
      answer: JSON.parse(outcome.now),
      differences: outcome.differences,
      packing: replayedPacking(outcome.decided),
    })),
  };
}

async function run(files: readonly string[], options: Options): Promise<number> {
  checkPage(options);
  const { output } = options;
  const problems = new Problems();
  const found = await withProgress(options, (progress) =>
    files.map((file, at) => {
      progress.say(() => `${at + 1} of ${counted(files.length, 'recording')}`);
      return problems.collect(() => replay(file));
    }),
  );
  const outcomes = problems.checked(found).flatMap((each) => each ?? []);
  writeOut(
    isDocument(output) ? documentText(resultOf(outcomes), output) : outcomes.map(asText).join(''),
  );
  if (options.html !== undefined) {
    const subject = someOf(files.map((file) => basename(file)));
    await writePage(options, { command: 'replay', subject, json: resultOf(outcomes) });
  }
  return outcomes.every(isSame) ? 0 : 1;
}

/** `joiner replay`: recorded decisions, made again on what they were made from. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('repeat recorded decisions and compare the results byte for byte')
    .argument('<recordings...>', 'recordings, gzipped or plain; - is standard input')
    .addOption(outputOption('text'))
    .option(...HTML_OPTION)
    .addOption(quietOption())
    .action((files: readonly string[], options: Options) => reporting(() => run(files, options)));
}
