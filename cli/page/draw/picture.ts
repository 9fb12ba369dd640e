import type { Scene, WorkloadModel } from '../model/model.ts';
import { amount, NO_POOL, podsOn } from '../model/use.ts';
import { bar, colourClass, fillCurve, isStriped, shortName } from './bars.ts';
import { type Group, type Level, openKey, rowsOf, zonesText } from './groups.ts';
import { effectText } from './ladder.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { eachPrice, resourceName, shares, stateBadge, sumText } from './sums.ts';
import { amountText, count, type Prices, podsText } from './text.ts';

/** How a picture is looked at. */
export interface View {
  readonly level: Level;
  /** Bars as long as nodes are large, not all alike. */
  readonly toSize: boolean;
  readonly prices: Prices;
  /** Rows of types whose equal nodes are shown. */
  readonly open: ReadonlySet<string>;
}

/** Workloads in the legend: at once, and when it is opened. The others are named where they are. */
const LEGEND_MAX = 24;
const LEGEND_OPENED_MAX = 150;

function sizeShare(group: Group, resource: string, most: ReadonlyMap<string, number>): number {
  const largest = most.get(resource) ?? 0;
  return largest > 0 ? (100 * amount(group.first.allocatable, resource)) / largest : 100;
}

function row(
  scene: Scene,
  group: Group,
  at: number,
  view: View,
  most: ReadonlyMap<string, number>,
): Markup {
  const { nodes, first } = group;
  const times = nodes.length > 1 ? html`<b class="times">${nodes.length} ×</b> ` : NOTHING;
  const isInner = view.level === 'type' && group.level === 'equal';
  const expanded =
    group.level === 'type' && nodes.length > 1
      ? html` aria-expanded="${String(view.open.has(openKey(group)))}"`
      : NOTHING;
  const badge = stateBadge(scene, first);
  const bars = scene.resources.map((resource) =>
    bar(scene, group, resource, view.toSize ? sizeShare(group, resource, most) : 100),
  );
  const fills = group.level === 'type' ? fillCurve(scene, group) : NOTHING;
  const sums = shares(scene, nodes).map(
    ([name, share]) => html`<span><i>${name}</i> ${share}</span>`,
  );
  const others = nodes.length - 1;
  const also = others > 0 ? ` and ${others.toLocaleString('en')} more` : '';
  const name = html`<small class="name">${first.name}${also}</small>`;
  const effect = overlayText(first);
  const overlaid = effect === '' ? NOTHING : html`<span class="badge">${effect}</span>`;
  return html`<li><button type="button" class="node${isInner ? ' inner' : ''}"${expanded} data-group="${at}" tabindex="${at === 0 ? 0 : -1}"><span class="what">${times}<b>${first.type}</b> ${badge}${overlaid}<small>${first.capacityType} · ${zonesText(nodes)}</small>${name}</span><span class="price">${eachPrice(nodes, view.prices)}</span><span class="bars" aria-hidden="true">${bars}${fills}</span><span class="shares">${sums}<span class="unseen">${podsText(podsOn(scene, nodes))}</span></span></button></li>`;
}

/** What NodeOverlays have made of a node; empty: nothing. */
export function overlayText(node: Group['first']): string {
  const { overlays, overlaid, listPrice, price } = node;
  if (overlays.length === 0) return '';
  const added = Object.entries(overlaid).map(
    ([resource, each]) => `adds ${amountText(resource, each)} ${resourceName(resource)}`,
  );
  const isPriced = listPrice !== null && price !== null && listPrice !== price;
  const priced = isPriced ? [`price ${effectText(listPrice, price)}`] : [];
  const effects = [...added, ...priced];
  return `overlay${effects.length > 0 ? `: ${effects.join(', ')}` : ` ${overlays.join(', ')}`}`;
}

