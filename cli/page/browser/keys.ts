import { around } from './elements.ts';

/** What one tab stop stands for: arrows move inside. */
const LISTS: readonly (readonly [item: string, list: string])[] = [
  ['button.node', '#picture'],
  ['g.mark', 'svg.plot'],
  ['button[data-colour]', '.legend'],
];

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowLeft: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

function move(
  item: HTMLElement | SVGElement,
  all: readonly (HTMLElement | SVGElement)[],
  by: number,
): void {
  const at = all.indexOf(item);
  const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
  if (next === undefined) return;
  for (const each of all) each.setAttribute('tabindex', each === next ? '0' : '-1');
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

/** Arrow keys, Home and End move among the items of a list; Enter and Space press marks. */
export function roving(root: HTMLElement): void {
  root.addEventListener('keydown', (event) => {
    for (const [selector, list] of LISTS) {
      const item = around(event, selector);
      const own = item?.closest(list);
      if (!item || !own) continue;
      if (selector === 'g.mark' && (event.key === 'Enter' || event.key === ' ')) {
        event.preventDefault();
        item.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      }
      const step = STEPS[event.key];
      // Left and right are for the blocks of a row.
      const isBlockKey = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
      if (step === undefined || (selector === 'button.node' && isBlockKey)) continue;
      event.preventDefault();
      const all = own.querySelectorAll<HTMLElement | SVGElement>(selector);
      move(
        item,
        [...all].filter((each) => each.checkVisibility()),
        step,
      );
    }
  });
}
