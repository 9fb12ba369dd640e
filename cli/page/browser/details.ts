import type { Markup } from '../draw/markup.ts';
import { show } from './elements.ts';

/** The panel with details: of what is pointed at, else of what was clicked. */
export class Details {
  private readonly panel: HTMLElement;
  private kept: Markup | undefined;
  private source: Element | undefined;

  constructor(panel: HTMLElement) {
    this.panel = panel;
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.release();
    });
  }

  /** Shows it while it is pointed at, or focused. */
  glance(markup: Markup): void {
    show(this.panel, markup);
  }

  /** Shows it until something else is clicked; a second click lets it go. */
  keep(markup: Markup, source: Element): void {
    if (this.source === source) {
      this.release();
      return;
    }
    this.release();
    this.kept = markup;
    this.source = source;
    source.classList.add('kept');
    this.panel.classList.add('pinned');
    show(this.panel, markup);
  }

  /** Back to what was clicked. */
  leave(): void {
    if (this.kept !== undefined) show(this.panel, this.kept);
  }

  release(): void {
    this.source?.classList.remove('kept');
    this.panel.classList.remove('pinned');
    this.kept = undefined;
    this.source = undefined;
  }
}
