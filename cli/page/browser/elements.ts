import type { Markup } from '../draw/markup.ts';
import type { PageModel } from '../model/model.ts';

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
}

export function pageModel(): PageModel {
  // Written by the very version that has written this script.
  return JSON.parse(byId('model').textContent ?? '') as PageModel;
}

/** The nearest element around what an event is about. */
export function around(event: Event, selector: string): HTMLElement | SVGElement | null {
  const { target } = event;
  return target instanceof Element ? target.closest<HTMLElement | SVGElement>(selector) : null;
}

/** Markup is escaped where it is made. */
export function show(element: HTMLElement, markup: Markup): void {
  element.innerHTML = markup.text;
}

export function numberOf(element: HTMLElement | SVGElement | null, name: string) {
  const text = element?.dataset[name];
  return text === undefined ? undefined : Number(text);
}
