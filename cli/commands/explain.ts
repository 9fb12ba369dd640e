import { Argument, Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { catalogPort } from '../../shared/catalog/port.ts';
import { reporting } from '../bad-input.ts';
import { type ClaimExplanation, explainClaim } from '../explain/claim.ts';
import { explainPod, type PodExplanation } from '../explain/pod.ts';
import { renderClaim, renderPod } from '../explain/render.ts';
import {
  type LiveCluster,
  type PricedClusterOptions,
  withLiveCluster,
  withPricedClusterOptions,
} from '../live.ts';
import { planningOf, preview } from '../plan/preview.ts';
import { pricedRegion } from '../region.ts';
import { nodeRows } from '../top/rows.ts';

const KINDS = ['pod', 'node', 'nodeclaim'] as const;
type Kind = (typeof KINDS)[number];

interface Options extends PricedClusterOptions {
  readonly namespace: string;
  readonly output: 'text' | 'json';
}

type Explanation =
  | { readonly kind: 'pod'; readonly found: PodExplanation }
  | { readonly kind: 'nodeclaim'; readonly found: ClaimExplanation };

/** The thing asked for is not there: that is no bad input. */
class Absent extends Error {}

async function podNamed(
  { state, reader, nowMs }: LiveCluster,
  name: string,
  { namespace, region }: Options,
): Promise<Explanation> {
  const pod = state.objects.pods.find((each) => each.namespace === namespace && each.name === name);
  if (pod === undefined) throw new Absent(`there is no Pod ${name} in namespace ${namespace}`);
  const embedded = await loadCatalog(pricedRegion(state, region));
  const catalog = catalogPort(embedded.region, () => embedded);
  const input = { live: reader, state, catalog, nowMs };
  const found = explainPod(pod, await preview(input), await planningOf(input));
  return { kind: 'pod', found };
}

async function claimNamed(
  { state, reader, nowMs }: LiveCluster,
  kind: Kind,
  name: string,
  { region }: Options,
): Promise<Explanation> {
  const { nodes, nodeClaims } = state.objects;
  const node = kind === 'node' ? nodes.find((each) => each.name === name) : undefined;
  if (kind === 'node' && node === undefined) throw new Absent(`there is no Node ${name}`);
  const claim = nodeClaims.find((each) =>
    kind === 'node' ? each.providerId === node?.providerId : each.name === name,
  );
  if (claim === undefined) {
    throw new Absent(
      kind === 'node'
        ? `Node ${name} has no NodeClaim: it is somebody else's, and Joiner leaves it alone`
        : `there is no NodeClaim ${name}`,
    );
  }
  const embedded = await loadCatalog(pricedRegion(state, region));
  const catalog = catalogPort(embedded.region, () => embedded);
  const rows = nodeRows(state, embedded, nowMs);
  const row = rows.find(({ nodeClaim }) => nodeClaim === claim.name);
  if (row === undefined) throw new Error(`NodeClaim ${claim.name} is in no row`);
  const now = await preview({ live: reader, state, catalog, nowMs });
  return { kind: 'nodeclaim', found: explainClaim(claim, row, state, now) };
}

async function answer(
  live: LiveCluster,
  kind: Kind,
  name: string,
  options: Options,
): Promise<string> {
  const explained =
    kind === 'pod'
      ? await podNamed(live, name, options)
      : await claimNamed(live, kind, name, options);
  if (options.output === 'json') {
    const result = { joiner: packageJson.version, cluster: live.url, ...explained.found };
    return JSON.stringify(result, (_, value) => (value === undefined ? null : value), 1);
  }
  return explained.kind === 'pod' ? renderPod(explained.found) : renderClaim(explained.found);
}

async function run(kind: Kind, name: string, options: Options): Promise<number> {
  try {
    const text = await withLiveCluster('joiner-explain', options, (live) =>
      answer(live, kind, name, options),
    );
    process.stdout.write(`${text}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof Absent)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    return 1;
  }
}

/** `joiner explain`: why a pod is or would be where it is, and what becomes of a node. */
export function explainCommand(): Command {
  return withPricedClusterOptions(new Command('explain'))
    .description('say why a pod is or would be where it is, or what becomes of a node')
    .addArgument(new Argument('<kind>', 'of what is asked about').choices([...KINDS]))
    .argument('<name>', 'its name')
    .option('-n, --namespace <name>', 'of the pod', 'default')
    .addOption(new Option('-o, --output <format>').choices(['text', 'json']).default('text'))
    .action((kind: Kind, name: string, options: Options) =>
      reporting(() => run(kind, name, options)),
    );
}
