import type { LifecycleAction } from '../core/lifecycle/actions.ts';
import { inTurn } from '../core/lifecycle/turns.ts';
import type { Pod } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import { type ClusterState, objectKey } from '../ports.ts';
import { nominatePods } from './nominations.ts';
import { podRef } from './references.ts';
import { type ClaimPass, carryOut, open, prepare } from './registration.ts';

/** As many nodes open together, at most: kube-scheduler soon has pods to bind. */
export const TOGETHER_MAX = 20;

/** A node that may open, and its claim. */
export interface Opening {
  readonly claim: NodeClaim;
  readonly action: Extract<LifecycleAction, { kind: 'register' }>;
}

/** Does it for all of them at once; returns those for which it was done. */
async function doneFor<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<boolean>,
): Promise<readonly Item[]> {
  const done = await Promise.all(items.map(act));
  return items.filter((_, at) => done[at]);
}

/**
 * Opens nodes together, when all their pods are nominated; returns the claims of those that are
 * open. kube-scheduler tries all pods whenever a node opens. One that it tries while its own node
 * is closed loses the nomination, and then it tries all that are nominated anywhere
 * (hasNominatedNodeNameChanged, kube-scheduler 1.35): what can be written before is written before.
 */
export async function openNodes(
  pass: ClaimPass & { readonly state: ClusterState },
  openings: readonly Opening[],
): Promise<ReadonlySet<NodeClaim>> {
  const { resourceVersions } = pass.state;
  // The last that was written of a waiting pod is what came of trying it, and it is tried in the
  // same order again. Versions of one kind are comparable numbers.
  const orderOf = (pod: Pod): number => Number(resourceVersions.get(objectKey(podRef(pod))) ?? 0);
  const opened: NodeClaim[] = [];
  for (let from = 0; from < openings.length; from += TOGETHER_MAX) {
    const prepared = await doneFor(openings.slice(from, from + TOGETHER_MAX), (each) =>
      carryOut(pass, each.claim, () => prepare(pass, each.claim, each.action)),
    );
    if (await pass.shadow.isCast()) break;
    const nominees = inTurn(
      prepared.map(({ action }) => action),
      orderOf,
    );
    pass.failures.push(...(await nominatePods(pass.ports, nominees)));
    const done = await doneFor(prepared, (each) =>
      carryOut(pass, each.claim, () => open(pass, each.action)),
    );
    opened.push(...done.map(({ claim }) => claim));
  }
  return new Set(opened);
}
