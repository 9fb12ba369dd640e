import type { LifecycleAction } from '../../../core/lifecycle/actions.ts';
import { dependsOnOtherPods, type Pod } from '../../../core/model/pod.ts';
import type { NodeClaim } from '../../../core/model/provisioning.ts';
import { isPending, plannedPods, plannedPodsText } from '../../../core/nomination/planned-pods.ts';
import { inSpreadOrder, nominableTogether } from '../../../core/nomination/spread-order.ts';
import type { ClusterState, Ports } from '../../../ports.ts';
import { attempt, type Failure } from '../../writes/attempt.ts';
import type { LifecycleMemory } from '../memory.ts';
import { type ClaimPass, carryOut, namePods, open, prepare } from '../registration.ts';
import { nominatePods } from './nominations.ts';

/** As many nodes open in one pass: then it is time to look at everything else. */
export const TOGETHER_MAX = 20;

/** Nodes whose pods are nominated are not kept closed for longer, however long it takes. */
const REST_MS_MAX = 500;

/** A node that may open, and its claim. */
export interface Registering {
  readonly claim: NodeClaim;
  readonly action: Extract<LifecycleAction, { kind: 'register' }>;
}

/** An opening, and the pods that are nominated for it. */
interface Turned extends Registering {
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
function firstOf(openings: readonly Registering[]): readonly Registering[] {
  const isDrawn = ({ action }: Registering) =>
    action.pods.some(({ spec }) => dependsOnOtherPods(spec));
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

/** Whether pods are to come to the node that have to be where others of them are. */
function leads({ pods }: Turned): boolean {
  return pods.some(({ spec }) => spec.podAffinity.length > 0);
}

interface OpeningPass extends ClaimPass {
  readonly state: ClusterState;
  readonly memory: LifecycleMemory;
}

/** Asks about pods without a node; where that fails, nodes open without an answer. */
async function asked(
  { ports, failures }: OpeningPass,
  ask: (ports: Ports) => Promise<void>,
): Promise<void> {
  failures.push(...(await attempt('pods without a node', () => ask(ports))));
}

/** Waits until kube-scheduler rests, and not for longer. */
export async function rest(pass: OpeningPass, msMax: number): Promise<void> {
  await asked(pass, (ports) => pass.memory.nominations.rest(ports, msMax));
}

/**
 * Opens nodes together, when all their pods are nominated; returns the claims of those that are
 * open. Of many, the rest is left to the next pass. kube-scheduler tries all pods whenever a node
 * opens. One that it tries while its own node is closed loses the nomination, and then it tries all
 * that are nominated anywhere (hasNominatedNodeNameChanged, kube-scheduler 1.35): what can be
 * written before is written before, it is to be at rest, and nominations are kept from then on.
 */
export async function registerNodes(
  pass: OpeningPass,
  openings: readonly Registering[],
): Promise<ReadonlySet<NodeClaim>> {
  const prepared = await doneFor(firstOf(openings), ({ claim, action }) =>
    carryOut(pass, claim, () => prepare(pass, claim, action.node)),
  );
  if (prepared.length === 0) return new Set();
  const order = await readOrder(pass, prepared);
  const named = await inOrder(pass, prepared, order);
  const { objects } = pass.state;
  const nominated = Map.groupBy(objects.pods.filter(isPending), (pod) => pod.nominatedNodeName);
  const nominees = named.map(({ action: { node }, pods }) => ({
    node,
    pods: nominableTogether(pods, nominated.get(node.name)),
  }));
  const { ports, memory, failures } = pass;
  const { nominations } = memory;
  const arrivals = named.map(({ action: { node }, pods }) => ({
    node,
    pods: [...pods, ...(nominated.get(node.name) ?? [])],
  }));
  if (order !== undefined) {
    await asked(pass, (own) => nominations.follow(own, arrivals, nominees));
  }
  failures.push(...(await nominatePods(ports, nominees)));
  if (order !== undefined) await rest(pass, REST_MS_MAX);
  await nominations.keep();
  const openAll = (those: readonly Turned[]): Promise<readonly Turned[]> =>
    doneFor(those, ({ claim, action }) => carryOut(pass, claim, () => open(pass, action)));
  // Where the first pod of a group is, the others have to follow: it may not find room elsewhere.
  const opened = await openAll(named.filter(leads));
  const others = await openAll(named.filter((each) => !leads(each)));
  const all = [...opened, ...others];
  const stillClosed = new Set(openings.map(({ action }) => action.node.name));
  for (const { action } of all) stillClosed.delete(action.node.name);
  nominations.keepOnly((name) => !stillClosed.has(name), pass.ports.clock.nowMs());
  return new Set(all.map(({ claim }) => claim));
}

/** By uid, when each pod without a node is tried. Undefined: nobody asks, or it cannot be known. */
async function readOrder(
  pass: OpeningPass,
  openings: readonly Registering[],
): Promise<ReadonlyMap<string, number> | undefined> {
  if (openings.every(({ action }) => action.pods.length === 0)) return undefined;
  let order: ReadonlyMap<string, number> | undefined;
  await asked(pass, async (ports) => {
    const uids = await pass.memory.nominations.order(ports);
    order = new Map(uids.map((uid, at) => [uid, at]));
  });
  return order;
}

/**
 * The openings in the order in which kube-scheduler is going to try the first of their pods, each
 * with its pods in that order. It begins as soon as the first node is open, and the others follow
 * within milliseconds: a pod that finds its node open keeps its place. Where the order is not known
 * the node with most pods is first: the pod that it begins with may well be one of those. Claims
 * name their pods anew where they have changed.
 */
async function inOrder(
  pass: OpeningPass,
  openings: readonly Registering[],
  order: ReadonlyMap<string, number> | undefined,
): Promise<readonly Turned[]> {
  const orderOf = ({ uid }: Pod): number => order?.get(uid) ?? order?.size ?? 0;
  const turned = inSpreadOrder(
    openings.map(({ action }) => action),
    orderOf,
  );
  const compare = (a: Pod, b: Pod): number =>
    b.spec.priority - a.spec.priority || orderOf(a) - orderOf(b);
  const isWaiting = ({ uid }: Pod): boolean => order === undefined || order.has(uid);
  const sorted = openings.map((each, at): Turned => {
    const pods = turned[at]?.pods ?? [];
    return { ...each, pods: pods.filter(isWaiting).toSorted(compare) };
  });
  const named = await Promise.all(sorted.map((each) => withNames(pass, each)));
  const compareFirst = ({ pods: [a] }: Turned, { pods: [b] }: Turned): number => {
    if (a === undefined || b === undefined)
      return Number(a === undefined) - Number(b === undefined);
    return compare(a, b);
  };
  return named.flat().toSorted((a, b) => compareFirst(a, b) || b.pods.length - a.pods.length);
}

/**
 * The opening once its claim names the pods; none: the claim is gone. Where that is refused the
 * node opens all the same, and kube-scheduler binds the pods as it likes.
 */
async function withNames(pass: OpeningPass, opening: Turned): Promise<readonly Turned[]> {
  const { claim } = opening;
  let refusals: readonly Failure[] = [];
  const isThere = await carryOut(pass, claim, async () => {
    let isNamed = true;
    refusals = await attempt(`NodeClaim/${claim.name}`, async () => {
      isNamed = await namePods(pass, claim, exchanged(opening));
    });
    return isNamed;
  });
  pass.failures.push(...refusals);
  if (!isThere) return [];
  return [refusals.length === 0 ? opening : { ...opening, pods: [] }];
}
