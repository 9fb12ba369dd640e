import { goneDetail, nodeDetail } from '../draw/detail.ts';
import { type Group, LEVELS, type Level, levelFor, openKey, rowsOf } from '../draw/groups.ts';
import { type Markup, NOTHING } from '../draw/markup.ts';
import { legend, picture } from '../draw/picture.ts';
import type { Prices } from '../draw/text.ts';
import type { PageModel, Scene } from '../model/model.ts';
import { shownFirst } from '../model/moment.ts';
import type { Details } from './details.ts';
import { around, byId, numberOf, show } from './elements.ts';

/** The picture of nodes and pods, as it is looked at now. */
export class PictureView {
  private readonly model: PageModel;
  private readonly prices: Prices;
  private readonly details: Details;
  private readonly place = byId('picture');
  private scene: Scene;
  /** Which of several scenes it is, or which moment. */
  private when: string;
  private level: Level;
  private toSize = false;
  private readonly open = new Set<string>();
  private groups: readonly Group[] = [];
  private picked: number | undefined;
  /** The colour of the workload that is chosen in the legend. */
  private chosen: number | undefined;

  constructor(model: PageModel, prices: Prices, details: Details) {
    const scene = shownFirst(model);
    if (scene === undefined) throw new Error('the page has no picture');
    this.model = model;
    this.prices = prices;
    this.details = details;
    this.scene = scene;
    this.level = levelFor(scene);
    this.groups = rowsOf(scene, this.level, this.open);
    this.when = model.scenes.length > 1 ? scene.title : '';
  }

  /** Shows other nodes, or the same at another time. */
  draw(scene: Scene, when = this.when): void {
    this.scene = scene;
    this.when = when;
    const { level, toSize, prices, open } = this;
    this.groups = rowsOf(scene, level, open);
    show(this.place, picture(scene, { level, toSize, prices, open }));
    this.highlight();
    this.details.renew(
      (name) => this.detailOf(this.groupWith(name)) ?? goneDetail(name, when),
      (name) => this.rowOf(this.groupWith(name)),
    );
  }

  /** The finest row that the node is in. */
  private groupWith(name: string): Group | undefined {
    return this.groups.findLast(({ nodes }) => nodes.some((each) => each.name === name));
  }

  private rowOf(group: Group | undefined): HTMLElement | undefined {
    const at = group === undefined ? -1 : this.groups.indexOf(group);
    return this.place.querySelector<HTMLElement>(`.node[data-group="${at}"]`) ?? undefined;
  }

  private detailOf(group: Group | undefined): Markup | undefined {
    const { scene, prices, when, picked } = this;
    return group && nodeDetail(scene, group, { prices, when, picked });
  }

  /** Moves to the row of the node and keeps its details; false: the node is not in the picture. */
  reveal(name: string): boolean {
    const group = this.groupWith(name);
    const row = this.rowOf(group);
    const detail = this.detailOf(group);
    if (row === undefined || detail === undefined) return false;
    for (const each of this.place.querySelectorAll('.node')) each.setAttribute('tabindex', '-1');
    row.setAttribute('tabindex', '0');
    row.focus();
    row.scrollIntoView({ block: 'center' });
    this.details.release();
    this.details.keep(detail, row, name);
    return true;
  }

  /** The first row's details, so that it is seen what there are. */
  introduce(): void {
    const [first] = this.groups;
    const detail = this.detailOf(first);
    if (detail !== undefined) this.details.glance(detail, first?.first.name);
  }

  listen(): void {
    this.listenToControls();
    this.listenToRows();
    byId('legend').addEventListener('click', (event) => {
      const button = around(event, 'button[data-colour]');
      if (button === null) return;
      const colour = numberOf(button, 'colour');
      this.chosen = colour === this.chosen ? undefined : colour;
      this.highlight();
    });
  }

  /** To another scene: its nodes are others, also where names are the same. */
  private change(other: Scene): void {
    show(byId('legend'), legend(other));
    // What has no pods in the other scene is not in its legend either.
    if (this.chosenButton() === null) this.chosen = undefined;
    this.details.clear();
    this.draw(other, other.title);
    this.introduce();
  }

