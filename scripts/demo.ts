import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
/** `npm start`: what Joiner saves, and its main job in a simulated world on two examples. */
import { join } from 'node:path';
import { compared, KARPENTER_VERSION } from '../cli/compare/comparison.ts';
import { comparisonTable, verdict } from '../cli/compare/render.ts';
import { appliedManifests } from '../cli/compare/subject.ts';
import { priceText } from '../cli/price-text.ts';
import { inEksCluster } from '../cli/simulate/eks-cluster.ts';
import { loadObjects } from '../cli/simulate/load.ts';
import { nodeClaimTable } from '../cli/simulate/render.ts';
import { prepareSimulation, runUntil, type Simulation } from '../cli/simulate/run.ts';
import { table } from '../cli/simulate/table.ts';
import packageJson from '../package.json' with { type: 'json' };
import { resolveTypes } from '../shared/app/planning/provisioning-input.ts';
import { loadCatalog } from '../shared/catalog/catalog.ts';
import type { InstanceType } from '../shared/core/model/instance-type.ts';
import { ON_DEMAND } from '../shared/core/model/labels.ts';
import type { Json } from '../shared/sim/json.ts';
import type { FinalState } from '../shared/sim/report.ts';
import type { Scenario } from '../shared/sim/scenario.ts';

const REGION = 'eu-west-1';
/** Of the table in the README. */
const COMPARED_REGION = 'us-east-1';
const SEED = 1;
const MINUTE = 60_000;
const ROOT = join(import.meta.dirname, '..');
const EXAMPLES = join(ROOT, 'examples');

const isColour = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;
const style = (code: number) => (text: string) =>
  isColour ? `\u001b[${code}m${text}\u001b[0m` : text;
const bold = style(1);
const dim = style(2);
const green = style(32);

function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

function heading(text: string, folder: string): void {
  const rule = '─'.repeat(Math.max(3, 93 - text.length - folder.length));
  say('', `${bold(text)} ${dim(`${rule} ${folder}`)}`, '');
}

function objectsOf(folder: string): readonly Json[] {
  return loadObjects([join(EXAMPLES, folder)], REGION);
}

async function simulate(manifests: readonly Json[], scenario?: Scenario): Promise<Simulation> {
  const catalog = await loadCatalog(REGION);
  return prepareSimulation({ catalog, seed: SEED, manifests, scenario });
}

interface Price {
  readonly list: number;
  readonly adjusted: number;
}

/** What one type costs in the pool on demand, before and after overlays; the cheapest zone. */
async function priceOf(simulation: Simulation, pool: string, name: string): Promise<Price> {
  const { ports, settings } = simulation.world;
  const state = await ports.cluster.read();
  const { instanceTypes } = await resolveTypes(ports, settings, state);
  const type = instanceTypes.get(pool)?.find((each: InstanceType) => each.name === name);
  const offers = (type?.offerings ?? []).filter((each) => each.capacityType === ON_DEMAND);
  const [first] = [...offers].sort((a, b) => a.price - b.price);
  if (first === undefined) throw new Error(`${name} is not offered in ${REGION}`);
  return { list: first.listPrice, adjusted: first.price };
}

function podsLine(state: FinalState): string {
  const { running, pending } = state.pods;
  const text = `${running} pods running, ${pending.length} pending`;
  const mark = pending.length === 0 ? green('✔') : '✘';
  return `  ${mark} ${text} · ${bold(`$${state.totals.pricePerHour.toFixed(4)} an hour`)}`;
}

function show(state: FinalState): void {
  say(nodeClaimTable(state.nodeClaims, '  '), podsLine(state));
}

async function comparison(): Promise<void> {
  heading('What the same pods cost', 'bench/compare');
  const catalog = await loadCatalog(COMPARED_REGION);
  for (const [folder, what] of [
    ['mixed', '75 pods of a shop: three zones, caches apart, small services, batch work'],
    ['zones-by-preference', '30 pods that would like to be spread over zones and nodes'],
    ['19500-pods', '19,500 pods of 25 Deployments, three DaemonSets'],
  ] as const) {
    const path = join(ROOT, 'bench', 'compare', folder);
    const manifests = inEksCluster(loadObjects([path], COMPARED_REGION));
    const result = await compared(await appliedManifests(manifests, catalog));
    say(
      bold(what),
      '',
      comparisonTable(result, false, '  '),
      '',
      `  ${green(verdict(result))}`,
      '',
    );
  }
  say(
    dim(
      `  Karpenter's rules are the documented rules of Karpenter ${KARPENTER_VERSION}: docs/compare.md`,
    ),
    dim('  On your own: ./joiner compare my-manifests/, or of a cluster: ./joiner compare'),
  );
}

