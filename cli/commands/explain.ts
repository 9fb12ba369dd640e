import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { meant } from '../../shared/contract/nearest.ts';
import { sharedGroupNotes } from '../../shared/preview/dry-group-usages.ts';
import { planningOf, preview } from '../../shared/preview/preview.ts';
import { reporting } from '../bad-input.ts';
import {
  type ManifestOptions,
  refuseManifestOptions,
  withManifestOptions,
} from '../compare/manifest-subject.ts';
import { type Asked, askedOf, placed } from '../explain/asked.ts';
import { type ClaimExplanation, explainClaim } from '../explain/claim.ts';
import { explainManifest } from '../explain/manifests.ts';
import { explainPod, type PodExplanation } from '../explain/pod.ts';
import { renderClaim, renderPod, renderWorkload } from '../explain/render.ts';
import {
  explainWorkload,
  type WorkloadExplanation,
  type WorkloadKind,
  workloadOf,
} from '../explain/workload.ts';
import {
  heldBackNotes,
  type LiveCluster,
  noteLines,
  type PricedClusterOptions,
  withLiveCluster,
  withPricedClusterOptions,
} from '../live.ts';
import { type Market, marketOf } from '../market.ts';
import { documentText, isDocument, type OutputFormat, outputOption } from '../output.ts';
import { previewedOn } from '../plan/basis.ts';
import { partsTo } from '../plan/parts.ts';
import { type Progress, type QuietOptions, quietOption, withProgress } from '../progress.ts';
import {
  type FoundSettings,
  type SettingsOptions,
  withSettingsOptions,
} from '../stack-settings.ts';
import { writeErr, writeOut } from '../terminal.ts';
import { nodeRows } from '../top/rows.ts';

interface Options extends PricedClusterOptions, SettingsOptions, ManifestOptions, QuietOptions {
  readonly filename: readonly string[];
  readonly namespace?: string;
  readonly output: OutputFormat<'text'>;
}

type Explanation =
  | { readonly kind: 'pod'; readonly found: PodExplanation }
  | { readonly kind: 'workload'; readonly found: WorkloadExplanation }
  | { readonly kind: 'nodeclaim'; readonly found: ClaimExplanation };

/** What the stack decides by. */
interface Deciding {
  readonly stack: FoundSettings['stack'];
  readonly market: Market;
  readonly progress: Progress;
}

/** The thing asked for is not there: that is no bad input. */
class Absent extends Error {}

async function podNamed(
  live: LiveCluster,
  name: string,
  { namespace }: Options,
  { stack, market }: Deciding,
): Promise<Explanation> {
  const { state, nowMs } = live;
  const { own, namespace: where } = placed(name, namespace ?? live.namespace);
  const pod = state.objects.pods.find((each) => each.namespace === where && each.name === own);
  if (pod === undefined) {
    const there = state.objects.pods.filter((each) => each.namespace === where);
    const near = meant(own, namesOf(there));
    throw new Absent(`there is no Pod ${own} in namespace ${where}${near}`);
  }
  const input = await previewedOn(market, live, stack);
  const around = { state, rows: nodeRows(state, input.prices, nowMs) };
  const found = explainPod(pod, await preview(input), around, await planningOf(input));
  return { kind: 'pod', found };
}

function namesOf(objects: readonly { readonly name: string }[]): readonly string[] {
  return objects.map(({ name }) => name);
}

async function workloadNamed(
  live: LiveCluster,
  { kind, name }: { readonly kind: WorkloadKind; readonly name: string },
  options: Options,
  { stack, market }: Deciding,
): Promise<Explanation> {
  const { state, nowMs } = live;
  const { pods } = state.objects;
  const { own, namespace } = placed(name, options.namespace ?? live.namespace);
  const ownNames = pods
    .filter((pod) => pod.namespace === namespace)
    .flatMap((pod) => workloadOf(pod, kind) ?? []);
  if (!ownNames.includes(own)) {
    const near = meant(own, ownNames);
    throw new Absent(`there is no pod of ${kind} ${own} in namespace ${namespace}${near}`);
  }
  const input = await previewedOn(market, live, stack);
  const around = { state, rows: nodeRows(state, input.prices, nowMs) };
  const { plan } = await preview(input);
  const workload = { workload: kind, namespace, name: own };
  const found = explainWorkload(workload, pods, { plan }, around, await planningOf(input));
  if (found === undefined) throw new Error(`${kind} ${own} has pods and none`);
  return { kind: 'workload', found };
}

