import { isWithinPolicy } from '../../shared/core/comparison/candidates.ts';
import { candidatesOf } from '../../shared/core/comparison/cluster-at-rest.ts';
import { joinersWay } from '../../shared/core/comparison/joiners-way.ts';
import { blockersOf, budgetsOf, unevictableBy } from '../../shared/core/disruption/candidates.ts';
import type { ConsolidationCandidate } from '../../shared/core/disruption/consolidation/payback.ts';
import { HOURS_A_MONTH } from '../../shared/core/duration.ts';
import { type Reason, type ReasonOf, sentence } from '../../shared/core/explain/reason.ts';
import { DO_NOT_DISRUPT } from '../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { DISRUPTED, tolerates } from '../../shared/core/model/taint.ts';
import { PLANS_MAX, rowOf } from '../compare/comparison.ts';
import { counted } from '../words.ts';
import {
  type Advice,
  type Advised,
  EVALUATED_MAX,
  savedBy,
  sideOfRow,
  USD_PER_MONTH_MIN,
} from './advice.ts';
import { workloadOf } from './workloads.ts';

type Change = (snapshot: ClusterSnapshot) => ClusterSnapshot;

/** An object that keeps nodes from consolidation. */
interface Blocker {
  readonly object: string;
  readonly change: string;
  /** The snapshot as if it did not. */
  readonly without: Change;
}

/** A blocker, with the nodes that it keeps. */
interface Blocking extends Blocker {
  readonly nodes: ReadonlyMap<string, { readonly price: number; readonly why: string }>;
}

function withPodsOf(workload: string, change: (pod: Pod) => Pod): Change {
  return (snapshot) => ({
    ...snapshot,
    pods: snapshot.pods.map((pod) => (workloadOf(pod) === workload ? change(pod) : pod)),
  });
}

function withoutAnnotation<Item extends Pick<Pod, 'annotations'>>(item: Item): Item {
  const { [DO_NOT_DISRUPT]: _, ...annotations } = item.annotations;
  return { ...item, annotations };
}

function evictable(pod: Pod): Pod {
  const tolerations = pod.spec.tolerations.filter((each) => !tolerates(each, DISRUPTED));
  return { ...pod, spec: { ...pod.spec, tolerations } };
}

function budgetAllows({ parameters }: ReasonOf<'eviction-not-allowed'>): Blocker {
  const { budget } = parameters;
  const without: Change = (snapshot) => ({
    ...snapshot,
    podDisruptionBudgets: snapshot.podDisruptionBudgets.map((each) =>
      podKey(each) === budget ? { ...each, disruptionsAllowed: Number.POSITIVE_INFINITY } : each,
    ),
  });
  const change = 'Allow evictions: raise maxUnavailable, lower minAvailable, or add replicas.';
  return { object: `PodDisruptionBudget/${budget}`, change, without };
}

/** Of the budgets that select the pod only the first one is left. */
function oneBudget(pod: Pod, workload: string): Blocker {
  const without: Change = (snapshot) => {
    const own = budgetsOf(pod, snapshot.podDisruptionBudgets).map(podKey).sort().slice(1);
    const podDisruptionBudgets = snapshot.podDisruptionBudgets.filter(
      (each) => !own.includes(podKey(each)),
    );
    return { ...snapshot, podDisruptionBudgets };
  };
  return { object: workload, change: 'Let one PodDisruptionBudget select the pods.', without };
}

/** Undefined: what keeps the node passes, or is none of the pods' and the node's own. */
function blockerOf(reason: Reason, pods: ReadonlyMap<string, Pod>): Blocker | undefined {
  if (reason.code === 'eviction-not-allowed') return budgetAllows(reason);
  if (reason.code === 'node-protected') {
    const { node } = reason.parameters;
    const without: Change = (snapshot) => ({
      ...snapshot,
      nodes: snapshot.nodes.map((each) => (each.name === node ? withoutAnnotation(each) : each)),
    });
    return { object: `Node/${node}`, change: `Remove the annotation ${DO_NOT_DISRUPT}.`, without };
  }
  const named = 'pod' in reason.parameters ? pods.get(String(reason.parameters.pod)) : undefined;
  if (named === undefined) return undefined;
  const object = workloadOf(named);
  if (reason.code === 'pod-with-several-budgets') return oneBudget(named, object);
  if (reason.code === 'pod-protected') {
    const change = `Remove the annotation ${DO_NOT_DISRUPT} from the pods.`;
    return { object, change, without: withPodsOf(object, withoutAnnotation) };
  }
  if (reason.code !== 'pod-never-evicted') return undefined;
  const change = `Remove the toleration of ${DISRUPTED.key} from the pods.`;
  return { object, change, without: withPodsOf(object, evictable) };
}

