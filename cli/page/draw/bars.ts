import type { Scene, WorkloadModel } from '../model/model.ts';
import { amount, shareOf, usageOf } from '../model/use.ts';
import type { Group } from './groups.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { amountText, percent } from './text.ts';

/** Colours that are told apart; further workloads repeat them with stripes. */
export const COLOURS = 8;

/** Part of a bar: pods of one workload, or room kept for DaemonSets (workload -1). */
interface Block {
  readonly workload: number;
  readonly label: string;
  readonly colour: number | undefined;
  readonly pods: number;
  readonly used: number;
}

export const RESERVED = -1;

/** Pods are told apart in a block of no more than these. */
const PODS_APART_MAX = 40;
/** In percent of the bar: narrower pods have no line between them. */
const POD_MIN = 0.7;
/** How wide a letter of a block's text is, at most, and what is beside the text. */
const LETTER_PX = 6.4;
const BESIDE_PX = 8;
/** Bars have one of these widths at least: the stylesheet hides the texts that need more. */
const BARS_PX = [150, 250, 350, 450, 550, 700] as const;

/** `shop`, of `default/shop`. */
export function shortName({ label }: WorkloadModel): string {
  return label.split('/')[1] ?? label;
}

function order({ colour }: Block): number {
  return colour ?? -1;
}

function blocksOf(scene: Scene, { nodes }: Group, resource: string): readonly Block[] {
  const pods = new Map<number, number>();
  for (const node of nodes) {
    for (const [index, each] of node.pods) pods.set(index, (pods.get(index) ?? 0) + each);
  }
  const blocks = [...pods].flatMap(([index, all]): readonly Block[] => {
    const workload = scene.workloads[index];
    const used = all * amount(workload?.requests ?? {}, resource);
    if (workload === undefined || used === 0) return [];
    const { colour } = workload;
    return [{ workload: index, label: shortName(workload), colour, pods: all, used }];
  });
  const reserved = nodes.reduce((sum, node) => sum + amount(node.reserved, resource), 0);
  const kept: Block = {
    workload: RESERVED,
    label: 'DaemonSets',
    colour: undefined,
    pods: 0,
    used: reserved,
  };
  return [...(reserved > 0 ? [kept] : []), ...blocks].sort((a, b) => order(a) - order(b));
}

/** Every second time that the colours are used. */
export function isStriped(colour: number): boolean {
  return Math.floor(colour / COLOURS) % 2 === 1;
}

export function colourClass(colour: number | undefined): string {
  if (colour === undefined) return 'cd';
  return `c${colour % COLOURS}${isStriped(colour) ? ' striped' : ''}`;
}

function hundredth(value: number): number {
  return Math.round(value * 100) / 100;
}

function lines(pods: number, width: number): readonly Markup[] {
  if (pods < 2 || pods > PODS_APART_MAX || width / pods < POD_MIN) return [];
  return Array.from({ length: pods - 1 }, (_, at) => {
    const x = hundredth(((at + 1) / pods) * 100);
    return html`<line x1="${x}%" x2="${x}%" y1="0" y2="100%"/>`;
  });
}

/** The text where it fits as a whole; `width` is the block's, in percent of the bars' column. */
function blockText(label: string, times: string, width: number): Markup {
  const widthFor = (text: string): number | undefined => {
    const needed = (text.length * LETTER_PX + BESIDE_PX) / (width / 100);
    return BARS_PX.find((each) => each >= needed);
  };
  const [whole, short] = [widthFor(`${label}${times}`), widthFor(label)];
  if (short === undefined) return NOTHING;
  if (whole === undefined) return html`<text class="w${short}" x="5" y="12">${label}</text>`;
  return html`<text class="w${whole}" x="5" y="12">${label}${times}</text>`;
}

/** Where blocks of one bar are, and how much of the bars' column it is long. */
interface Extent {
  readonly from: number;
  readonly width: number;
  readonly length: number;
}

function blockMarkup(block: Block, { from, width, length }: Extent, nodes: number): Markup {
  const { workload, label, colour, used } = block;
  const pods = block.pods / nodes;
  const times = pods > 1 ? ` ×${Number.isInteger(pods) ? pods : pods.toFixed(1)}` : '';
  const text = blockText(label, times, (width * length) / 100);
  const stripes =
    colour !== undefined && isStriped(colour)
      ? html`<rect class="stripes" width="100%" height="100%"/>`
      : NOTHING;
  return html`<svg class="block ${colourClass(colour)}" data-workload="${workload}" data-used="${used}" x="${hundredth(from)}%" width="${hundredth(width)}%" height="100%"><rect width="100%" height="100%"/>${stripes}${lines(Number.isInteger(pods) ? pods : 0, width)}${text}</svg>`;
}

/** One resource of a group of nodes; `length` is the bar's, in percent of the column. */
export function bar(scene: Scene, group: Group, resource: string, length: number): Markup {
  const { there } = usageOf(scene, group.nodes, resource);
  if (there === 0) return NOTHING;
  let from = 0;
  const blocks = blocksOf(scene, group, resource).map((block) => {
    const width = (block.used / there) * 100;
    const drawn = blockMarkup(block, { from, width, length }, group.nodes.length);
    from += width;
    return drawn;
  });
  return html`<svg class="bar" width="${hundredth(length)}%" height="17" data-resource="${resource}"><rect class="free" width="100%" height="100%"/>${blocks}</svg>`;
}

/** Where each of several nodes is fuller than this, a curve of them says nothing. */
const NEARLY_FULL = 0.9;
const CURVE_HEIGHT = 20;

/**
 * How full each of several nodes is, the fullest first: what the average of a bar hides. The line
 * is cpu, and the edges of its box are 0 % and 100 %.
 */
export function fillCurve(scene: Scene, { nodes }: Group): Markup {
  const fills = nodes.map((node) => shareOf(usageOf(scene, [node], 'cpu'))).sort((a, b) => b - a);
  const [most, least] = [fills[0] ?? 0, fills.at(-1) ?? 0];
  if (nodes.length < 2 || least > NEARLY_FULL || percent(most) === percent(least)) return NOTHING;
  const step = 1000 / fills.length;
  const steps = fills.map((share, at) => {
    const y = (CURVE_HEIGHT * (1 - Math.min(1, share))).toFixed(1);
    return `V${y}H${((at + 1) * step).toFixed(1)}`;
  });
  const path = html`<path d="M0 ${CURVE_HEIGHT}${steps.join('')}V${CURVE_HEIGHT}Z"/>`;
  const said = `cpu of each node, the fullest first: ${percent(most)} to ${percent(least)}`;
  return html`<span class="fills"><span class="ends"><small>100 %</small><small>0 %</small></span><svg width="100%" height="30" viewBox="0 0 1000 ${CURVE_HEIGHT}" preserveAspectRatio="none">${path}</svg><small class="said">${said}</small></span>`;
}

/** `7.2 of 8`. */
export function useText(scene: Scene, group: Group, resource: string): string {
  const { used, there } = usageOf(scene, group.nodes, resource);
  return `${amountText(resource, used)} of ${amountText(resource, there)}`;
}
