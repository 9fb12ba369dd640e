import type { PodDisruptionBudget } from '../../model/cluster.ts';
import type { Labels } from '../../model/labels.ts';
import type { LabelSelector, Pod } from '../../model/pod.ts';
import { allows, type Requirements, requirementsOf } from '../../requirements/value-set.ts';
import { LabelIndex } from './label-index.ts';

/** A budget, and what its selector asks for. */
interface Asking {
  readonly budget: PodDisruptionBudget;
  readonly asked: Requirements;
  /** Labels that a pod has to have. */
  readonly needed: readonly string[];
}

/** By namespace. */
type BudgetIndex = ReadonlyMap<string, LabelIndex<Asking>>;

/** One requirement a label, however many expressions name it. */
function requirementsOfSelector({ matchLabels, matchExpressions }: LabelSelector): Requirements {
  const refused = Map.groupBy(
    matchExpressions.filter(({ operator }) => operator === 'NotIn'),
    ({ key }) => key,
  );
  return requirementsOf([
    ...Object.entries(matchLabels).map(([key, value]) => {
      return { key, operator: 'In' as const, values: [value] };
    }),
    ...matchExpressions.filter(({ operator }) => operator !== 'NotIn'),
    ...[...refused].map(([key, all]) => {
      return { key, operator: 'NotIn' as const, values: all.flatMap(({ values }) => values) };
    }),
  ]);
}

/** A label without which no pod is selected; undefined: there is none with one value only. */
function labelOf(asked: Requirements): readonly [string, string] | undefined {
  for (const [key, set] of asked) {
    const [value] = set.values;
    const isOne = !set.complement && !set.absent && set.values.size === 1;
    if (isOne && value !== undefined) return [key, value];
  }
  return undefined;
}

function askingOf(budget: PodDisruptionBudget, selector: LabelSelector): Asking {
  const asked = requirementsOfSelector(selector);
  const needed = [...asked].filter(([, set]) => !allows(set, undefined)).map(([key]) => key);
  return { budget, asked, needed };
}

/** Most budgets are the same from one reading of the cluster to the next. */
const askings = new WeakMap<PodDisruptionBudget, Asking>();

function indexOf(budgets: readonly PodDisruptionBudget[]): BudgetIndex {
  const index = new Map<string, LabelIndex<Asking>>();
  for (const budget of budgets) {
    if (budget.selector === undefined) continue;
    const own = index.get(budget.namespace) ?? new LabelIndex();
    index.set(budget.namespace, own);
    const asking = askings.get(budget) ?? askingOf(budget, budget.selector);
    askings.set(budget, asking);
    own.add(asking, labelOf(asking.asked));
  }
  return index;
}

/** By the list: all pods of a cluster are asked about by the same one. */
const indexes = new WeakMap<readonly PodDisruptionBudget[], BudgetIndex>();

/** Only the pod's own labels are looked at: what else the selector names it is without. */
function isSelected(labels: Labels, { asked, needed }: Asking): boolean {
  const own = Object.entries(labels);
  if (needed.length > own.length) return false;
  if (!needed.every((key) => Object.hasOwn(labels, key))) return false;
  return own.every(([key, value]) => {
    const set = asked.get(key);
    return set === undefined || allows(set, value);
  });
}

/**
 * The budgets of the list that select the pod, by name. Each node that may be disrupted is
 * asked about with all its pods while `provision` waits: neither thousands of budgets nor one with
 * thousands of expressions may make that long.
 */
export function budgetsSelecting(
  { namespace, labels }: Pick<Pod, 'namespace' | 'labels'>,
  budgets: readonly PodDisruptionBudget[],
): readonly PodDisruptionBudget[] {
  const index = indexes.get(budgets) ?? indexOf(budgets);
  indexes.set(budgets, index);
  const asking = index.get(namespace)?.of(labels) ?? [];
  return asking
    .filter((each) => isSelected(labels, each))
    .map(({ budget }) => budget)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
