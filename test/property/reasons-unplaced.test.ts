import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PoolStages, Stage } from '../../shared/core/explain/parameters.ts';
import type { Reason } from '../../shared/core/explain/reason.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../shared/core/model/snapshot.ts';
import { solve } from '../../shared/core/scheduling/solve.ts';
import { hinderedClusters } from '../builders/hindered-pods.ts';
import { withoutFault, withoutObstacles } from '../builders/obstacles.ts';

/** Pods that are looked at: `JOINER_TRUTHS=1000` looks at more. */
const PODS = Number(process.env['JOINER_TRUTHS'] ?? 100);
const SEED = Number(process.env['JOINER_SEED'] ?? 11);

const planOf = (snapshot: ClusterSnapshot): Plan => solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);

/** The pool that the plan launches a node of for the pod, or the node that is there. */
function placeOf(plan: Plan, pod: string): string | undefined {
  const claim = plan.newNodeClaims.find(({ pods }) => pods.includes(pod));
  return claim?.nodePool ?? plan.existing.find(({ pods }) => pods.includes(pod))?.node;
}

function obstaclesOf({ stages }: PoolStages): readonly Stage[] {
  return stages.filter(({ after }) => after === 0);
}

/** What has been found of the pods that were looked at. */
const seen = { pods: 0, pools: 0, several: 0, codes: new Map<string, number>() };

function note(code: string): void {
  seen.codes.set(code, (seen.codes.get(code) ?? 0) + 1);
}

/** A thing that is named, and how to do without it. */
interface Named {
  readonly what: string;
  readonly remove: (snapshot: ClusterSnapshot) => ClusterSnapshot;
}

/** Without all that is named the pod has a place; with one of several left it has none there. */
function checkNamed(
  snapshot: ClusterSnapshot,
  at: { readonly where: string; readonly pod: string; readonly nodePool: string },
  all: readonly Named[],
): void {
  const { where, pod, nodePool } = at;
  const said = `${all.map(({ what }) => what).join(' | ')} of ${nodePool}`;
  const without = (named: readonly Named[]): Plan =>
    planOf(named.reduce((each, { remove }) => remove(each), snapshot));
  const free = without(all);
  const text = `${where}: ${pod} without ${said}: ${free.unplaced.get(pod)?.message}`;
  expect(placeOf(free, pod), text).toBeDefined();
  if (all.length < 2) return;
  seen.several += 1;
  for (const kept of all) {
    const place = placeOf(without(all.filter((each) => each !== kept)), pod);
    expect(place, `${where}: ${pod} with ${kept.what} of ${said}`).not.toBe(nodePool);
  }
}

function faultsOf(pod: Pod, reasons: readonly Reason[]): readonly Named[] {
  return reasons
    .filter(({ code }) => code !== 'pod-unplaced')
    .map((why) => ({ what: why.code, remove: (each) => withoutFault(each, pod, why) }));
}

function check(snapshot: ClusterSnapshot, where: string): void {
  const { unplaced } = planOf(snapshot);
  for (const [key, { reasons }] of unplaced) {
    if (seen.pods >= PODS) return;
    const pod = snapshot.pods.find((each) => podKey(each) === key);
    if (pod === undefined) throw new Error(`${key} is not in the cluster`);
    seen.pods += 1;
    for (const { code } of reasons) note(code);
    // Nothing else can be said of it.
    if (reasons.some(({ code }) => code === 'pod-unreadable')) continue;
    const faults = faultsOf(pod, reasons);
    const byPool = reasons.flatMap((why) =>
      why.code === 'pod-unplaced' ? why.parameters.nodePools : [],
    );
    const at = { where, pod: key };
    if (byPool.length === 0 && faults.length > 0) {
      checkNamed(snapshot, { ...at, nodePool: '' }, faults);
    }
    for (const entry of byPool) {
      const { nodePool } = entry;
      const obstacles = obstaclesOf(entry);
      expect(obstacles.length, `${where}: ${key} and ${nodePool}`).toBeGreaterThan(0);
      for (const { code } of obstacles) note(code);
      seen.pools += 1;
      const named = obstacles.map(
        (stage): Named => ({
          what: stage.what,
          remove: (each) => withoutObstacles(each, { pod: key, nodePool }, [stage]),
        }),
      );
      // What else there is can only be seen once it has types.
      if (obstacles.some(({ code }) => code === 'nodepool-without-types')) continue;
      checkNamed(snapshot, { ...at, nodePool }, [...faults, ...named]);
    }
  }
}

it(`of ${PODS} unplaced pods each is placed without what its reason names, and only then`, () => {
  const clusters = fc.sample(hinderedClusters, { seed: SEED, numRuns: PODS * 2 });
  for (const [at, snapshot] of clusters.entries()) {
    if (seen.pods < PODS) check(snapshot, `cluster ${at}`);
  }
  expect(seen.pods).toBe(PODS);
  const codes = [...seen.codes].sort().map(([code, times]) => `${code} ${times}`);
  process.stdout.write(
    `${seen.pods} of ${PODS} pods, ${seen.pools} NodePools, ${seen.several} with several obstacles\n` +
      `${codes.join('\n')}\n`,
  );
}, 600_000);
