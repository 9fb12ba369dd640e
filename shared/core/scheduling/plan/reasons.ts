import type { PoolStages, Stage } from '../../explain/parameters.ts';
import { type Reason, reason, sentence } from '../../explain/reason.ts';
import { missing } from '../../missing.ts';
import { HOSTNAME } from '../../model/labels.ts';
import type { UnplacedReason } from '../../model/plan.ts';
import type { NodePool } from '../../model/provisioning.ts';
import { amountOf } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { taintText, tolerates } from '../../model/taint.ts';
import { formatQuantity } from '../../quantity.ts';
import type { Requirements, ValueSet } from '../../requirements/value-set.ts';
import { ATTACH_PREFIX, type LaunchOption } from '../problem/launch-options.ts';
import { launchMeets } from '../problem/launch-space.ts';
import { taintsAllowed } from '../problem/node-rules.ts';
import type { PodClass } from '../problem/problem.ts';
import { emptyHost, hostAllows } from '../search/host.ts';
import { insistsOnMinValues, keepsMinValues, ReservedOptions } from '../search/min-values.ts';
import type { SearchState } from '../search/search-state.ts';
import { placeOfGroup } from '../search/topology.ts';
import { Elimination } from './elimination.ts';
import { topologyRules } from './topology-rules.ts';
import { asIfUsable, unusableBecause, usableTypes } from './unusable-pools.ts';

/** What of one NodePool's types a pod could be given a node of. */
export interface LaunchOptions {
  readonly nodePool: string;
  /** All of the NodePool. */
  readonly types: number;
  /** What took types away; stages that took none are left out. */
  readonly stages: readonly Stage[];
  /** Types that remain. */
  readonly left: number;
}

/** What pools can launch, in a state. */
interface Launches {
  readonly state: SearchState;
  readonly optionsOf: ReadonlyMap<string, readonly LaunchOption[]>;
}

function launchesOf(state: SearchState): Launches {
  const optionsOf = new Map<string, LaunchOption[]>();
  for (const group of state.context.problem.groups) {
    for (const option of group.all) {
      const { name } = option.pool.pool;
      const known = optionsOf.get(name);
      if (known === undefined) optionsOf.set(name, [option]);
      else known.push(option);
    }
  }
  return { state, optionsOf };
}

/** Why pods were left over: for each class and NodePool the stages that took its types away. */
export class Reasons {
  private readonly launches: Launches;
  private readonly snapshot: ClusterSnapshot;
  private readonly pools: readonly NodePool[];
  /** What the pool itself leaves: the same for all classes. */
  private readonly byPool = new Map<string, Elimination>();
  /** What the node rules leave, by pool and rule: classes share rules. */
  private readonly byRule = new Map<string, Elimination>();
  /** Made when it is first needed: what pools without any launch option would have. */
  private supposed: Launches | undefined;

  constructor(state: SearchState, snapshot: ClusterSnapshot) {
    this.launches = launchesOf(state);
    this.snapshot = snapshot;
    this.pools = [...snapshot.nodePools].sort(
      (a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1),
    );
  }

  of(podClass: PodClass): UnplacedReason {
    const { state } = this.launches;
    const all = this.pools.map((pool) => {
      const left = this.narrowed(podClass, pool);
      if (left.obstacles === 0) left.end(this.lastReason(podClass, left, pool));
      return { nodePool: pool.name, left };
    });
    const nodePools: readonly PoolStages[] = all
      .toSorted((a, b) => a.left.obstacles - b.left.obstacles || b.left.passed - a.left.passed)
      .map(({ nodePool, left }) => ({ nodePool, stages: left.stages }));
    const existingNodes = state.existingNodes.length;
    const why = reason('pod-unplaced', { nodePools, existingNodes });
    return { reason: why, message: sentence(why) };
  }

