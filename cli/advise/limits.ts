import { withAllWaiting } from '../../shared/core/disruption/simulation.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import { addResources, amountOf, type Resources } from '../../shared/core/model/resources.ts';
import { formatQuantity } from '../../shared/core/quantity.ts';
import { replan } from '../../shared/core/scheduling/replan.ts';
import { counted, someOf } from '../words.ts';
import { type Advice, type Advised, savedBy, sideOf } from './advice.ts';
import { chosenOf, launchesText } from './offerings.ts';
import { type Replanned, withPool } from './replanned.ts';

function unlimited(pool: NodePool): NodePool {
  return { ...pool, limits: {} };
}

/** What the new nodes of the NodePool count against its limits. */
function takenBy(replanned: Replanned, name: string, claims: Plan['newNodeClaims']): Resources {
  const own = claims.filter(({ nodePool }) => nodePool === name);
  return own.reduce<Resources>(
    (sum, claim) => addResources(sum, chosenOf(replanned.snapshot, claim)?.type.capacity ?? {}),
    { nodes: own.length },
  );
}

function changeOf({ limits }: NodePool): string {
  const stated = Object.entries(limits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, amount]) => `${name} ${formatQuantity(amount, name)}`);
  return `Raise spec.limits (${stated.join(', ')}).`;
}

/** Pods that wait for nodes that only the limit keeps from being launched. */
function waitingAdvice({ snapshot, scheduling }: Advised, before: Plan, pool: NodePool) {
  const free = withPool(withAllWaiting(snapshot), pool.name, unlimited);
  const plan = replan(free, scheduling);
  const freed = [...before.unplaced.keys()].filter((pod) => !plan.unplaced.has(pod));
  if (freed.length === 0) return undefined;
  const [without, within] = [sideOf(plan), sideOf(before)];
  const added = plan.newNodeClaims.filter(({ pods }) => pods.some((pod) => freed.includes(pod)));
  return {
    kind: 'limits',
    object: `NodePool/${pool.name}`,
    change: changeOf(pool),
    usdPerMonth: savedBy(within, without),
    basis: 'pending-pods',
    before: within,
    after: without,
    evidence: [
      `${counted(freed.length, 'pending pod')} would get nodes: ${someOf(freed.sort())}.`,
      `New nodes: ${launchesText(added)}.`,
    ],
  } as const satisfies Advice;
}

/** Pods that run on dearer nodes since the limit keeps them from cheaper ones. */
function dearerAdvice(replanned: Replanned, pool: NodePool): Advice | undefined {
  const found = replanned.saving((snapshot) => withPool(snapshot, pool.name, unlimited));
  if (found === undefined) return undefined;
  const taken = takenBy(replanned, pool.name, found.claims);
  const over = Object.entries(pool.limits).filter(([name, most]) => amountOf(taken, name) > most);
  if (over.length === 0) return undefined;
  const { before, after, usdPerMonth } = found;
  const texts = over.map(([name, most]) => {
    const needed = formatQuantity(amountOf(taken, name), name);
    const limit = formatQuantity(most, name);
    return `Planned anew, the NodePool has ${name} ${needed}; its limit is ${limit}.`;
  });
  return {
    kind: 'limits',
    object: `NodePool/${pool.name}`,
    change: changeOf(pool),
    usdPerMonth,
    basis: 'planned-anew',
    before,
    after,
    evidence: texts,
  };
}

/** Limits of NodePools that keep pods pending, or on dearer nodes. */
export function limitAdvice(
  subject: Advised,
  replanned: Replanned,
  say: (what: string) => void,
): readonly Advice[] {
  const { snapshot, scheduling } = subject;
  const pools = snapshot.nodePools.filter(
    ({ replicas, limits }) => replicas === undefined && Object.keys(limits).length > 0,
  );
  if (pools.length === 0) return [];
  const now = replan(withAllWaiting(snapshot), scheduling);
  return pools.flatMap((pool) => {
    say(`NodePool ${pool.name}: limits`);
    return waitingAdvice(subject, now, pool) ?? dearerAdvice(replanned, pool) ?? [];
  });
}
