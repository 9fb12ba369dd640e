import fc from 'fast-check';
import { expect, it } from 'vitest';
import { furtherReasons } from '../../cli/explain/further.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { type Reason, sentences } from '../../shared/core/explain/reason.ts';
import { DO_NOT_DISRUPT, NODE_POOL_HASH } from '../../shared/core/model/labels.ts';
import type { Ports } from '../../shared/ports.ts';
import { dryRun } from '../../shared/preview/dry-run.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import {
  asksForReturn,
  HINDRANCES,
  STANDING_SETTINGS,
  type Standing,
  WITHOUT,
  withClaim,
  withObjects,
  withPods,
  withPools,
} from '../builders/staying-nodes.ts';
import { nodeClass, nodePool, smallWorld } from '../sim/small-world.ts';
import { MINUTE, spread } from '../unit/app/world.ts';

/** Nodes that are looked at: `JOINER_TRUTHS=1000` looks at more. */
const WANTED = Number(process.env['JOINER_TRUTHS'] ?? 100);
const SEED = Number(process.env['JOINER_SEED'] ?? 12);

const prices = await loadCatalog('us-east-1');

/** So many that spot nodes may be replaced by spot nodes. */
const TYPES = /^[cmr][67][gia]d?\.(large|xlarge|2xlarge)$/;

interface Ground {
  readonly ports: Ports;
  readonly standing: Standing;
}

/** Three nodes with a pod each, of which the first could go and the others are protected. */
async function groundOf(capacityType: 'spot' | 'on-demand', cpu: string): Promise<Ground> {
  const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
  const pool = nodePool([capacityType], { disruption });
  const { world } = await smallWorld([nodeClass, pool, spread('web', 3, cpu)], { types: TYPES });
  await world.run(WORLD_START_MS + 3 * MINUTE);
  const { ports } = world;
  const state = await ports.cluster.read();
  const [first] = state.objects.nodeClaims.map(({ name }) => name).sort();
  const nowMs = ports.clock.nowMs() + 60 * MINUTE;
  const at = { state, settings: STANDING_SETTINGS, nowMs, claim: first ?? '' };
  const own = state.objects.nodeClaims.find(({ name }) => name === first)?.nodeName;
  const standing = withObjects(at, ({ nodes, pods }) => ({
    nodes: nodes.map((node) =>
      node.name === own
        ? node
        : { ...node, annotations: { ...node.annotations, [DO_NOT_DISRUPT]: 'true' } },
    ),
    pods: pods.map((pod) => ({ ...pod, spec: { ...pod.spec, podAntiAffinity: [] } })),
  }));
  return { ports, standing };
}

const small = await groundOf('on-demand', '1');
const large = await groundOf('on-demand', '3');
const spot = await groundOf('spot', '7');

function requesting(at: Standing, cpu: number): Standing {
  return withPods(at, ({ spec }) => ({ spec: { ...spec, requests: { ...spec.requests, cpu } } }));
}

/** Why each node could go, if nothing kept it. */
const KINDS: Readonly<Record<string, Ground>> = {
  'its pod fits on another': { ...small, standing: requesting(small.standing, 300) },
  'its pod fits on a cheaper one': { ...large, standing: requesting(large.standing, 1500) },
  'its pod fits on a cheaper spot one': { ...spot, standing: requesting(spot.standing, 1500) },
  'it is empty': {
    ...small,
    standing: withPods(small.standing, () => ({ phase: 'Succeeded' as const })),
  },
  'it is a fallback': {
    ...small,
    standing: asksForReturn(
      withPools(small.standing, ({ disruption }) => ({
        disruption: { ...disruption, consolidationPolicy: 'WhenEmpty' as const },
      })),
    ),
  },
  'it has drifted': {
    ...small,
    standing: withClaim(
      withPools(small.standing, ({ disruption }) => ({
        disruption: { ...disruption, consolidationPolicy: 'WhenEmpty' as const },
      })),
      ({ annotations }) => ({ annotations: { ...annotations, [NODE_POOL_HASH]: 'of-yesterday' } }),
    ),
  },
};