  /**
   * What a node of its own could be for a pod of the class, in a state in which none of the class
   * is placed yet.
   */
  options(podClass: PodClass): readonly LaunchOptions[] {
    return this.pools.map((pool) => {
      const { stages, left } = this.narrowed(podClass, pool);
      const types = this.snapshot.instanceTypes.get(pool.name)?.length ?? 0;
      return { nodePool: pool.name, types, stages, left };
    });
  }

  /** Each obstacle of the class is away, and the plan has found no place all the same. */
  private lastReason({ id, requests }: PodClass, { options }: Elimination, pool: NodePool): Reason {
    const { state } = this.launches;
    const { context, budgets, steps } = state;
    const { problem, resolvedClasses } = context;
    const { stepsMax } = problem.settings;
    if (steps > stepsMax) return reason('steps-used-up', { steps: stepsMax });
    const resolved = resolvedClasses[id] ?? missing(id);
    const reserved = new ReservedOptions(context, budgets, [resolved], requests);
    const isHeldByMinValues =
      insistsOnMinValues(problem, pool) && options.every((each) => reserved.of(each) === undefined);
    return reason(isHeldByMinValues ? 'min-values' : 'room-beside-other-pods', {});
  }

  private narrowed(podClass: PodClass, pool: NodePool): Elimination {
    const left = this.allowedByPool(pool).copy();
    if (left.stages.some(({ code }) => code === 'nodepool-without-types')) return left;
    const { launches, own } = this.launchesFor(podClass, pool);
    const rules = this.allowedByRules(own, pool, left, launches).copy();
    this.keepFitting(rules, own, launches);
    this.keepAllowed(rules, own, pool, launches);
    return rules;
  }

  /** What the pool itself can launch, and why it cannot. */
  private allowedByPool(pool: NodePool): Elimination {
    const known = this.byPool.get(pool.name);
    if (known !== undefined) return known;
    const types = this.snapshot.instanceTypes.get(pool.name) ?? [];
    const left = new Elimination(types.length, this.launches.optionsOf.get(pool.name) ?? []);
    this.byPool.set(pool.name, left);
    for (const each of unusableBecause(pool)) left.end(each);
    if (types.length === 0) {
      if (left.obstacles === 0) left.end(reason('nodepool-without-types', {}));
      return left;
    }
    const { problem } = this.launches.state.context;
    const { allowed, available } = usableTypes(pool, types, problem.settings.reservedCapacity);
    left.narrow(reason('nodepool-requirements', {}), allowed);
    if (allowed > 0) left.narrow(reason('offerings-unavailable', {}), available);
    const inUse = new Set(left.options.map(({ type }) => type.type.name)).size;
    if (left.obstacles === 0) left.narrow(reason('daemonset-requests', {}), inUse);
    return left;
  }

  /** A pool that has no launch option is looked at as if nothing of its own kept it from launching. */
  private launchesFor(
    podClass: PodClass,
    pool: NodePool,
  ): { readonly launches: Launches; readonly own: PodClass } {
    const before = this.launches;
    if ((before.optionsOf.get(pool.name)?.length ?? 0) > 0)
      return { launches: before, own: podClass };
    this.supposed ??= launchesOf(
      asIfUsable(this.snapshot, before.state, (name) => before.optionsOf.has(name)),
    );
    const [first] = podClass.pods;
    const { classes } = this.supposed.state.context.problem;
    const own = classes.find(({ pods }) => first !== undefined && pods.includes(first));
    return { launches: this.supposed, own: own ?? podClass };
  }

  private allowedByRules(
    podClass: PodClass,
    pool: NodePool,
    left: Elimination,
    { optionsOf }: Launches,
  ): Elimination {
    const text = `${pool.name}|${podClass.rule.id}|${podClass.affinityRule.id}`;
    const known = this.byRule.get(text);
    if (known !== undefined) return known;
    const own = left.copy();
    own.options = optionsOf.get(pool.name) ?? [];
    // Pods select pools by labels: one that they select and do not tolerate is a near miss.
    keepTerms(own, podClass);
    keepTolerated(own, podClass, pool);
    const { terms } = podClass.volumes;
    own.keep(reason('volume-zones', {}), (each) =>
      terms.some((term) => launchMeets(term, each.pool, each.type, each.domain)),
    );
    this.byRule.set(text, own);
    return own;
  }

