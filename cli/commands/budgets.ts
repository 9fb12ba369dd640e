import { Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { reporting } from '../bad-input.ts';
import { encodeTimetables, renderTimetables, timetables } from '../budgets/timetables.ts';
import { type ClusterOptions, withClusterOptions } from '../connect.ts';
import { noteLines, withLiveCluster } from '../live.ts';
import { documentText, isDocument, nameLines, type OutputFormat, outputOption } from '../output.ts';
import { writeOut } from '../terminal.ts';
import { timeSpan } from '../time-span.ts';

interface Options extends ClusterOptions {
  readonly next: number;
  readonly output: OutputFormat<'table' | 'name'>;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

async function run(options: Options): Promise<number> {
  const text = await withLiveCluster('joiner-budgets', options, async (live) => {
    const fromMs = Math.floor(live.nowMs / MINUTE_MS) * MINUTE_MS;
    const all = timetables(live.state, { fromMs, toMs: fromMs + options.next });
    const { url: cluster, unreadable } = live;
    if (options.output === 'name') {
      return nameLines(all.map(({ nodePool }) => `nodepool.karpenter.sh/${nodePool}`));
    }
    if (isDocument(options.output)) {
      const about = { joiner: packageJson.version, cluster, notes: unreadable };
      return documentText({ ...about, nodePools: encodeTimetables(all) }, options.output);
    }
    return `${cluster}: nodes that may be gone at once\n${noteLines(unreadable)}\n${renderTimetables(all)}\n`;
  });
  writeOut(text);
  return 0;
}

/** `joiner budgets`: what disruption budgets allow, as a timetable. */
export function budgetsCommand(): Command {
  return withClusterOptions(new Command('budgets'))
    .description('show disruption budgets as a timetable')
    .addOption(
      new Option('--next <time>', 'the length of the timetable, from now')
        .argParser(timeSpan)
        .default(7 * DAY_MS, '7d'),
    )
    .addOption(outputOption('table', 'name'))
    .action((options: Options) => reporting(() => run(options)));
}