interface Outcome {
  readonly goes: boolean;
  readonly reasons: readonly Reason[];
}

async function outcomeOf({ ports }: Ground, at: Standing): Promise<Outcome> {
  const { cluster, catalog } = ports;
  const input = { live: cluster, catalog, prices, ...at };
  const { disruptions, kept } = await dryRun(input, { asked: at.claim });
  const goes = disruptions.some(({ claims }) => claims.some(({ name }) => name === at.claim));
  return { goes, reasons: kept.get(at.claim) ?? [] };
}

const seen = { nodes: 0, several: 0, codes: new Set<string>() };

function removed(at: Standing, reasons: readonly Reason[]): Standing {
  return reasons.reduce((now, why) => {
    const remove = WITHOUT[why.code];
    if (remove === undefined) throw new Error(`nothing removes ${why.code}`);
    return remove(now, why);
  }, at);
}

/**
 * Everything that is named, by a pass and by `explain node` beyond it, keeps the node: without all
 * of it the node goes, with one of it left the node stays.
 */
async function check(
  ground: Ground,
  at: Standing,
  { reasons }: Outcome,
  where: string,
): Promise<void> {
  expect(reasons.length, where).toBeGreaterThan(0);
  const { cluster, catalog } = ground.ports;
  const input = { live: cluster, catalog, prices, ...at };
  const { layers } = await furtherReasons(input, at.claim, reasons);
  let standing = at;
  let said = where;
  for (const layer of [reasons, ...layers.map((each) => each.reasons)]) {
    said += `; ${sentences(layer)}`;
    for (const kept of layer) {
      seen.codes.add(kept.code);
      const rest = layer.filter((each) => each !== kept);
      const now = await outcomeOf(ground, removed(standing, rest));
      expect(now.goes, `${said}, with ${kept.code} left`).toBe(false);
    }
    standing = removed(standing, layer);
  }
  seen.several += Number(layers.length > 0 || reasons.length > 1);
  const now = await outcomeOf(ground, standing);
  const left = now.goes ? [] : now.reasons.map(({ code }) => code);
  expect(left, `${said}, of which nothing is left`).toEqual([]);
  expect(now.goes, said).toBe(true);
}

it.each(Object.entries(KINDS))('a node goes where nothing keeps it: %s', async (_, ground) => {
  const { settings } = ground.standing;
  const consolidation = { ...settings.consolidation, spotToSpot: true };
  const standing = { ...ground.standing, settings: { ...settings, consolidation } };
  expect(await outcomeOf(ground, standing)).toMatchObject({ goes: true });
});

it(`of ${WANTED} nodes that stay each goes once all that is named is gone, and not before`, async () => {
  const arbitrary = fc.record({
    kind: fc.constantFrom(...Object.keys(KINDS)),
    names: fc.subarray(Object.keys(HINDRANCES), { minLength: 1, maxLength: 5 }),
  });
  const samples = fc.sample(arbitrary, { seed: SEED, numRuns: WANTED * 4 });
  for (const { kind, names } of samples) {
    if (seen.nodes >= WANTED) break;
    const ground = KINDS[kind];
    if (ground === undefined) throw new Error(kind);
    const at = names.reduce((each, name) => HINDRANCES[name]?.(each) ?? each, ground.standing);
    const outcome = await outcomeOf(ground, at);
    if (outcome.goes) continue;
    seen.nodes += 1;
    await check(ground, at, outcome, `${kind} (${names.join(', ')})`);
  }
  expect(seen.nodes).toBe(WANTED);
  expect(seen.several).toBeGreaterThan(WANTED / 3);
}, 600_000);

/** The bound on what a move saves nearly always finds it before a plan does. */
const RARE = new Set(['move-does-not-pay']);

it.runIf(WANTED >= 1000)('finds each of the reasons that it knows to remove', () => {
  expect(Object.keys(WITHOUT).filter((code) => !seen.codes.has(code) && !RARE.has(code))).toEqual(
    [],
  );
});
