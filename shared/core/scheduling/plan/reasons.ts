import { missing } from '../../missing.ts';
import type { EliminationStage, UnplacedReason } from '../../model/plan.ts';
import type { NodePool } from '../../model/provisioning.ts';
import { amountOf } from '../../model/resources.ts';
import { type Taint, untoleratedTaint } from '../../model/taint.ts';
import { formatQuantity } from '../../quantity.ts';
import type { Requirements, ValueSet } from '../../requirements/value-set.ts';
import { ATTACH_PREFIX, type LaunchOption } from '../problem/launch-options.ts';
import { launchMeets } from '../problem/launch-space.ts';
import { taintsAllowed } from '../problem/node-rules.ts';
import type { PodClass } from '../problem/problem.ts';
import { isHostKey } from '../problem/topology-terms.ts';
import { emptyHost, hostAllows } from '../search/host.ts';
import type { SearchState } from '../search/search-state.ts';
import { placeOfGroup } from '../search/topology.ts';

/** The NodePools as the snapshot has them, usable or not, with the number of their types. */
export interface PoolSize {
  readonly pool: NodePool;
  readonly types: number;
}

/** What of one NodePool's types a pod could be given a node of. */
export interface LaunchOptions {
  readonly nodePool: string;
  /** All of the NodePool. */
  readonly types: number;
  /** What took types away; stages that took none are left out. */
  readonly stages: readonly EliminationStage[];
  /** Types that remain. */
  readonly left: number;
}

/** How many NodePools a message names; the reason has them all. */
const NAMED_POOLS_MAX = 3;

/** Narrows the launches of one pool down, stage by stage, until none is left. */
class Elimination {
  readonly stages: EliminationStage[] = [];
  /** Checks that left something: the more, the nearer was the pool. */
  passed = 0;
  private options: readonly LaunchOption[];
  private types: number;

  constructor(types: number, options: readonly LaunchOption[]) {
    this.types = types;
    this.options = options;
    this.note('its requirements and offerings');
  }

  /** None is left from the beginning. */
  static over(what: string, types: number): Elimination {
    const over = new Elimination(0, []);
    over.stages.splice(0, over.stages.length, { what, before: types, after: 0 });
    return over;
  }

  /** The same so far, to be narrowed down further. */
  copy(): Elimination {
    const copy = new Elimination(this.types, this.options);
    copy.stages.splice(0, copy.stages.length, ...this.stages);
    copy.passed = this.passed;
    return copy;
  }

  /** Types that are left. */
  get count(): number {
    return this.types;
  }

  get isOver(): boolean {
    return this.types === 0;
  }

  /** Keeps the launches that pass; `what` may say more where it knows those that did not. */
  keep(
    what: string | ((lost: readonly LaunchOption[]) => string),
    passes: (each: LaunchOption) => boolean,
  ) {
    if (this.isOver) return;
    const before = this.options;
    this.options = before.filter(passes);
    this.note(typeof what === 'string' ? what : what(before));
  }

  /** Nothing is left, whatever passed. */
  end(what: string): void {
    if (this.isOver) return;
    this.options = [];
    this.note(what);
  }

  private note(what: string): void {
    const after = new Set(this.options.map(({ type }) => type.type.name)).size;
    if (after !== this.types || after === 0) this.stages.push({ what, before: this.types, after });
    this.types = after;
    if (after > 0) this.passed += 1;
  }
}

/** Why pods were left over: for each class and NodePool the stages that took its types away. */
export class Reasons {
  private readonly state: SearchState;
  private readonly pools: readonly PoolSize[];
  private readonly optionsOf = new Map<string, LaunchOption[]>();
  /** What the node rules leave, by pool and rule: classes share rules. */
  private readonly byRule = new Map<string, Elimination>();

  constructor(state: SearchState, pools: readonly PoolSize[]) {
    this.state = state;
    this.pools = [...pools].sort(
      (a, b) => b.pool.weight - a.pool.weight || (a.pool.name < b.pool.name ? -1 : 1),
    );
    for (const group of state.context.problem.groups) {
      for (const option of group.all) {
        const { name } = option.pool.pool;
        const known = this.optionsOf.get(name);
        if (known === undefined) this.optionsOf.set(name, [option]);
        else known.push(option);
      }
    }
  }