  private keepFitting(left: Elimination, podClass: PodClass, { state }: Launches): void {
    for (const [r, name] of state.context.problem.resources.entries()) {
      const amount = podClass.requests[r] ?? missing(r);
      if (amount === 0) continue;
      const driver = name.startsWith(ATTACH_PREFIX) ? name.slice(ATTACH_PREFIX.length) : undefined;
      const why =
        driver === undefined
          ? reason('request-too-large', { resource: name, amount: formatQuantity(amount, name) })
          : reason('too-many-volumes', { volumes: amount, driver });
      left.keep(why, ({ free }) => (free[r] ?? missing(r)) >= amount);
    }
  }

  private keepAllowed(
    left: Elimination,
    podClass: PodClass,
    pool: NodePool,
    launches: Launches,
  ): void {
    const { state } = launches;
    const resolved = state.context.resolvedClasses[podClass.id] ?? missing(podClass.id);
    left.keep(reason('host-ports-of-daemonsets', {}), (each) =>
      state.clearOfDaemonPorts(resolved, each),
    );
    left.keep(
      (lost) => this.limitReason(pool, lost, state),
      (option) => state.budgets.allowance(option, 1) > 0,
    );
    for (const { why, allows } of topologyRules(state.topology, podClass)) {
      left.keep(why, ({ group }) => allows(placeOfGroup(group)));
    }
    if (!hostAllows(resolved.host, emptyHost(), state.totals)) {
      left.end(reason('pod-affinity', { key: HOSTNAME }));
    }
    const ofPool = launches.optionsOf.get(pool.name) ?? [];
    if (!keepsMinValues(state.context.problem, pool, left.options, ofPool)) {
      left.end(reason('min-values', {}));
    }
  }

  private limitReason(pool: NodePool, lost: readonly LaunchOption[], state: SearchState): Reason {
    const remaining = state.budgets.remaining(pool.name) ?? {};
    const tight = Object.keys(pool.limits)
      .sort()
      .filter((name) =>
        lost.every(({ type }) => {
          const taken = name === 'nodes' ? 1 : amountOf(type.type.capacity, name);
          return taken > Math.max(0, remaining[name] ?? 0);
        }),
      );
    if (tight.length === 0) return reason('limits-or-reservations-reached', {});
    const left = tight.map((name) => {
      const rest = formatQuantity(Math.max(0, remaining[name] ?? 0), name);
      return `${rest} of ${formatQuantity(pool.limits[name] ?? 0, name)} ${name}`;
    });
    return reason('limits-reached', { resources: tight, left });
  }
}

function keepTolerated(left: Elimination, { rule }: PodClass, pool: NodePool): void {
  const taints = pool.template.taints.filter(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      !(rule.tolerations ?? []).some((each) => tolerates(each, taint)),
  );
  left.keep(reason('taint-not-tolerated', { taints: taints.map(taintText) }), (each) =>
    taintsAllowed(rule, each.pool.taints),
  );
}

function keepTerms(left: Elimination, podClass: PodClass): void {
  const { terms } = podClass.affinityRule;
  const [only] = terms;
  const meets = (term: Requirements) => (option: LaunchOption) =>
    launchMeets(term, option.pool, option.type, option.domain);
  if (only !== undefined && terms.length === 1) {
    const inOrder = [...only].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [key, set] of inOrder) {
      const why = reason('node-affinity', { key, values: setText(set) });
      left.keep(why, meets(new Map([[key, set]])));
    }
    return;
  }
  const why =
    terms.length === 0
      ? reason('node-affinity-contradicts-itself', {})
      : reason('node-affinity-terms', { terms: terms.length });
  left.keep(why, (option) => terms.some((term) => meets(term)(option)));
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
