import type { Observation } from '../../shared/api/observation.ts';
import type { ShadowLaunch } from './model.ts';

/** A planned node, and what it is for: pods, nodes that it replaces, or a replica of its pool. */
interface Wanted {
  readonly launch: ShadowLaunch;
  readonly purposes: readonly string[];
}

function wantedIn({ at, launches }: Observation): readonly Wanted[] {
  const replicas = new Map<string, number>();
  return launches.map((each) => {
    const launch = { at, by: 'joiner' as const, ...each, returned: null };
    const purposes = [...each.pods, ...each.replaces];
    if (purposes.length > 0) return { launch, purposes };
    const nth = (replicas.get(each.nodePool) ?? 0) + 1;
    replicas.set(each.nodePool, nth);
    return { launch, purposes: [`${each.nodePool} ${nth}`] };
  });
}

const purposesOf = (all: readonly Wanted[]): readonly string[] =>
  all.flatMap(({ purposes }) => purposes);

/** Those that share a purpose with one of `from`, or with one that does, and so on. */
function connected(from: readonly Wanted[], all: readonly Wanted[]): ReadonlySet<Wanted> {
  const found = new Set(from);
  const reached = new Set(purposesOf(from));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const each of all) {
      if (found.has(each) || !each.purposes.some((purpose) => reached.has(purpose))) continue;
      found.add(each);
      for (const purpose of each.purposes) reached.add(purpose);
    }
  }
  return found;
}

/** What counts once a plan is made: where it has anything new, it replaces what it plans again. */
function withPlan(
  counted: readonly Wanted[],
  plan: readonly Wanted[],
  known: ReadonlySet<string>,
): readonly Wanted[] {
  const again = new Set(purposesOf(plan));
  const replaceable = counted.filter(({ purposes }) => purposes.every((each) => again.has(each)));
  const anew = plan.filter(({ purposes }) => purposes.some((each) => !known.has(each)));
  const affected = connected(anew, [...replaceable, ...plan]);
  const firstSeen = (wanted: Wanted): string =>
    [...connected([wanted], replaceable)].map(({ launch }) => launch.at).sort()[0] ??
    wanted.launch.at;
  return [
    ...counted.filter((each) => !affected.has(each)),
    ...plan
      .filter((each) => affected.has(each))
      .map((each) => ({ ...each, launch: { ...each.launch, at: firstSeen(each) } })),
  ];
}

/**
 * Planned nodes, each once: a plan is made again until Karpenter has launched for its pods, and by
 * then for the pods that have come in the meantime, too. What has a node, or is not replaced any
 * more, is forgotten.
 */
export function joinerLaunches(all: readonly Observation[]): readonly ShadowLaunch[] {
  const settled: Wanted[] = [];
  let counted: readonly Wanted[] = [];
  let known: ReadonlySet<string> = new Set();
  for (const observation of all) {
    const plan = wantedIn(observation);
    const waiting = new Set([...observation.pending, ...purposesOf(plan)]);
    const stillWaits = ({ purposes }: Wanted): boolean =>
      purposes.every((each) => waiting.has(each));
    settled.push(...counted.filter((each) => !stillWaits(each)));
    const remembered = new Set([...known].filter((each) => waiting.has(each)));
    counted = withPlan(counted.filter(stillWaits), plan, remembered);
    known = new Set([...remembered, ...purposesOf(plan)]);
  }
  return [...settled, ...counted].map(({ launch }) => launch);
}