/** Every node of a scene, by NodePool. `groups` number the rows. */
export function picture(scene: Scene, view: View): Markup {
  const groups = rowsOf(scene, view.level, view.open);
  if (groups.length === 0) return html`<p class="none">There are no nodes.</p>`;
  const most = new Map(
    scene.resources.map((resource) => [
      resource,
      Math.max(...scene.nodes.map(({ allocatable }) => amount(allocatable, resource))),
    ]),
  );
  const numbered = groups.map((group, at) => ({ group, at }));
  const byPool = Map.groupBy(numbered, ({ group }) => group.pool);
  const own = scene.nodes.filter(({ pool }) => pool !== NO_POOL);
  const total =
    new Set(own.map(({ pool }) => pool)).size > 1
      ? html`<p class="total">All NodePools: ${sumText(scene, own, view.prices)}</p>`
      : NOTHING;
  const pools = [...byPool].map(([pool, numbers]) => {
    const rows = numbers.map(({ group, at }) => row(scene, group, at, view, most));
    const nodes = scene.nodes.filter((each) => each.pool === pool);
    const heading = html`<h3>${pool}</h3><p class="sum">${sumText(scene, nodes, view.prices)}</p>`;
    return html`<section class="pool">${heading}<ul class="nodes">${rows}</ul></section>`;
  });
  return html`${total}${pools}`;
}

/** The legend is one tab stop, and what is folded in it another: arrows move in each. */
function legendItem(workload: WorkloadModel, colour: number, isStop: boolean): Markup {
  const stripes = isStriped(colour)
    ? html`<rect class="stripes" width="12" height="12"/>`
    : NOTHING;
  return html`<li><button type="button" aria-pressed="false" tabindex="${isStop ? 0 : -1}" data-colour="${colour}" title="${workload.label}"><svg class="swatch ${colourClass(colour)}" aria-hidden="true" width="12" height="12"><rect width="12" height="12"/>${stripes}</svg>${shortName(workload)}</button></li>`;
}

/** Some node has pods of DaemonSets, or room that is kept for them. */
function hasDaemons({ workloads, nodes }: Pick<Scene, 'workloads' | 'nodes'>): boolean {
  return nodes.some(
    ({ reserved, pods }) =>
      Object.values(reserved).some((each) => each > 0) ||
      pods.some(([index]) => workloads[index]?.colour === undefined),
  );
}

/** Which colour is which workload; a workload's button shows where its pods are. */
export function legend({ workloads, nodes }: Scene): Markup {
  const used = new Set(nodes.flatMap(({ pods }) => pods.map(([index]) => index)));
  const byColour = new Map(
    workloads.flatMap((each, index) =>
      each.colour !== undefined && used.has(index) ? [[each.colour, each] as const] : [],
    ),
  );
  const shown = [...byColour].sort(([a], [b]) => a - b);
  const items = shown.map(([colour, each], at) =>
    legendItem(each, colour, at % LEGEND_MAX === 0 && at <= LEGEND_MAX),
  );
  const folded = items.slice(LEGEND_MAX, LEGEND_OPENED_MAX);
  const unnamed = Math.max(0, shown.length - LEGEND_OPENED_MAX);
  const also =
    unnamed > 0 ? html`<li class="more">and ${count(unnamed, 'workload')} more</li>` : NOTHING;
  const rest =
    folded.length === 0
      ? NOTHING
      : html`<li class="more"><details><summary>and ${count(shown.length - LEGEND_MAX, 'workload')} more</summary><ul class="legend">${folded}${also}</ul></details></li>`;
  const daemons = hasDaemons({ workloads, nodes })
    ? html`<li><span class="key"><svg class="swatch cd" aria-hidden="true" width="12" height="12"><rect width="12" height="12"/></svg>DaemonSets</span></li>`
    : NOTHING;
  return html`<ul class="legend" aria-label="Workloads by colour">${items.slice(0, LEGEND_MAX)}${rest}${daemons}<li><span class="key"><svg class="swatch" aria-hidden="true" width="12" height="12"><rect class="free" width="12" height="12"/></svg>not requested</span></li></ul>`;
}
