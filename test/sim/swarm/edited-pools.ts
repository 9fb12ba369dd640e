import type { Json } from '../../../shared/sim/json.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { one } from './one.ts';
import { drawBudgets, type OtherPool, type Setting } from './setting.ts';

const MINUTE = 60_000;

/** A window of a NodePool, whatever became of its annotation since. */
export interface PausedSpan {
  readonly part: 'launch' | 'disrupt';
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What people have made of a NodePool. */
interface Edited extends OtherPool {
  template: number;
  isGone: boolean;
  window: string | undefined;
  budgets: readonly Json[];
  /** The last one; there is one at a time. */
  paused: PausedSpan | undefined;
}

export interface EditedPoolsSettings {
  readonly world: World;
  readonly setting: Setting;
  readonly random: Prng;
  /** Of the static NodePool. */
  readonly replicas: () => number;
}

/** NodePools as people edit, delete and apply them again; each edit is of any of them. */
export class EditedPools {
  private readonly settings: EditedPoolsSettings;
  private readonly pools: readonly Edited[];
  private isRestored = false;

  constructor(settings: EditedPoolsSettings) {
    this.settings = settings;
    const { pool, budgets, others, kinds } = settings.setting;
    const untouched = { template: 0, isGone: false, window: undefined, paused: undefined };
    const all = [{ name: 'default', pool, budgets }, ...others];
    this.pools = all.map((each) => ({ ...each, ...untouched }));
    const [first] = this.pools;
    if (kinds.window === undefined || first === undefined) return;
    const fromMs = WORLD_START_MS + kinds.window.fromMinute * MINUTE;
    const untilMs = fromMs + kinds.window.minutes * MINUTE;
    first.paused = { part: 'disrupt', fromMs, untilMs };
  }

  /** Of the NodePool the last window. */
  pausedSpan(name: string | undefined): PausedSpan | undefined {
    return this.pools.find((each) => each.name === name)?.paused;
  }

  /** When all windows have ended. */
  get pausedUntilMs(): number {
    return Math.max(...this.pools.map(({ paused }) => paused?.untilMs ?? 0));
  }

  isEdited(name: string): boolean {
    return this.pools.some((each) => each.name === name);
  }

  newTemplate(): void {
    const pool = this.any();
    if (pool.isGone) return;
    pool.template += 1;
    this.applyPool(pool);
  }

  editBudgets(): void {
    const pool = this.any();
    if (pool.isGone) return;
    pool.budgets = drawBudgets(this.settings.random);
    this.applyPool(pool);
  }

  /** A window that begins with the next minute; the annotation stays when it has ended. */
  pause(): void {
    const { world, random, setting } = this.settings;
    const pool = this.any();
    const nowMs = world.timeline.nowMs();
    if (setting.kinds.window !== undefined) return;
    if (pool.isGone || nowMs < (pool.paused?.untilMs ?? 0)) return;
    const part = one(random, ['launch', 'disrupt'] as const);
    const fromMs = (Math.floor(nowMs / MINUTE) + 1) * MINUTE;
    const minutes = random.between(4, 10);
    pool.paused = { part, fromMs, untilMs: fromMs + minutes * MINUTE };
    const from = new Date(fromMs);
    pool.window = `${part} from ${from.getUTCMinutes()} ${from.getUTCHours()} * * * for ${minutes}m`;
    this.applyPool(pool);
  }

  /** Deletes one, and says which; undefined: it is deleted already. */
  remove(): string | undefined {
    const { store } = this.settings.world;
    const pool = this.any();
    if (pool.isGone) return undefined;
    pool.isGone = true;
    const object = store.get('NodePool', undefined, pool.name);
    if (object !== undefined) store.delete(object, 0);
    return pool.name;
  }

  /** As it was last, where it has been deleted, too. */
  apply(name: string): void {
    const pool = this.pools.find((each) => each.name === name);
    if (pool !== undefined) this.applyPool(pool);
  }

  /** What was deleted is there again, and nodes live on. */
  restore(): void {
    this.isRestored = true;
    for (const each of this.pools) {
      if (each.isGone || this.settings.setting.expireAfter !== 'Never') this.applyPool(each);
    }
  }

  /** Draws nothing where there is no choice, so that such seeds stay as they are. */
  private any(): Edited {
    const [first] = this.pools;
    if (first !== undefined && this.pools.length === 1) return first;
    return one(this.settings.random, this.pools);
  }

  private applyPool(edited: Edited): void {
    const { world, setting, replicas } = this.settings;
    const { pool, template, budgets, window } = edited;
    edited.isGone = false;
    world.store.apply(
      pool({
        labels: template === 0 ? {} : { revision: `r${template}` },
        expireAfter: this.isRestored ? 'Never' : setting.expireAfter,
        budgets,
        window,
        replicas: replicas(),
      }),
    );
  }
}
