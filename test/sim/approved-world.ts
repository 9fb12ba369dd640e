import { type Applied, applyPlan } from '../../cli/apply/apply.ts';
import type { Decision } from '../../cli/plan/decision.ts';
import { decisionsOf } from '../../cli/plan/decisions.ts';
import { type PlanFile, planFileText, planOf } from '../../cli/plan/plan-file.ts';
import type { AppSettings } from '../../shared/app/settings.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import type { Ports } from '../../shared/ports.ts';
import type { PlanBasis } from '../../shared/preview/basis.ts';
import { dryRun } from '../../shared/preview/dry-run.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Script } from '../../shared/sim/script.ts';
import type { World } from '../../shared/sim/world.ts';
import { reading, withPorts } from '../unit/app/world.ts';
import type { Paused } from './rolls.ts';
import { smallWorld } from './small-world.ts';

/** A world in which people approve decisions. `pause` sets its pauses. */
export interface ApprovedWorld {
  readonly world: World;
  readonly script: Script;
  /** As the functions have them. */
  readonly ports: Ports;
  readonly pause: (pauses: Paused) => void;
  /** Lets minutes pass. */
  readonly pass: (minutes: number) => Promise<void>;
  /** What `joiner plan --out` would write, read again. */
  readonly plan: () => Promise<readonly Decision[]>;
  readonly apply: (
    decisions: readonly Decision[],
    options?: {
      readonly isDryRun?: boolean;
      readonly ports?: Ports;
      readonly catalog?: Ports['catalog'];
    },
  ) => Promise<Applied>;
}

/** A plan of these decisions, without kind and version. */
export function fileOf(decisions: readonly Decision[]): Omit<PlanFile, 'kind' | 'version'> {
  return {
    joiner: '0.0.0',
    madeAt: '2026-01-01T00:00:00Z',
    cluster: { uid: 'uid-1', server: 'https://here', name: 'demo' },
    region: 'us-east-1',
    source: 'test',
    notes: [],
    pricePerHour: { now: 0, after: 0, unpriced: 0 },
    decisions: [...decisions],
  };
}

/** As they are approved: written to a file, and read again. */
function throughFile(decisions: readonly Decision[]): readonly Decision[] {
  return planOf('plan.json', JSON.parse(planFileText(fileOf(decisions)))).decisions;
}

export async function approvedWorld(
  manifests: readonly Json[],
  settings: Partial<AppSettings> = {},
): Promise<ApprovedWorld> {
  let paused: Paused = {};
  const wrap = (ports: Ports): Ports => {
    const read = reading(ports, (state) => ({ ...state, pausedUntilMs: paused }));
    return withPorts(ports, { cluster: { read } });
  };
  const { world, script } = await smallWorld(manifests, { wrap, settings });
  const { ports } = world;
  const prices = await loadCatalog('us-east-1');
  const basis: PlanBasis = {
    catalog: ports.catalog,
    prices,
    isCatalogCurrent: true,
    settings: world.settings,
  };
  return {
    world,
    script,
    ports,
    pause: (pauses) => {
      paused = pauses;
    },
    pass: (minutes) => world.run(world.timeline.nowMs() + minutes * 60_000),
    plan: async () => {
      const { cluster, clock } = ports;
      const state = await cluster.read();
      const input = { ...basis, live: cluster, state, nowMs: clock.nowMs() };
      return throughFile(decisionsOf(await dryRun(input), input));
    },
    apply: (decisions, { isDryRun = false, ports: own = ports, catalog = ports.catalog } = {}) =>
      applyPlan({ ports: own, basis: { ...basis, catalog }, decisions, isDryRun }),
  };
}
