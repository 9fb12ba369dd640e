import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PoolStages, Stage } from '../../shared/core/explain/parameters.ts';
import type { Reason } from '../../shared/core/explain/reason.ts';
import { PODS } from '../../shared/core/explain/reasons/pods.ts';
import { STAGES } from '../../shared/core/explain/reasons/stages.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../shared/core/model/snapshot.ts';
import { solve } from '../../shared/core/scheduling/solve.ts';
import { hinderedClusters } from '../builders/hindered-pods.ts';
import { withoutFault, withoutObstacles } from '../builders/obstacles.ts';
import { FAMILY, poolOf } from '../builders/scheduling.ts';

/** Unplaced pods that are looked at: `JOINER_TRUTHS=1000` looks at more. */
const WANTED = Number(process.env['JOINER_TRUTHS'] ?? 200);
const SEED = Number(process.env['JOINER_SEED'] ?? 11);

const planOf = (snapshot: ClusterSnapshot): Plan => solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);

/** The pool that the plan launches a node of for the pod, or the node that is there. */
function placeOf(plan: Plan, pod: string): string | undefined {
  const claim = plan.newNodeClaims.find(({ pods }) => pods.includes(pod));
  return claim?.nodePool ?? plan.existing.find(({ pods }) => pods.includes(pod))?.node;
}

/** These keep a pod from a node of its own: without other obstacles it may go beside others. */
const OF_NEW_NODES: readonly string[] = ['limits-reached', 'limit-group-reached', 'pod-affinity'];

function sharesNode(plan: Plan, pod: string): boolean {
  return plan.newNodeClaims.some(({ pods }) => pods.includes(pod) && pods.length > 1);
}

/** Terms of an affinity are met by pods that match all of them, so that they stand together. */
function areOne(a: Named, b: Named): boolean {
  return a.code === 'pod-affinity' && b.code === 'pod-affinity';
}

/** Whether other pods that wait have reached a limit of the pool that now lets them in, too. */
function isAtLimit({ unplaced }: Plan, pod: string, nodePool: string): boolean {
  const why = unplaced.get(pod)?.reasons.find(({ code }) => code === 'pod-unplaced');
  const pools = why?.code === 'pod-unplaced' ? why.parameters.nodePools : [];
  const left = pools.filter((each) => each.nodePool === nodePool).flatMap(obstaclesOf);
  return left.length === 1 && /^limit(s|-group)-reached$/.test(left[0]?.code ?? '');
}

/** The snapshot in which no other pod waits. */
function alone(snapshot: ClusterSnapshot, key: string): ClusterSnapshot {
  const stays = (pod: Pod) => pod.nodeName !== undefined || podKey(pod) === key;
  return { ...snapshot, pods: snapshot.pods.filter(stays) };
}

function obstaclesOf({ stages }: PoolStages): readonly Stage[] {
  return stages.filter(({ after }) => after === 0);
}

/** A thing that is named, and how to do without it. */
interface Named {
  readonly code: string;
  readonly what: string;
  readonly remove: (snapshot: ClusterSnapshot) => ClusterSnapshot;
}

/** Behind these nothing can be seen: what else there is shows once they are away. */
const OPAQUE: readonly string[] = ['pod-unreadable', 'nodepool-without-types', 'no-nodepool'];

const WITHOUT_NODE_POOL: Named = {
  code: 'no-nodepool',
  what: 'there is no NodePool',
  remove: (snapshot) => ({
    ...snapshot,
    nodePools: [poolOf('first')],
    instanceTypes: new Map([['first', FAMILY]]),
  }),
};

/** What stands between the pod and each NodePool; without a NodePool, and any. */
function namedBy(pod: Pod, reasons: readonly Reason[]): ReadonlyMap<string, readonly Named[]> {
  const faults = reasons
    .filter(({ code }) => code !== 'pod-unplaced')
    .map((why): Named => {
      const remove = (snapshot: ClusterSnapshot) => withoutFault(snapshot, pod, why);
      return { code: why.code, what: why.code, remove };
    });
  const found = reasons.find((each) => each.code === 'pod-unplaced');
  if (found === undefined) return new Map([['', faults]]);
  const { nodePools } = found.parameters;
  if (nodePools.length === 0) return new Map([['', [...faults, WITHOUT_NODE_POOL]]]);
  return new Map(
    nodePools.map((entry) => {
      const { nodePool } = entry;
      const at = { pod: podKey(pod), nodePool };
      const obstacles = obstaclesOf(entry).map((stage): Named => {
        const remove = (snapshot: ClusterSnapshot) => withoutObstacles(snapshot, at, [stage]);
        return { code: stage.code, what: stage.what, remove };
      });
      return [nodePool, [...faults, ...obstacles]];
    }),
  );
}

/** What has been looked at. */
const seen = { pods: 0, several: 0, shared: 0, outrun: 0, codes: new Set<string>() };

/**
 * Without all that is named of a NodePool the pod has a place; with one of several left, it has
 * none in that NodePool.
 */
