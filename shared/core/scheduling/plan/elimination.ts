import type { Stage } from '../../explain/parameters.ts';
import { type Reason, sentence } from '../../explain/reason.ts';
import type { LaunchOption } from '../problem/launch-options.ts';

/** How many types the options are of. */
export function typesOf(options: readonly LaunchOption[]): number {
  return new Set(options.map(({ type }) => type.type.name)).size;
}

/** A reason, or one that looks at the options that did not pass. */
type Because = Reason | ((lost: readonly LaunchOption[]) => Reason);

/** What a step may not tell apart: options of one group, or of one variant of the NodePool. */
type Alike = 'group' | 'pool';

type Firsts = Readonly<Record<Alike, readonly LaunchOption[]>>;

/** By list: an option of each. */
const firstsOf = new WeakMap<readonly LaunchOption[], Firsts>();

function firsts(options: readonly LaunchOption[]): Firsts {
  const known = firstsOf.get(options);
  if (known !== undefined) return known;
  const firstOf = (alike: Alike) => [
    ...new Map(options.map((each) => [each[alike], each])).values(),
  ];
  const made = { group: firstOf('group'), pool: firstOf('pool') };
  firstsOf.set(options, made);
  return made;
}

/** So many obstacles are looked for: a pod may have thousands, and nobody reads those. */
const OBSTACLES_MAX = 50;

/**
 * Narrows the launches of one pool down, step by step. A step that would leave none is an obstacle:
 * what there was before it stays, so that the steps after it are looked at as well.
 */
export class Elimination {
  readonly stages: Stage[] = [];
  /** Steps that left nothing: without all of them the pod would have a type of the pool. */
  obstacles = 0;
  /** Steps before the first obstacle: the more, the nearer was the pool. */
  passed = 0;
  options: readonly LaunchOption[];
  private types: number;

  constructor(types: number, options: readonly LaunchOption[]) {
    this.types = types;
    this.options = options;
  }

  /** The same so far, to be narrowed down further. */
  copy(): Elimination {
    const copy = new Elimination(this.types, this.options);
    copy.stages.push(...this.stages);
    copy.obstacles = this.obstacles;
    copy.passed = this.passed;
    return copy;
  }

  /** Types that are left; 0: there is an obstacle. */
  get left(): number {
    return this.obstacles > 0 ? 0 : this.types;
  }

  /** Notes what is left of the types by something that is no launch option yet. */
  narrow(because: Reason, left: number): void {
    if (left === this.types && left > 0) return;
    this.note(because, left);
    if (left > 0) this.types = left;
  }

  /** Keeps the launches that pass; false: none does, and all are kept. */
  keep(because: Because, passes: (each: LaunchOption) => boolean): boolean {
    if (this.isOver) return true;
    return this.keepOnly(because, this.options.filter(passes));
  }

  /** The same, where all launches that are alike pass or none: one of each is looked at. */
  keepAlike(because: Because, alike: Alike, passes: (each: LaunchOption) => boolean): boolean {
    if (this.isOver) return true;
    const different = firsts(this.options)[alike];
    const kept = new Set(different.filter(passes).map((each) => each[alike]));
    if (kept.size === 0) return this.keepOnly(because, []);
    if (kept.size === different.length) return this.keepOnly(because, this.options);
    return this.keepOnly(
      because,
      this.options.filter((each) => kept.has(each[alike])),
    );
  }

  private get isOver(): boolean {
    return this.options.length === 0 || this.obstacles >= OBSTACLES_MAX;
  }

  private keepOnly(because: Because, kept: readonly LaunchOption[]): boolean {
    if (kept.length > 0 && this.obstacles === 0) this.passed += 1;
    if (kept.length === this.options.length) return true;
    const left = typesOf(kept);
    if (left < this.types) {
      this.note(typeof because === 'function' ? because(this.options) : because, left);
    }
    if (left === 0) return false;
    this.options = kept;
    this.types = left;
    return true;
  }

  /** Takes an obstacle back that is none once the others are away. */
  withdraw(code: Reason['code']): void {
    const at = this.stages.findIndex((each) => each.code === code && each.after === 0);
    if (at < 0 || this.obstacles < 2) return;
    this.stages.splice(at, 1);
    this.obstacles -= 1;
  }

  /** Nothing is left, whatever passed. */
  end(because: Reason): void {
    this.note(because, 0);
  }

  private note(because: Reason, after: number): void {
    const { code, parameters } = because;
    const what = sentence(because);
    this.stages.push({ code, parameters: { ...parameters }, what, before: this.types, after });
    if (after === 0) this.obstacles += 1;
  }
}
