import { html, type Markup } from './markup.ts';

/** A NodePool's part of why a pod has no node, as `stageText` joins its stages. */
const POOL = /^NodePool (\S+): \d+ types? → (.+)$/;
const CAUSE = /^cause: 0 after (.+)$/;
const NOT_READY = /^the NodePool, which is not ready \((.+)\)$/;

function causeText(nodePool: string, cause: string): string {
  const [, condition] = NOT_READY.exec(cause) ?? [];
  if (condition === 'Ready: LaunchesPaused') return `launches of NodePool ${nodePool} are paused`;
  if (condition !== undefined) return `NodePool ${nodePool} is not ready (${condition})`;
  return `NodePool ${nodePool} has no instance type left after ${cause}`;
}

/** The obstacles of a reason in words; undefined: it is not of stages. */
export function obstaclesText(why: string): string | undefined {
  const parts = why.split('; ');
  const told = parts.map((part) => {
    const [, nodePool, stages] = POOL.exec(part) ?? [];
    if (nodePool === undefined || stages === undefined) return undefined;
    const causes = stages.split(' → ').flatMap((each) => CAUSE.exec(each)?.[1] ?? []);
    return causes.map((cause) => causeText(nodePool, cause)).join(', and ');
  });
  if (told.every((each) => each === undefined || each === '')) return undefined;
  const text = parts.map((part, at) => told[at] || part).join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A reason; what each stage left is folded under its obstacles. */
export function whyMarkup(why: string): Markup {
  const obstacles = obstaclesText(why);
  if (obstacles === undefined) return html`${why}`;
  return html`<details><summary>${obstacles}</summary>${why}</details>`;
}
