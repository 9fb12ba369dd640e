import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ClaimExplanation, explainClaim } from '../../cli/explain/claim.ts';
import { nodeRows } from '../../cli/top/rows.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { type Reason, sentences } from '../../shared/core/explain/reason.ts';
import { missing } from '../../shared/core/missing.ts';
import { NODE_POOL_HASH } from '../../shared/core/model/labels.ts';
import type { Ports } from '../../shared/ports.ts';
import { dryRun } from '../../shared/preview/dry-run.ts';
import { preview } from '../../shared/preview/preview.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import {
  STANDING_SETTINGS,
  type Standing,
  withClaim,
  withObjects,
  withOthersProtected,
  withPods,
  withPools,
} from '../builders/standing.ts';
import { asksForReturn, HINDRANCES, WITHOUT } from '../builders/staying-nodes.ts';
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
  const standing = withObjects(withOthersProtected(at), ({ pods }) => ({
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

function inputOf({ ports }: Ground, at: Standing) {
  const { cluster, catalog } = ports;
  return { live: cluster, catalog, prices, ...at };
}

async function goes(ground: Ground, at: Standing): Promise<boolean> {
  const { disruptions } = await dryRun(inputOf(ground, at), { asked: at.claim });
  return disruptions.some(({ claims }) => claims.some(({ name }) => name === at.claim));
}

/** What `joiner explain nodeclaim` says. */
async function explained(ground: Ground, at: Standing): Promise<ClaimExplanation> {
  const input = inputOf(ground, at);
  const { nodeClaims } = at.state.objects;
  const claim = nodeClaims.find(({ name }) => name === at.claim) ?? missing(at.claim);
  const rows = nodeRows(at.state, prices, at.nowMs);
  const row = rows.find(({ nodeClaim }) => nodeClaim === at.claim) ?? missing(`row of ${at.claim}`);
  return await explainClaim(claim, row, input, await preview(input, { asked: at.claim }));
}

const seen = { nodes: 0, several: 0, codes: new Set<string>() };

function removed(at: Standing, reasons: readonly Reason[]): Standing {
  return reasons.reduce((now, why) => {
    const remove = WITHOUT[why.code];
    if (remove === undefined) throw new Error(`nothing removes ${why.code}`);
    return remove(now, why);
  }, at);
}

/** What `explain` names and cannot suppose away: nobody knows what would be available then. */
const NOT_SUPPOSED: ReadonlySet<string> = new Set(['first-choice-unavailable']);

/**
 * Everything that `explain` names keeps the node: without all of it the node goes, with one of it
 * left the node stays.
 */
async function check(ground: Ground, at: Standing, where: string): Promise<void> {
  const { fate, further } = await explained(ground, at);
  const first = fate.kind === 'stays' || fate.kind === 'held' ? fate.reasons : [];
  expect(first.length, `${where}: ${fate.kind}, ${fate.why}`).toBeGreaterThan(0);
  const layers = further?.layers ?? [];
  let standing = at;
  let said = where;
  for (const layer of [first, ...layers.map(({ reasons }) => reasons)]) {
    said += `; ${sentences(layer)}`;
    for (const kept of layer) {
      seen.codes.add(kept.code);
      const rest = layer.filter((each) => each !== kept);
      const now = await goes(ground, removed(standing, rest));
      expect(now, `${said}, with ${kept.code} left`).toBe(false);
    }
    standing = removed(standing, layer);
  }
  seen.several += Number(layers.length > 0 || first.length > 1);
  expect(await goes(ground, standing), `${said}, of which nothing is left`).toBe(true);
  const isSupposed = ![...first, ...layers.flatMap(({ reasons }) => reasons)].some(({ code }) =>
    NOT_SUPPOSED.has(code),
  );
  expect(further?.goes, said).toBe(isSupposed);
}

it.each(Object.entries(KINDS))('a node goes where nothing keeps it: %s', async (_, ground) => {
  const { settings } = ground.standing;
  const consolidation = { ...settings.consolidation, spotToSpot: true };
  const standing = { ...ground.standing, settings: { ...settings, consolidation } };
  expect(await goes(ground, standing)).toBe(true);
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
    if (await goes(ground, at)) continue;
    seen.nodes += 1;
    await check(ground, at, `${kind} (${names.join(', ')})`);
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
