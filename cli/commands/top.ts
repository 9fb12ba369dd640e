import { Command, InvalidArgumentError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { BadInput, reporting } from '../bad-input.ts';
import {
  type LiveCluster,
  noteLines,
  type PricedClusterOptions,
  withLiveCluster,
  withPricedClusterOptions,
} from '../live.ts';
import { marketOf } from '../market.ts';
import { documentText, isDocument, nameLines, type OutputFormat, outputOption } from '../output.ts';
import { writeOut } from '../terminal.ts';
import { renderTop } from '../top/render.ts';
import { type NodeRow, nodeRows, SORTS, type Sort, sorted, totalsOf } from '../top/rows.ts';
import type { TopSnapshot } from '../top/watch/snapshot.ts';
import { watchTop } from '../top/watch/watch.ts';
import { unknownNames } from '../unknown-names.ts';

interface Options extends PricedClusterOptions {
  readonly nodepool: readonly string[];
  readonly sortBy?: Sort;
  readonly output: OutputFormat<'table' | 'wide' | 'name'>;
  readonly watch?: boolean;
  /** Seconds. */
  readonly interval: number;
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value >= 1 && value <= 3600)) throw new InvalidArgumentError('must be from 1 to 3600');
  return value;
}

/** Throws where no NodePool has one of these names, and no node says it is of it. */
function checkNames(
  rows: readonly NodeRow[],
  { state }: LiveCluster,
  names: readonly string[],
): void {
  const ofRows = rows.flatMap(({ nodePool }) => nodePool ?? []);
  const known = [...state.objects.nodePools.map(({ name }) => name), ...ofRows];
  const problems = unknownNames('--nodepool', names, known);
  if (problems.length > 0) throw new BadInput(problems);
}

/** Only these NodePools' nodes, where some are named. */
function selected<Row extends NodeRow>(
  rows: readonly Row[],
  names: readonly string[],
): readonly Row[] {
  return names.length === 0 ? rows : rows.filter(({ nodePool }) => names.includes(nodePool ?? ''));
}

/** What nodes cost where the prices of their region are known, and what is said of it. */
async function pricesOf(live: LiveCluster, options: Options) {
  const isAsked = [options.region, options.bucket, options.catalog].some((each) => each);
  try {
    const { catalog, notes } = await marketOf(live, options);
    const { region, date, spotDate } = catalog;
    const said = `list prices of ${region}, on-demand ${date}, spot ${spotDate}`;
    return { catalog, said, notes };
  } catch (error) {
    // Nodes can be shown without prices, unless some were asked for.
    if (!(error instanceof BadInput) || isAsked) throw error;
    return { catalog: undefined, said: `without prices: ${error.message}`, notes: [] };
  }
}

async function answer(live: LiveCluster, options: Options): Promise<string> {
  const { state, nowMs, url, unreadable } = live;
  const { catalog, said, notes: ofPrices } = await pricesOf(live, options);
  const notes = [...unreadable, ...ofPrices];
  const everything = nodeRows(state, catalog, nowMs);
  checkNames(everything, live, options.nodepool);
  const all = selected(everything, options.nodepool);
  const rows = options.sortBy === undefined ? all : sorted(all, options.sortBy);
  const totals = totalsOf(all);
  if (options.output === 'name') {
    // What has no node yet is a NodeClaim.
    return nameLines(
      rows.map(({ node, nodeClaim }) =>
        node === undefined ? `nodeclaim.karpenter.sh/${nodeClaim}` : `node/${node}`,
      ),
    );
  }
  if (isDocument(options.output)) {
    const about = { joiner: packageJson.version, cluster: url, prices: said, notes };
    const { byPool: nodePools, all: total } = totals;
    const result = { ...about, nodes: rows, nodePools, total };
    return documentText(result, options.output);
  }
  return `${url}, ${said}\n${noteLines(notes)}\n${renderTop(rows, totals, options.output === 'wide')}\n`;
}

/** The screen, until the person quits. */
async function watch(live: LiveCluster, options: Options): Promise<void> {
  const { catalog, said } = await pricesOf(live, options);
  // Once, before there is a screen: a NodePool may go while it is watched.
  checkNames(nodeRows(live.state, catalog, live.nowMs), live, options.nodepool);
  const chosen = (moment: TopSnapshot): TopSnapshot => {
    const rows = selected(moment.rows, options.nodepool);
    return { ...moment, ...totalsOf(rows), rows };
  };
  await watchTop({
    live,
    catalog,
    title: `${live.url}, ${said}`,
    intervalMs: 1000 * options.interval,
    selected: chosen,
    sort: options.sortBy,
  });
}

async function run(options: Options): Promise<number> {
  if (options.watch === true) {
    if (options.output !== 'table') throw new BadInput([`--watch: not with -o ${options.output}`]);
    await withLiveCluster('joiner-top', options, (live) => watch(live, options));
    return 0;
  }
  const text = await withLiveCluster('joiner-top', options, (live) => answer(live, options));
  writeOut(text);
  return 0;
}

/** `joiner top`: nodes, what pods request of them, and what they cost. */
export function topCommand(): Command {
  return withPricedClusterOptions(new Command('top'))
    .description('list the nodes of a cluster with requested resources, cost and state')
    .option('--nodepool <names...>', 'only nodes of these NodePools', [])
    .addOption(new Option('--sort-by <what>', 'default: by NodePool and name').choices([...SORTS]))
    .addOption(outputOption('table', 'wide', 'name'))
    .option('-w, --watch', 'follow the cluster on the screen; keys collapse, sort and filter rows')
    .option('--interval <seconds>', 'seconds between two reads of --watch', seconds, 2)
    .action((options: Options) => reporting(() => run(options)));
}