async function graviton(): Promise<void> {
  const folder = '01-prefer-graviton4';
  heading('Prefer Graviton4 over Graviton3', `examples/${folder}`);
  const all = objectsOf(folder);
  const withoutOverlay = all.filter((object) => object['kind'] !== 'NodeOverlay');
  const plain = await runUntil(await simulate(withoutOverlay), 5 * MINUTE);
  say(`${bold('Without the overlay')} the cheapest node for the three arm64 pods wins:`, '');
  show(plain);
  const overlaid = await simulate(all);
  const preferred = await runUntil(overlaid, 5 * MINUTE);
  const [overlay] = preferred.nodeOverlays;
  const ready = overlay?.ready === true ? green('Ready=True') : `Ready=False (${overlay?.message})`;
  say('', `${bold('With the overlay')} ${overlay?.name} (c7g +50 %), ${ready}:`, '');
  show(preferred);
  const size = (plain.nodeClaims[0]?.instanceType ?? 'c7g.xlarge').split('.')[1] ?? 'xlarge';
  const rows: string[][] = [];
  for (const family of ['c7g', 'c8g']) {
    const name = `${family}.${size}`;
    const { list, adjusted } = await priceOf(overlaid, 'default', name);
    const chosen = preferred.nodeClaims.some((claim) => claim.instanceType === name);
    const what = chosen ? green('launched') : '';
    rows.push([name, priceText(list), priceText(adjusted), what]);
  }
  say('', table(['TYPE', 'LIST PRICE/H', 'AFTER OVERLAY', ''], rows, '  '));
  const why = preferred.decisions.find((each) => each.action === 'create');
  if (why !== undefined) say('', dim(`  why: ${why.message}`));
}

function gpus(state: FinalState): number {
  return state.nodes.reduce(
    (sum, { allocatable }) => sum + Number(allocatable['nvidia.com/gpu'] ?? 0),
    0,
  );
}

async function gpuSlices(): Promise<void> {
  const folder = '02-gpu-slices';
  heading('Four slices of each GPU', `examples/${folder}`);
  const steps = [8, 17].map((replicas, index) => ({
    at: (index + 1) * 5 * MINUTE,
    scale: { kind: 'Deployment' as const, name: 'inference', namespace: 'default', replicas },
  }));
  const simulation = await simulate(objectsOf(folder), { steps });
  for (const [index, replicas] of [4, 8, 17].entries()) {
    const state = await runUntil(simulation, ((index + 1) * 5 - 1) * MINUTE);
    const count = gpus(state);
    const unit = count === 1 ? 'GPU' : 'GPUs';
    say(
      `${bold(`${replicas} replicas`)} of one slice each run on ${bold(`${count} ${unit}`)}:`,
      '',
    );
    show(state);
    say('');
  }
}

/** The same as a page for a browser. */
function page(): void {
  const file = join(mkdtempSync(join(tmpdir(), 'joiner-')), '07-spread-and-spot.html');
  const example = join(ROOT, 'examples', '07-spread-and-spot');
  const joiner = join(ROOT, 'cli', 'bin', 'joiner.mjs');
  execFileSync(process.execPath, [joiner, 'simulate', example, '--html', file], {
    stdio: 'ignore',
  });
  heading('As a page', 'docs/page.md');
  say(`${bold(file)} shows the nodes, prices and decisions of examples/07-spread-and-spot.`, '');
}

async function main(): Promise<void> {
  const startedAt = performance.now();
  say(
    `${bold(`Joiner ${packageJson.version}`)} · nodes for your pods, no pod in your cluster`,
    dim('A simulated cluster and cloud; functions, decisions and prices are the real ones.'),
  );
  await comparison();
  await graviton();
  await gpuSlices();
  page();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(dim(`Simulated in ${seconds} s. Next: ./joiner simulate examples/07-spread-and-spot`));
}

await main();
