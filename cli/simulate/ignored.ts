import { textAt } from '../../shared/sim/json.ts';
import { type Manifest, nameOf } from '../manifests.ts';
import { someOf } from '../words.ts';
import { isAutoscaler } from './autoscalers.ts';
import { operatedPods } from './operated.ts';

/** Names told in one note. */
const NAMES_MAX = 8;

/** What is known of objects that decide nothing by themselves. */
export function ignoredNotes(ignored: readonly Manifest[]): readonly string[] {
  const isQuota = ({ object }: Manifest): boolean => object['kind'] === 'ResourceQuota';
  const quotas = ignored.filter(isQuota).map(({ object }) => nameOf(object));
  const rest = ignored.filter((each) => !isAutoscaler(each.object) && !isQuota(each));
  const operated = new Map(
    rest.flatMap(({ object }) => {
      const pods = operatedPods(object);
      if (pods === undefined) return [];
      const asked = pods.asked === undefined ? '' : ` (${pods.asked})`;
      return [[object, `${nameOf(object)}${asked}`] as const];
    }),
  );
  const others = rest.filter(({ object }) => !operated.has(object));
  const kinds = [...new Set(others.map(({ object }) => textAt(object, 'kind') ?? '?'))].sort();
  const names = [...operated.values()].sort();
  return [
    ...(names.length === 0
      ? []
      : [`operators make pods of these, which are not counted: ${someOf(names, NAMES_MAX)}`]),
    ...(quotas.length === 0
      ? []
      : [`not enforced, so that pods beyond them count: ${someOf(quotas.toSorted(), NAMES_MAX)}`]),
    ...(kinds.length === 0 ? [] : [`ignored kinds: ${kinds.join(', ')}`]),
  ];
}