function reasonsAt(
  each: ConsolidationCandidate,
  { snapshot, nowMs }: Pick<Advised, 'snapshot' | 'nowMs'>,
): readonly Reason[] {
  const blocked = blockersOf(each, snapshot.podDisruptionBudgets, nowMs, 'graceful');
  return [...blocked, ...unevictableBy(each)];
}

/** Everything that keeps nodes, what keeps the dearest ones first. */
function blockersIn(subject: Pick<Advised, 'snapshot' | 'nowMs'>): readonly Blocking[] {
  const pods = new Map(subject.snapshot.pods.map((pod) => [podKey(pod), pod]));
  const found = candidatesOf(subject.snapshot)
    .filter(isWithinPolicy)
    .flatMap((each) =>
      reasonsAt(each, subject).flatMap((reason) => {
        const blocker = blockerOf(reason, pods);
        if (blocker === undefined) return [];
        const { node, pricePerHour: price } = each;
        return [{ blocker, node: node.name, price, why: sentence(reason) }];
      }),
    );
  const byChange = Map.groupBy(found, ({ blocker: { object, change } }) => `${object} ${change}`);
  const priceOf = ({ nodes }: Blocking): number =>
    [...nodes.values()].reduce((sum, { price }) => sum + price, 0);
  return [...byChange.values()]
    .flatMap((own): readonly Blocking[] => {
      const [first] = own;
      if (first === undefined) return [];
      const nodes = new Map(own.map(({ node, price, why }) => [node, { price, why }]));
      return [{ ...first.blocker, nodes }];
    })
    .filter((each) => priceOf(each) * HOURS_A_MONTH >= USD_PER_MONTH_MIN)
    .sort((a, b) => priceOf(b) - priceOf(a) || (a.object < b.object ? -1 : 1));
}

/** Where the cluster comes to rest by consolidation. */
function restOf({ snapshot, scheduling, consolidation, nowMs }: Advised) {
  const way = joinersWay({ snapshot, scheduling, nowMs, plansMax: PLANS_MAX }, consolidation);
  const names = new Set(way.snapshot.nodes.map(({ name }) => name));
  return { side: sideOfRow(rowOf(way)), evictions: way.evictions, names };
}

type AtRest = ReturnType<typeof restOf>;

function adviceOn(subject: Advised, before: AtRest, blocker: Blocking): Advice | undefined {
  const { object, change, without, nodes } = blocker;
  const after = restOf({ ...subject, snapshot: without(subject.snapshot) });
  const usdPerMonth = savedBy(before.side, after.side);
  const gone = [...nodes].filter(([name]) => !after.names.has(name));
  if (usdPerMonth < USD_PER_MONTH_MIN || gone.length === 0) return undefined;
  if (before.side.podsUnplaced !== after.side.podsUnplaced) return undefined;
  const evictions = after.evictions - before.evictions;
  return {
    kind: 'consolidation',
    object,
    change,
    usdPerMonth,
    basis: 'consolidated',
    before: before.side,
    after: after.side,
    evidence: [
      ...new Set(gone.slice(0, 3).map(([name, { why }]) => `Node ${name} is not moved: ${why}.`)),
      `Without it, consolidation removes ${counted(gone.length, 'node')} that it keeps today, ` +
        `with ${counted(Math.max(0, evictions), 'more eviction')}.`,
    ],
  };
}

/** Pods, PodDisruptionBudgets and annotations of nodes that keep consolidation from saving. */
export function blockerAdvice(
  subject: Advised,
  say: (what: string) => void,
): { readonly advice: readonly Advice[]; readonly left: number } {
  const all = blockersIn(subject);
  if (all.length === 0) return { advice: [], left: 0 };
  say('consolidation as it is');
  const before = restOf(subject);
  const advice = all.slice(0, EVALUATED_MAX).flatMap((each) => {
    say(`${each.object}: consolidation`);
    return adviceOn(subject, before, each) ?? [];
  });
  return { advice, left: Math.max(0, all.length - EVALUATED_MAX) };
}