  of(podClass: PodClass): UnplacedReason {
    const all = this.pools.map(({ pool, types }) => {
      const left = this.narrowed(podClass, pool, types);
      left.end(
        pool.template.requirements.some((each) => each.minValues !== undefined)
          ? 'minValues of the NodePool'
          : 'room beside the pods that it must run with',
      );
      return { nodePool: pool.name, left };
    });
    const reportOf = ({ nodePool, left }: (typeof all)[number]) => ({
      nodePool,
      stages: left.stages,
    });
    const nearest = all.toSorted((a, b) => b.left.passed - a.left.passed).map(reportOf);
    return { message: this.message(nearest), pools: all.map(reportOf) };
  }

  /**
   * What a node of its own could be for a pod of the class, in a state in which none of the class
   * is placed yet.
   */
  options(podClass: PodClass): readonly LaunchOptions[] {
    return this.pools.map(({ pool, types }) => {
      const { stages, count } = this.narrowed(podClass, pool, types);
      return { nodePool: pool.name, types, stages, left: count };
    });
  }

  private narrowed(podClass: PodClass, pool: NodePool, types: number): Elimination {
    const unusable = unusableBecause(pool);
    if (unusable !== undefined) return Elimination.over(unusable, types);
    if (types === 0) return Elimination.over('the NodePool has no instance types', 0);
    const left = this.allowedByRules(podClass, pool, types).copy();
    const resolved = this.state.context.resolvedClasses[podClass.id] ?? missing(podClass.id);
    this.keepFitting(left, podClass);
    left.keep('host ports that DaemonSets leave free', (each) =>
      this.state.clearOfDaemonPorts(resolved, each),
    );
    const { budgets } = this.state;
    left.keep(
      (lost) => this.limitText(pool, lost),
      (option) => budgets.allowance(option, 1) > 0,
    );
    left.keep(topologyText(podClass), ({ group }) =>
      this.state.topology.allows(podClass, placeOfGroup(group)),
    );
    if (!hostAllows(resolved.host, emptyHost(), this.state.totals))
      left.end(topologyText(podClass));
    return left;
  }

  private allowedByRules(podClass: PodClass, pool: NodePool, types: number): Elimination {
    const text = `${pool.name}|${podClass.rule.id}|${podClass.affinityRule.id}`;
    const known = this.byRule.get(text);
    if (known !== undefined) return known;
    const left = new Elimination(types, this.optionsOf.get(pool.name) ?? []);
    // Pods select pools by labels: one that they select and do not tolerate is a near miss.
    keepTerms(left, podClass);
    keepTolerated(left, podClass, pool.template.taints);
    left.keep('the zones of its volumes', ({ group }) => group.allowed[podClass.rule.id] === 1);
    this.byRule.set(text, left);
    return left;
  }

  private keepFitting(left: Elimination, podClass: PodClass): void {
    for (const [r, name] of this.state.context.problem.resources.entries()) {
      const amount = podClass.requests[r] ?? missing(r);
      if (amount === 0) continue;
      const what = name.startsWith(ATTACH_PREFIX)
        ? `${amount} volumes of ${name.slice(ATTACH_PREFIX.length)}`
        : `${name} ${formatQuantity(amount, name)}`;
      left.keep(what, ({ free }) => (free[r] ?? missing(r)) >= amount);
    }
  }

  private limitText(pool: NodePool, lost: readonly LaunchOption[]): string {
    const remaining = this.state.budgets.remaining(pool.name) ?? {};
    const tight = Object.keys(pool.limits)
      .sort()
      .filter((name) =>
        lost.every(({ type }) => {
          const taken = name === 'nodes' ? 1 : amountOf(type.type.capacity, name);
          return taken > Math.max(0, remaining[name] ?? 0);
        }),
      );
    if (tight.length === 0) return 'limits and reservations that still have room';
    const texts = tight.map((name) => {
      const left = formatQuantity(Math.max(0, remaining[name] ?? 0), name);
      return `${left} of ${formatQuantity(pool.limits[name] ?? 0, name)} ${name}`;
    });
    return `limits, which have ${texts.join(' and ')} left`;
  }

