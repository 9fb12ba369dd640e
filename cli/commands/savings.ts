import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { pageUrl } from '../../shared/contract/pages.ts';
import { reporting } from '../bad-input.ts';
import { type Ledger, ledgerOf } from '../ledger/ledger.ts';
import { ledgerText, METHOD } from '../ledger/render.ts';
import { factsIn, type SourceOptions, sourceOf, withSource } from '../ledger/source.ts';
import {
  type DocumentFormat,
  documentText,
  isDocument,
  type OutputFormat,
  outputOption,
} from '../output.ts';
import { type QuietOptions, quietOption, withProgress } from '../progress.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options extends SourceOptions, QuietOptions {
  readonly output: OutputFormat<'text'>;
}

function asDocument({ span, ...ledger }: Ledger, format: DocumentFormat): string {
  const iso = (atMs: number): string => new Date(atMs).toISOString();
  const dated = <Each extends { readonly atMs: number }>({ atMs, ...each }: Each) => ({
    at: iso(atMs),
    ...each,
  });
  return documentText(
    {
      joiner: packageJson.version,
      from: iso(span.fromMs),
      to: iso(span.toMs),
      ...ledger,
      launches: ledger.launches.map(dated),
      moves: ledger.moves.map(dated),
      replacements: ledger.replacements.map(dated),
      method: METHOD,
    },
    format,
  );
}

async function run(options: Options): Promise<number> {
  const source = await sourceOf(options);
  const facts = await withProgress(options, (progress) => factsIn(source, progress));
  const ledger = ledgerOf(source.written.records, facts, source.span);
  for (const note of source.written.notes) writeErr(`warning: ${note}\n`);
  const { output } = options;
  writeOut(isDocument(output) ? asDocument(ledger, output) : ledgerText(ledger));
  return 0;
}

/** `joiner savings`: what decisions saved, from their records. */
export function savingsCommand(): Command {
  return withSource(new Command('savings'))
    .description('show what launches and consolidation have saved, from records and recordings')
    .addOption(outputOption('text'))
    .addOption(quietOption())
    .addHelpText('after', HELP)
    .action((options: Options) => reporting(() => run(options)));
}

const HELP = `
Each figure is made from the records and recordings alone: ${pageUrl('tasks/savings.md')}
A folder ends with its last record; the bucket is read until now.`;