async function claimNamed(
  live: LiveCluster,
  { kind, name }: { readonly kind: 'node' | 'nodeclaim'; readonly name: string },
  { stack, market, progress }: Deciding,
): Promise<Explanation> {
  const { state, nowMs } = live;
  const { nodes, nodeClaims } = state.objects;
  const node = kind === 'node' ? nodes.find((each) => each.name === name) : undefined;
  if (kind === 'node' && node === undefined) {
    throw new Absent(`there is no Node ${name}${meant(name, namesOf(nodes))}`);
  }
  const claim = nodeClaims.find((each) =>
    kind === 'node'
      ? node?.providerId !== undefined && each.providerId === node.providerId
      : each.name === name,
  );
  if (claim === undefined) {
    throw new Absent(
      kind === 'node'
        ? `Node ${name} has no NodeClaim: it is somebody else's, and Joiner leaves it alone`
        : `there is no NodeClaim ${name}${meant(name, namesOf(nodeClaims))}`,
    );
  }
  const input = await previewedOn(market, live, stack);
  const rows = nodeRows(state, input.prices, nowMs);
  const row = rows.find(({ nodeClaim }) => nodeClaim === claim.name);
  if (row === undefined) throw new Error(`NodeClaim ${claim.name} is in no row`);
  const previewed = await preview(input, { asked: claim.name, onPart: partsTo(progress) });
  const onPart = partsTo(progress, 'without what keeps the node: ');
  const deciding = { ...input, settings: stack.useCases };
  const found = await explainClaim(claim, row, deciding, previewed, { onPart });
  return { kind: 'nodeclaim', found };
}

function explained(
  live: LiveCluster,
  { kind, name }: Asked,
  options: Options,
  deciding: Deciding,
): Promise<Explanation> {
  if (kind === 'pod') return podNamed(live, name, options, deciding);
  if (kind === 'node' || kind === 'nodeclaim') return claimNamed(live, { kind, name }, deciding);
  return workloadNamed(live, { kind, name }, options, deciding);
}

function textOf(explanation: Explanation): string {
  switch (explanation.kind) {
    case 'pod':
      return renderPod(explanation.found);
    case 'workload':
      return renderWorkload(explanation.found);
    case 'nodeclaim':
      return renderClaim(explanation.found);
  }
}

async function answer(live: LiveCluster, asked: Asked, options: Options): Promise<string> {
  const settings = live.settings(options);
  const market = await marketOf(live, options);
  const explanation = await withProgress(options, (progress) =>
    explained(live, asked, options, { stack: settings.stack, market, progress }),
  );
  const heldBack = heldBackNotes(live.state, live.nowMs);
  const shared = sharedGroupNotes(settings.stack.useCases, market.groupUsages);
  const notes = [...live.unreadable, ...settings.notes, ...market.notes, ...shared, ...heldBack];
  if (isDocument(options.output)) {
    const { kind, found } = explanation;
    const about = { joiner: packageJson.version, cluster: live.url, notes, kind };
    return documentText({ ...about, ...found }, options.output);
  }
  return `${noteLines(notes)}${textOf(explanation)}\n`;
}

/** Of manifests, without a cluster. */
async function manifestAnswer(asked: Asked, options: Options): Promise<string> {
  const { filename, output } = options;
  // Objects of manifests that name no namespace are in this one.
  const among = { ...options, namespace: options.namespace ?? 'default' };
  const answered = await explainManifest(asked, filename, among);
  if (answered.explained === undefined) {
    const { absent, name, namespace, there } = answered;
    const where = `namespace ${namespace} of the manifests`;
    throw new Absent(`there is no ${absent} in ${where}${meant(name, there)}`);
  }
  const { explained: explanation, notes, source } = answered;
  if (isDocument(output)) {
    const { kind, found } = explanation;
    const about = { joiner: packageJson.version, source, notes, kind };
    return documentText({ ...about, ...found }, output);
  }
  return `${noteLines(notes)}${textOf(explanation)}\n`;
}

async function run(what: string, given: string | undefined, options: Options): Promise<number> {
  const asked = askedOf(what, given);
  try {
    if (options.filename.length > 0) {
      writeOut(await manifestAnswer(asked, options));
      return 0;
    }
    refuseManifestOptions(options);
    const text = await withLiveCluster('joiner-explain', options, (live) =>
      answer(live, asked, options),
    );
    writeOut(text);
    return 0;
  } catch (error) {
    if (!(error instanceof Absent)) throw error;
    writeErr(`error: ${error.message}\n`);
    return 1;
  }
}

/** `joiner explain`: why a pod is or would be where it is, and what becomes of a node. */
export function explainCommand(): Command {
  return withManifestOptions(withSettingsOptions(withPricedClusterOptions(new Command('explain'))))
    .description(
      'explain why pods are on their nodes or pending, or why a node is kept or disrupted',
    )
    .argument(
      '<what>',
      'pod, node, nodeclaim or a workload such as deployment; or kind and name, such as pod/web',
    )
    .argument('[name]', 'the name of the object')
    .option(
      '-f, --filename <paths...>',
      'explain a pod or workload of these manifests, without a cluster',
      [],
    )
    .option(
      '-n, --namespace <name>',
      "the namespace of the pod or workload; default: that of the kubeconfig's context",
    )
    .addOption(outputOption('text'))
    .addOption(quietOption())
    .action((what: string, name: string | undefined, options: Options) =>
      reporting(() => run(what, name, options)),
    );
}
