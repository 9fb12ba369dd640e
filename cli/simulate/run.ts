import packageJson from '../../package.json' with { type: 'json' };
import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import type { StackSettings } from '../../shared/app/settings.ts';
import { type Catalog, repriced } from '../../shared/catalog/facts.ts';
import { DEFAULT_LAUNCH_ENVIRONMENT } from '../../shared/catalog/node-class-settings.ts';
import { offeringsPort } from '../../shared/catalog/offerings-port.ts';
import type { NodeClass } from '../../shared/core/model/node-class.ts';
import type { Ports } from '../../shared/ports.ts';
import { launchEnvironmentOf } from '../../shared/preview/basis.ts';
import type { Json } from '../../shared/sim/json.ts';
import { type FinalState, finalState } from '../../shared/sim/report.ts';
import { adoptInstances, startMsOf } from '../../shared/sim/running.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { Script } from '../../shared/sim/script.ts';
import { Timeline } from '../../shared/sim/timeline.ts';
import { World } from '../../shared/sim/world.ts';
import { Film } from '../packing/film.ts';

/** A world ready to run: manifests applied, scenario planned. */
export interface Simulation {
  readonly world: World;
  readonly film: Film;
  readonly script: Script;
  readonly seed: number;
  /** Where the prices come from. */
  readonly source: string;
}

export interface SimulationInput {
  /** Types and prices at the start. */
  readonly catalog: Catalog;
  readonly seed: number;
  readonly manifests: readonly Json[];
  readonly scenario?: Scenario | undefined;
  /** Objects of the files that the scenario names. */
  readonly files?: ReadonlyMap<string, readonly Json[]>;
  /** @default those of a stack that states none */
  readonly stack?: StackSettings;
  readonly wrap?: (ports: Ports) => Ports;
}

function classOf(manifest: Json): readonly NodeClass[] {
  const decoded = decodeEC2NodeClass(manifest);
  return decoded.ok ? [decoded.value] : [];
}

/** Wires the real use cases to the simulated world. */
export async function prepareSimulation(input: SimulationInput): Promise<Simulation> {
  let { catalog } = input;
  const { stack, manifests } = input;
  const environment = stack === undefined ? DEFAULT_LAUNCH_ENVIRONMENT : launchEnvironmentOf(stack);
  const port = offeringsPort(catalog.region, () => catalog, environment, {
    reservations: async (terms) => await world.compute.reservations.matching(terms),
  });
  const world: World = new World({
    cluster: 'demo',
    seed: input.seed,
    zones: catalog.zones,
    catalog: port,
    nodeClasses: manifests.filter(({ kind }) => kind === 'EC2NodeClass').flatMap(classOf),
    timeline: new Timeline(startMsOf(manifests)),
    ...(stack === undefined ? {} : { settings: stack.useCases }),
    ...(input.wrap === undefined ? {} : { wrap: input.wrap }),
  });
  const film = new Film(world);
  const script = new Script(world, {
    manifests: (path) => input.files?.get(path) ?? [],
    reprice: (change) => {
      catalog = repriced(catalog, [change]);
    },
  });
  script.apply(manifests);
  await adoptInstances(world);
  if (input.scenario !== undefined) script.plan(input.scenario);
  return { world, film, script, seed: input.seed, source: port.source };
}

/** The state after so many milliseconds of virtual time since the start. */
export async function runUntil(simulation: Simulation, sinceStartMs: number): Promise<FinalState> {
  const { world, script, seed } = simulation;
  await world.run(world.startMs + sinceStartMs);
  return finalState(world, packageJson.version, seed, script.rejected);
}
