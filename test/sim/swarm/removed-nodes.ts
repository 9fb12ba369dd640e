import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { textAt } from '../../../shared/sim/json.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import type { KubeObject } from '../../../shared/sim/store.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { one } from './one.ts';

const MINUTE = 60_000;
const FIRST_MINUTE = 3;
const LAST_MINUTE = 30;

type Mark = (what: string) => void;

/**
 * In some worlds somebody takes Nodes and NodeClaims away together with their finalizers, while the
 * kubelet runs; some of these start anew, and their Node is back.
 */
export function removeByForce(
  { world, touched }: { readonly world: World; readonly touched: Set<string> },
  seed: number,
  mark: Mark,
): void {
  const random = new Prng(seed, 'removed nodes');
  if (random.next() >= 0.4) return;
  const kinds = one(random, [['Node'], ['Node', 'NodeClaim'], ['NodeClaim']]);
  const share = one(random, [0, 0.3, 1]);
  // It looks every 20 s, and waits for 40 s whether the Node is back.
  world.controlPlane.orphanMs = () => random.between(40_000, 80_000);
  let minute = random.between(FIRST_MINUTE, 10);
  while (minute < LAST_MINUTE) {
    world.timeline.at(WORLD_START_MS + minute * MINUTE, () => {
      const found = one(random, kinds);
      const isBack = random.next() < share;
      const object = drawObject(world, random, found);
      if (object === undefined) return;
      mark(`${found} removed by force`);
      note(world, object, touched);
      remove(world, object);
      if (found === 'Node' && isBack) bringBack(world, object, random, mark);
    });
    minute += random.between(1, 8);
  }
}

/** A NodeClaim that has an instance, or the Node of one. */
function drawObject(world: World, random: Prng, kind: string): KubeObject | undefined {
  const { nodeClaims } = readState(world.store).objects;
  const ids = new Set(nodeClaims.flatMap(({ providerId }) => providerId ?? []));
  const idOf = (each: KubeObject): string =>
    textAt(each, ...(kind === 'Node' ? ['spec', 'providerID'] : ['status', 'providerID'])) ?? '';
  const objects = world.store.list(kind).filter((each) => ids.has(idOf(each)));
  return objects.length === 0 ? undefined : one(random, objects);
}

function note({ store }: World, object: KubeObject, touched: Set<string>): void {
  const { nodeClaims, nodes } = readState(store).objects;
  const { name } = object.metadata;
  const id = nodes.find((each) => each.name === name)?.providerId;
  for (const claim of nodeClaims) {
    if (claim.name === name || claim.providerId === id) touched.add(claim.name);
  }
}

function remove({ store }: World, object: KubeObject): void {
  const { kind, metadata } = object;
  const freed = store.update(object, (latest) => ({
    ...latest,
    metadata: { ...latest.metadata, finalizers: [] },
  }));
  // One that was being deleted is gone with its finalizers.
  if (freed !== undefined && store.get(kind, undefined, metadata.name) !== undefined) {
    store.delete(freed);
  }
}

function bringBack(world: World, node: KubeObject, random: Prng, mark: Mark): void {
  const id = instanceIdOf(textAt(node, 'spec', 'providerID')) ?? '';
  world.timeline.after(random.between(2_000, 4 * MINUTE), () => {
    const { machines } = world.compute;
    const machine = machines.get(id);
    if (machine?.state !== 'running') return;
    mark('kubelet starts anew');
    world.kubelets.restart(machine, () => machines.get(id)?.state === 'running');
  });
}
