import type { LifecycleAction } from '../core/lifecycle/actions.ts';
import { plannedPods, plannedPodsText } from '../core/lifecycle/planned-pods.ts';
import { inTurn } from '../core/lifecycle/turns.ts';
import { isDrawnByOthers, type Pod } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import { type ClusterState, objectKey } from '../ports.ts';
import { nominatePods } from './nominations.ts';
import { podRef } from './references.ts';
import { type ClaimPass, carryOut, open, prepare } from './registration.ts';

/** As many nodes open in one pass: then it is time to look at everything else. */
export const TOGETHER_MAX = 20;

/** A node that may open, and its claim. */
export interface Opening {
  readonly claim: NodeClaim;
  readonly action: Extract<LifecycleAction, { kind: 'register' }>;
}

/** An opening, and the pods that are nominated for it. */
interface Turned extends Opening {
  readonly pods: readonly Pod[];
}

/** Does it for all of them at once; returns those for which it was done. */
async function doneFor<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<boolean>,
): Promise<readonly Item[]> {
  const done = await Promise.all(items.map(act));
  return items.filter((_, at) => done[at]);
}

/** First those with pods that others would have to follow (`awaitedNodes`). */
function firstOf(openings: readonly Opening[]): readonly Opening[] {
  const isDrawn = ({ action }: Opening) => action.pods.some(({ spec }) => isDrawnByOthers(spec));
  const others = openings.filter((each) => !isDrawn(each));
  return [...openings.filter(isDrawn), ...others].slice(0, TOGETHER_MAX);
}

/** What the claim says of its pods, where some of them have changed places. */
function exchanged({ claim, action, pods }: Turned): string | undefined {
  const before = new Set(action.pods.map(({ uid }) => uid));
  if (pods.every(({ uid }) => before.has(uid))) return undefined;
  const others = plannedPods(claim).filter((uid) => !before.has(uid));
  return plannedPodsText([...others, ...pods.map(({ uid }) => uid)]);
}

/**
 * Opens nodes together, when all their pods are nominated; returns the claims of those that are
 * open. Of many, the rest is left to the next pass. kube-scheduler tries all pods whenever a node
 * opens. One that it tries while its own node is closed loses the nomination, and then it tries all
 * that are nominated anywhere (hasNominatedNodeNameChanged, kube-scheduler 1.35): what can be
 * written before is written before.
 */
export async function openNodes(
  pass: ClaimPass & { readonly state: ClusterState },
  openings: readonly Opening[],
): Promise<ReadonlySet<NodeClaim>> {
  const { resourceVersions } = pass.state;
  // The last that was written of a waiting pod is what came of trying it, and it is tried in the
  // same order again. Versions of one kind are comparable numbers.
  const orderOf = (pod: Pod): number => Number(resourceVersions.get(objectKey(podRef(pod))) ?? 0);
  const together = firstOf(openings);
  const turned = inTurn(
    together.map(({ action }) => action),
    orderOf,
  );
  const all = together.map((each, at): Turned => ({ ...each, pods: turned[at]?.pods ?? [] }));
  const prepared = await doneFor(all, (each) =>
    carryOut(pass, each.claim, () => prepare(pass, each.claim, each.action.node, exchanged(each))),
  );
  if (prepared.length === 0 || (await pass.shadow.isCast())) return new Set();
  const nominees = prepared.map(({ action: { node }, pods }) => ({ node, pods }));
  pass.failures.push(...(await nominatePods(pass.ports, nominees)));
  const opened = await doneFor(prepared, ({ claim, action }) =>
    carryOut(pass, claim, () => open(pass, action)),
  );
  return new Set(opened.map(({ claim }) => claim));
}