function checkNamed(
  snapshot: ClusterSnapshot,
  at: { readonly where: string; readonly pod: string; readonly nodePool: string },
  all: readonly Named[],
): void {
  const { where, pod, nodePool } = at;
  const said = `${all.map(({ what }) => what).join(' | ')} of ${nodePool}`;
  const rest = (named: readonly Named[]): ClusterSnapshot =>
    named.reduce((each, { remove }) => remove(each), snapshot);
  const without = (named: readonly Named[]): Plan => planOf(rest(named));
  const free = without(all);
  const text = `${where}: ${pod} without ${said}: ${free.unplaced.get(pod)?.message}`;
  if (isAtLimit(free, pod, nodePool)) {
    seen.outrun += 1;
    expect(placeOf(planOf(alone(rest(all), pod)), pod), text).toBeDefined();
  } else expect(placeOf(free, pod), text).toBeDefined();
  if (all.length < 2) return;
  seen.several += 1;
  for (const kept of all) {
    const plan = without(all.filter((each) => each !== kept && !areOne(each, kept)));
    const kind = `${where}: ${pod} with ${kept.what} of ${said}`;
    if (nodePool === '') expect(placeOf(plan, pod), kind).toBeUndefined();
    else if (OF_NEW_NODES.includes(kept.code) && sharesNode(plan, pod)) seen.shared += 1;
    else expect(placeOf(plan, pod), kind).not.toBe(nodePool);
  }
}

/** Looks at what a plan says of a pod; `only`: of this NodePool alone. */
function check(snapshot: ClusterSnapshot, plan: Plan, at: Place, only?: string): void {
  const { where, key } = at;
  const pod = snapshot.pods.find((each) => podKey(each) === key);
  const reasons = plan.unplaced.get(key)?.reasons ?? [];
  if (pod === undefined) throw new Error(`${key} is not in the cluster`);
  for (const [nodePool, all] of namedBy(pod, reasons)) {
    if (only !== undefined && nodePool !== only) continue;
    expect(all.length, `${where}: ${key} and ${nodePool}`).toBeGreaterThan(0);
    for (const { code } of all) seen.codes.add(code);
    const veil = all.find(({ code }) => OPAQUE.includes(code));
    if (veil === undefined) checkNamed(snapshot, { where, pod: key, nodePool }, all);
    else checkBehind(snapshot, veil, { at, nodePool });
  }
}

interface Place {
  readonly where: string;
  readonly key: string;
}

/** Without what hides the rest the pod has a place, or the rest is true. */
function checkBehind(
  snapshot: ClusterSnapshot,
  { code, remove }: Named,
  { at, nodePool }: { readonly at: Place; readonly nodePool: string },
): void {
  const next = remove(snapshot);
  const plan = planOf(next);
  const left = plan.unplaced.get(at.key)?.reasons;
  if (left === undefined) {
    expect(placeOf(plan, at.key), `${at.where}: ${at.key} without ${code}`).toBeDefined();
    return;
  }
  const [pod] = next.pods.filter((each) => podKey(each) === at.key);
  const named = pod === undefined ? [] : (namedBy(pod, left).get(nodePool) ?? []);
  expect(named.map((each) => each.code)).not.toContain(code);
  check(next, plan, at, nodePool === '' ? undefined : nodePool);
}

it(`of ${WANTED} unplaced pods each is placed without what its reason names, and only then`, () => {
  const clusters = fc.sample(hinderedClusters, { seed: SEED, numRuns: WANTED * 2 });
  for (const [number, snapshot] of clusters.entries()) {
    const plan = planOf(snapshot);
    for (const key of plan.unplaced.keys()) {
      if (seen.pods >= WANTED) break;
      seen.pods += 1;
      check(snapshot, plan, { where: `cluster ${number}`, key });
    }
  }
  expect(seen.pods).toBe(WANTED);
  expect(seen.several).toBeGreaterThan(WANTED);
  expect(seen.shared + seen.outrun).toBeLessThan(WANTED / 25);
}, 600_000);

/** Reasons that are not looked at here. */
const OTHERS: readonly string[] = [
  // test/unit/scheduling/too-complex.test.ts.
  'pod-too-complex',
  'resources-not-offered',
  // What stands between the pod and the NodePools is said in the steps.
  'pod-unplaced',
  'pods-alike',
  // Launches in vain, which a plan does not know: test/unit/launch/launch-backoff.test.ts.
  'launch-back-off',
  'launch-back-off-said',
  'launch-trial',
  // Of existing nodes, where somebody asks: test/unit/explain/existing-nodes.test.ts.
  'host-ports-in-use',
  // test/unit/scheduling/rare-reasons.test.ts.
  'limits-or-reservations-reached',
  'room-beside-other-pods',
  'steps-used-up',
];

it('and each reason that a plan gives is among those that were looked at', () => {
  const all = [...Object.keys(PODS), ...Object.keys(STAGES)];
  expect(all.filter((code) => !seen.codes.has(code)).toSorted()).toEqual(OTHERS.toSorted());
});
