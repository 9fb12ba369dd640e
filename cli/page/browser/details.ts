import { html, type Markup, NOTHING } from '../draw/markup.ts';
import { around, show } from './elements.ts';

/** What the panel says, and of which node; undefined: of none. */
interface Said {
  readonly markup: Markup;
  readonly node: string | undefined;
}

/** What Tab stops at, in order, where it is seen. */
function stopsIn(panel: HTMLElement): readonly HTMLElement[] {
  const all = panel.querySelectorAll<HTMLElement>('button, summary, a[href], [tabindex="0"]');
  return [...all].filter((each) => each.checkVisibility());
}

function focus(element: Element): void {
  if (element instanceof HTMLElement || element instanceof SVGElement) element.focus();
}

/** The panel with details: of what is pointed at, else of what was clicked. */
export class Details {
  private readonly panel: HTMLElement;
  private shown: Said | undefined;
  private kept: Said | undefined;
  private source: Element | undefined;

  constructor(panel: HTMLElement) {
    this.panel = panel;
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.release();
    });
    panel.addEventListener('click', (event) => {
      if (around(event, '.close') !== null) this.close();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Tab') this.tab(event);
    });
  }

  /**
   * In a narrow window the panel lies over the page: Tab leads from what was clicked into it, and
   * beyond its last stop lets it go and leads on from there; Shift and Tab lead back.
   */
  private tab(event: KeyboardEvent): void {
    const { source, panel } = this;
    const [first, ...rest] = stopsIn(panel);
    // Only there it can be closed.
    if (source === undefined || !first?.matches('.close')) return;
    const at = document.activeElement;
    if (at === source && !event.shiftKey) {
      event.preventDefault();
      first.focus();
    } else if (at === first && event.shiftKey) {
      event.preventDefault();
      focus(source);
    } else if (at === (rest.at(-1) ?? first) && !event.shiftKey) {
      // Not prevented: the browser moves on from what was clicked.
      this.close();
    }
  }

  /** Shows it while it is pointed at, or focused. */
  glance(markup: Markup, node?: string): void {
    this.say({ markup, node });
  }

  /** Shows it until something else is clicked; a second click lets it go. */
  keep(markup: Markup, source: Element, node?: string): void {
    if (this.source === source) {
      this.release();
      return;
    }
    this.release();
    this.kept = { markup, node };
    this.from(source);
    this.panel.classList.add('pinned');
    this.say(this.kept);
  }

  /** Back to what was clicked. */
  leave(): void {
    if (this.kept !== undefined) this.say(this.kept);
  }

  release(): void {
    this.source?.classList.remove('kept');
    this.panel.classList.remove('pinned');
    this.kept = undefined;
    this.source = undefined;
  }

  /** What was said is of nodes that are no longer in the picture. */
  clear(): void {
    this.release();
    this.shown = undefined;
    show(this.panel, NOTHING);
  }

  /** The picture was drawn anew: what is said of its nodes is another thing now. */
  renew(again: (node: string) => Markup, rowOf: (node: string) => Element | undefined): void {
    const renewed = (said: Said | undefined): Said | undefined =>
      said?.node === undefined ? said : { ...said, markup: again(said.node) };
    const isKept = this.shown === this.kept;
    this.kept = renewed(this.kept);
    this.shown = isKept ? this.kept : renewed(this.shown);
    if (this.shown?.node !== undefined) this.say(this.shown);
    const row = this.kept?.node === undefined ? undefined : rowOf(this.kept.node);
    if (row !== undefined) this.from(row);
  }

  /** Back to what the details are of. */
  private close(): void {
    const { source } = this;
    this.release();
    if (source !== undefined) focus(source);
  }

  private from(source: Element): void {
    this.source = source;
    source.classList.add('kept');
  }

  private say(said: Said): void {
    this.shown = said;
    const close = html`<button type="button" class="close">Close</button>`;
    show(this.panel, html`${close}${said.markup}`);
  }
}