  private listenToControls(): void {
    byId('packing').addEventListener('change', ({ target }) => {
      if (!(target instanceof HTMLInputElement)) return;
      if (target.id === 'to-size') this.toSize = target.checked;
      if (target.name === 'level')
        this.level = LEVELS.find((each) => each === target.value) ?? 'equal';
      const other = target.name === 'scene' ? this.model.scenes[Number(target.value)] : undefined;
      if (other === undefined) this.draw(this.scene);
      else this.change(other);
    });
  }

  private listenToRows(): void {
    const { place, details } = this;
    const glance = (event: Event): void => {
      const row = around(event, 'button.node');
      if (row === null) return;
      this.picked = numberOf(around(event, '.block'), 'workload');
      this.glance(row);
    };
    place.addEventListener('mouseover', glance);
    place.addEventListener('focusin', glance);
    place.addEventListener('mouseleave', () => details.leave());
    place.addEventListener('click', (event) => {
      const row = around(event, 'button.node');
      const group = this.groupOf(row);
      if (row === null || group === undefined) return;
      if (row.hasAttribute('aria-expanded')) this.toggle(row, group);
      else details.keep(this.detailOf(group) ?? NOTHING, row, group.first.name);
    });
    place.addEventListener('keydown', (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const row = around(event, 'button.node');
      if (by === undefined || row === null) return;
      event.preventDefault();
      this.step(row, by);
    });
  }

  /** Opens or closes a row of types: the row stays where it is, and focused. */
  private toggle(row: HTMLElement | SVGElement, group: Group): void {
    const key = openKey(group);
    if (!this.open.delete(key)) this.open.add(key);
    const at = this.groups.filter(({ level }) => level === 'type').indexOf(group);
    this.draw(this.scene);
    const rows = this.place.querySelectorAll<HTMLElement>('.node:not(.inner)');
    for (const each of this.place.querySelectorAll('.node')) each.setAttribute('tabindex', '-1');
    rows[at]?.setAttribute('tabindex', '0');
    if (row.matches(':focus') || document.activeElement === document.body) rows[at]?.focus();
  }

  private groupOf(row: HTMLElement | SVGElement | null): Group | undefined {
    return this.groups[numberOf(row, 'group') ?? -1];
  }

  private glance(row: HTMLElement | SVGElement): void {
    const group = this.groupOf(row);
    if (group === undefined) return;
    for (const each of this.place.querySelectorAll('.block.picked'))
      each.classList.remove('picked');
    for (const each of row.querySelectorAll(`.block[data-workload="${this.picked}"]`)) {
      each.classList.add('picked');
    }
    this.details.glance(this.detailOf(group) ?? NOTHING, group.first.name);
  }

  /** To the next workload of the row. */
  private step(row: HTMLElement | SVGElement, by: number): void {
    const blocks = [...row.querySelectorAll<SVGElement>('.block')];
    const list = [...new Set(blocks.map((each) => Number(each.dataset['workload'])))];
    const at = list.indexOf(this.picked ?? Number.NaN);
    this.picked = list[(at + by + (at < 0 && by < 0 ? 1 : 0) + list.length) % list.length];
    this.glance(row);
  }

  private chosenButton(): HTMLElement | null {
    return byId('legend').querySelector<HTMLElement>(`button[data-colour="${this.chosen}"]`);
  }

  /** Only pods of the chosen workload keep their colour; all do where none is chosen. */
  private highlight(): void {
    const { chosen, scene, place } = this;
    const button = this.chosenButton();
    for (const each of byId('legend').querySelectorAll('button')) {
      each.setAttribute('aria-pressed', String(each === button));
    }
    place.classList.toggle('dimmed', chosen !== undefined);
    if (chosen === undefined) {
      for (const block of place.querySelectorAll('.block.lit')) block.classList.remove('lit');
      return;
    }
    for (const block of place.querySelectorAll<SVGElement>('.block')) {
      const workload = scene.workloads[Number(block.dataset['workload'])];
      block.classList.toggle('lit', workload?.colour === chosen);
    }
  }
}
