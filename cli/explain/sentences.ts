import { type Reason, type ReasonOf, sentence } from '../../shared/core/explain/reason.ts';

/** Pods that are named of those whose eviction a PodDisruptionBudget does not allow. */
const NAMED_MAX = 3;

function podsText(all: readonly ReasonOf<'eviction-not-allowed'>[]): string {
  const [first] = all;
  if (first === undefined) return '';
  if (all.length === 1) return sentence(first);
  const pods = all.map(({ parameters }) => parameters.pod).sort();
  const more = pods.length > NAMED_MAX ? ` and ${pods.length - NAMED_MAX} more` : '';
  const named = pods.slice(0, NAMED_MAX).join(', ');
  return `PodDisruptionBudget ${first.parameters.budget} does not allow the eviction of ${pods.length} pods: ${named}${more}`;
}

/** Several reasons in words. Pods that the same PodDisruptionBudget keeps are in one sentence. */
export function sentencesByBudget(reasons: readonly Reason[]): string {
  const groups = Map.groupBy(reasons, (each) =>
    each.code === 'eviction-not-allowed' ? each.parameters.budget : each,
  );
  const texts = [...groups.values()].map((all) => {
    const kept = all.filter((each) => each.code === 'eviction-not-allowed');
    return kept.length > 0 ? podsText(kept) : all.map((each) => sentence(each)).join('; ');
  });
  return texts.join('; ');
}
