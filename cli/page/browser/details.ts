import { html, type Markup, NOTHING } from '../draw/markup.ts';
import { around, show } from './elements.ts';

/** What the panel says, and of which node; undefined: of none. */
interface Said {
  readonly markup: Markup;
  readonly node: string | undefined;
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
    if (source instanceof HTMLElement || source instanceof SVGElement) source.focus();
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