  private message(nearest: UnplacedReason['pools']): string {
    const existing = this.state.existingNodes.length;
    const nodes = existing === 0 ? [] : [`none of ${existing} existing nodes has room for it`];
    if (nearest.length === 0) return ['there is no NodePool', ...nodes].join('; ');
    const named = nearest.slice(0, NAMED_POOLS_MAX).map(poolText);
    const others = nearest.length - named.length;
    const more = others > 0 ? [`and ${others} more NodePools`] : [];
    return [...named, ...more, ...nodes].join('; ');
  }
}

function poolText({ nodePool, stages }: UnplacedReason['pools'][number]): string {
  const [first] = stages;
  if (first === undefined) return `NodePool ${nodePool}`;
  const steps = stages.map(({ what, after }) => `${after} after ${what}`);
  return `NodePool ${nodePool}: ${first.before} types → ${steps.join(' → ')}`;
}

function unusableBecause(pool: NodePool): string | undefined {
  if (pool.isDeleting) return 'the NodePool, which is being deleted';
  if (pool.replicas !== undefined) return 'the NodePool, which is static';
  if (pool.invalid !== undefined) return `the NodePool, which is invalid (${pool.invalid})`;
  const failing = pool.conditions.find(
    ({ type, status }) =>
      ['Ready', 'NodeClassReady', 'ValidationSucceeded'].includes(type) && status !== 'True',
  );
  if (failing === undefined) return undefined;
  const reason = failing.reason === '' ? failing.type : `${failing.type}: ${failing.reason}`;
  return `the NodePool, which is not ready (${reason})`;
}

function keepTolerated(left: Elimination, podClass: PodClass, taints: readonly Taint[]): void {
  const taint = untoleratedTaint(podClass.rule.tolerations ?? [], taints);
  const what =
    taint === undefined
      ? 'taints'
      : `its taint ${taint.key}${taint.value === '' ? '' : `=${taint.value}`}:${taint.effect}, which the pod does not tolerate`;
  left.keep(what, ({ pool }) => taintsAllowed(podClass.rule, pool.taints));
}

function keepTerms(left: Elimination, podClass: PodClass): void {
  const { terms } = podClass.affinityRule;
  const [only] = terms;
  const meets = (term: Requirements) => (option: LaunchOption) =>
    launchMeets(term, option.pool, option.type, option.domain);
  if (only !== undefined && terms.length === 1) {
    const inOrder = [...only].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [key, set] of inOrder) {
      left.keep(`${key} ${setText(set)}`, meets(new Map([[key, set]])));
    }
    left.keep('node affinity', meets(only));
    return;
  }
  left.keep(
    terms.length === 0
      ? 'node affinity, which nothing can meet'
      : `node affinity (none of ${terms.length} terms)`,
    (option) => terms.some((term) => meets(term)(option)),
  );
}

function setText({ complement, values, atLeast, atMost, absent }: ValueSet): string {
  const list = [...values].sort();
  const shown = list.length > 4 ? `${list.slice(0, 4).join(', ')}, …` : list.join(', ');
  if (!complement) return list.length === 0 && absent ? 'DoesNotExist' : `In [${shown}]`;
  const parts = [
    ...(list.length === 0 ? [] : [`NotIn [${shown}]`]),
    ...(atLeast === undefined ? [] : [`≥ ${atLeast}`]),
    ...(atMost === undefined ? [] : [`≤ ${atMost}`]),
  ];
  return parts.length === 0 ? 'Exists' : parts.join(' and ');
}

function topologyText({ topology }: PodClass): string {
  const { spreads, affinity, antiAffinity } = topology;
  const list = (kind: string, terms: readonly { readonly key: string }[]) =>
    terms.map(({ key }) => `${kind} by ${isHostKey(key) ? 'node' : key}`);
  const texts = [
    ...list(
      'spread',
      spreads.filter((each) => each.isHard),
    ),
    ...list(
      'pod affinity',
      affinity.filter((each) => each.weight === 0),
    ),
    ...list(
      'pod anti-affinity',
      antiAffinity.filter((each) => each.weight === 0),
    ),
  ];
  return texts.length === 0 ? 'anti-affinity of other pods' : [...new Set(texts)].join(', ');
}
