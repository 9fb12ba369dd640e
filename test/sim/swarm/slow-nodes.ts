import type { Json } from '../../../shared/sim/json.ts';
import { conditionStatus, setCondition } from '../../../shared/sim/objects.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { withTemplate } from '../small-world.ts';
import { one } from './one.ts';
import type { PoolFields, Setting } from './setting.ts';

const MINUTE = 60_000;
/** Nodes that are launched later are as fast as they can be, and stay ready. */
const SLOW_UNTIL_MS = WORLD_START_MS + 30 * MINUTE;
/** A minute longer, and it is given up as one that does not join. */
const JOIN_MOST_MS = 12 * MINUTE;
const FLAP_EVERY_MS = 20_000;

const STARTUP_TAINTS = [
  { key: 'node.cilium.io/agent-not-ready', value: 'true', effect: 'NoExecute' },
  { key: 'example.com/agent', effect: 'NoSchedule' },
] as const;

/** NodePools have startup taints, which an agent takes off each node. */
export function withStartupTaints(setting: Setting, random: Prng): Setting {
  const startupTaints = [one(random, STARTUP_TAINTS)];
  const tainted = (pool: Json): Json => withTemplate(pool, { startupTaints });
  const of =
    (pool: Setting['pool']): Setting['pool'] =>
    (fields: PoolFields) =>
      tainted(pool(fields));
  return {
    ...setting,
    pool: of(setting.pool),
    others: setting.others.map((each) => ({ ...each, pool: of(each.pool) })),
    manifests: setting.manifests.map((each) =>
      each['kind'] === 'NodePool' ? tainted(each) : each,
    ),
  };
}

/** In some worlds nodes take minutes to join, to be ready and to lose their startup taints. */
export function slowAtFirst(world: World, seed: number, mark: (what: string) => void): void {
  const random = new Prng(seed, 'slow nodes');
  if (random.next() >= 0.5) return;
  const share = one(random, [0.2, 0.5, 1]);
  const hasFlaps = random.next() < 0.5;
  world.slownessOf = () => {
    const isSlow = (what: string): boolean => {
      const isDrawn = random.next() < share && world.timeline.nowMs() < SLOW_UNTIL_MS;
      if (isDrawn) mark(`node ${what} late`);
      return isDrawn;
    };
    return {
      joinMs: isSlow('joins') ? random.between(20_000, JOIN_MOST_MS) : 0,
      readyMs: isSlow('is ready') ? random.between(5_000, 6 * MINUTE) : 0,
      agentsMs: isSlow('has agents') ? random.between(5_000, 8 * MINUTE) : 0,
    };
  };
  if (hasFlaps) flap(world, random, mark);
}

/** Nodes are not ready for a moment, again and again. */
function flap(world: World, random: Prng, mark: (what: string) => void): void {
  const { store, timeline } = world;
  for (let atMs = WORLD_START_MS; atMs < SLOW_UNTIL_MS; atMs += FLAP_EVERY_MS) {
    timeline.at(atMs, () => {
      const ready = store.list('Node').filter((each) => conditionStatus(each, 'Ready') === 'True');
      if (ready.length === 0 || random.next() < 0.5) return;
      const { name, uid } = one(random, ready).metadata;
      mark('node flaps');
      setReady(world, name, 'False');
      timeline.after(random.between(1_000, 90_000), () => {
        const node = store.get('Node', undefined, name);
        // One that is silent by now, or is another by the name, stays as it is.
        const isSame = node !== undefined && node.metadata.uid === uid;
        if (isSame && conditionStatus(node, 'Ready') === 'False') setReady(world, name, 'True');
      });
    });
  }
}

/** What the kubelet of the node says, or that it says nothing. */
export function setReady(
  { store, timeline }: World,
  name: string,
  status: 'True' | 'False' | 'Unknown',
): void {
  const node = store.get('Node', undefined, name);
  if (node === undefined) return;
  const condition = { type: 'Ready', status, reason: 'Kubelet', message: '' };
  store.update(node, (latest) => setCondition(latest, condition, timeline.isoNow()));
}
