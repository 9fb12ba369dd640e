import { Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { loadCatalog, REGIONS } from '../../shared/catalog/catalog.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { HOURS_A_MONTH } from '../../shared/core/duration.ts';
import { Problems, reporting } from '../bad-input.ts';
import type { CostInput, Part, Reaction } from '../cost/bill.ts';
import { DURATIONS } from '../cost/durations.ts';
import { alternatives, costOf } from '../cost/model.ts';
import { PRICE_SOURCES, PRICES, PRICES_DATE } from '../cost/prices.ts';
import { renderCost, renderMarkdown, type Shown } from '../cost/render.ts';
import { documentText, formatOption, isDocument, type OutputFormat } from '../output.ts';
import { writeOut } from '../terminal.ts';

type Region = keyof typeof PRICES;

interface Options {
  readonly nodes: string;
  readonly pods: string;
  readonly churn: string;
  readonly nodePrice?: string;
  readonly region: Region;
  readonly reaction?: Reaction;
  readonly network: CostInput['network'];
  readonly zones: string;
  readonly blockedHours: string;
  readonly foreignMessages: string;
  readonly auditLog?: boolean;
  readonly output: OutputFormat<'text' | 'markdown'>;
}

const NODE_TYPE = 'm7g.large';
const KARPENTER_TYPE = 't4g.medium';

function wholeNumber(option: string, text: string, max: number, problems: Problems): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) {
    problems.add(`${option} ${text}: expected a whole number of at most ${max}`);
  }
  return value;
}

function positive(option: string, text: string, max: number, problems: Problems): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) problems.add(`${option} ${text}: expected a number of at most ${max}`);
  return value;
}

function priceOf(catalog: Catalog, name: string): number {
  const price = catalog.types.find((type) => type.name === name)?.onDemandPrice;
  if (price === undefined) throw new Error(`${catalog.region} has no price of ${name}`);
  return price;
}

/** Everything but the reaction. */
function inputOf(options: Options, catalog: Catalog): Omit<CostInput, 'reaction'> {
  const problems = new Problems();
  const { region, network, nodePrice } = options;
  const input = {
    nodes: wholeNumber('--nodes', options.nodes, 100_000, problems),
    pods: wholeNumber('--pods', options.pods, 1_000_000, problems),
    churn: positive('--churn', options.churn, 1000, problems),
    blockedHours: positive('--blocked-hours', options.blockedHours, HOURS_A_MONTH, problems),
    foreignMessages: wholeNumber(
      '--foreign-messages',
      options.foreignMessages,
      999_999_999,
      problems,
    ),
    auditLog: options.auditLog === true,
    nodePrice:
      nodePrice === undefined
        ? priceOf(catalog, NODE_TYPE)
        : positive('--node-price', nodePrice, 1000, problems),
    zones: wholeNumber('--zones', options.zones, 6, problems),
    network,
    prices: PRICES[region],
    durations: DURATIONS,
    karpenterNodePrice: priceOf(catalog, KARPENTER_TYPE),
  };
  return problems.checked(input);
}

async function run(options: Options): Promise<number> {
  const catalog = await loadCatalog(options.region);
  const input = inputOf(options, catalog);
  const reactions: readonly Reaction[] =
    options.reaction === undefined ? ['watch', 'tick'] : [options.reaction];
  const shown: Shown = {
    region: options.region,
    nodes: input.nodes,
    pods: input.pods,
    costs: reactions.map((reaction) => [reaction, costOf({ ...input, reaction })]),
    alternatives: alternatives({ ...input, reaction: 'watch' }),
    ec2PricesDate: catalog.date,
  };
  writeOut(textOf(options.output, shown, input));
  return 0;
}

function textOf(
  format: Options['output'],
  shown: Shown,
  input: Omit<CostInput, 'reaction'>,
): string {
  if (isDocument(format)) return documentText(jsonOf(shown, input), format);
  return format === 'text' ? renderCost(shown) : renderMarkdown(shown);
}

function jsonOf(shown: Shown, input: Omit<CostInput, 'reaction'>): object {
  const rounded = ({ name, formula, usd }: Part) => ({ name, formula, usd: cents(usd) });
  return {
    joiner: packageJson.version,
    region: shown.region,
    pricesDate: PRICES_DATE,
    ec2PricesDate: shown.ec2PricesDate,
    sources: PRICE_SOURCES,
    input: {
      nodes: input.nodes,
      pods: input.pods,
      launchesPerNodeAndDay: input.churn,
      network: input.network,
      zones: input.zones,
      blockedHours: input.blockedHours ?? 0,
      foreignMessages: input.foreignMessages ?? 0,
      auditLog: input.auditLog ?? false,
      nodePricePerHour: input.nodePrice,
    },
    costs: shown.costs.map(([reaction, { parts, usd, freeTierUsd }]) => ({
      reaction,
      parts: parts.map(rounded),
      usd: cents(usd),
      freeTierUsd: cents(freeTierUsd),
    })),
    alternatives: shown.alternatives.map(rounded),
  };
}

function cents(usd: number): number {
  return Math.round(usd * 100) / 100;
}

/** `joiner cost`: what Joiner itself costs, beside the ways to have the same done. */
export function costCommand(): Command {
  return new Command('cost')
    .description('estimate the monthly cost of Joiner itself, Karpenter and EKS Auto Mode')
    .requiredOption('--nodes <number>', 'nodes of the cluster')
    .requiredOption('--pods <number>', 'pods of the cluster')
    .addOption(new Option('--region <region>').choices([...REGIONS]).default('us-east-1'))
    .addOption(new Option('--reaction <reaction>', 'default: both').choices(['watch', 'tick']))
    .option('--churn <number>', 'launches per node and day; as many nodes are terminated', '0.5')
    .option(
      '--node-price <usd>',
      `on-demand price of a node per hour; default: that of ${NODE_TYPE}`,
    )
    .addOption(
      new Option('--network <way>', 'how the private subnets reach AWS APIs')
        .choices(['none', 'nat', 'endpoints'])
        .default('none'),
    )
    .option('--zones <number>', 'zones with a NAT gateway or endpoints', '2')
    .option('--blocked-hours <number>', 'hours per month in which a drain is blocked', '0')
    .option(
      '--foreign-messages <number>',
      'interruption messages per month about instances of other clusters',
      '0',
    )
    .option('--audit-log', "include the cost of Joiner's requests in the cluster's audit log")
    .addOption(formatOption('text', 'markdown', 'json', 'yaml'))
    .action((options: Options) => reporting(() => run(options)));
}
