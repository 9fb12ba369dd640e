import type { SchedulingCase } from '../../shared/api/case/decode.ts';
import { resolveTypes } from '../../shared/app/planning/provisioning-input.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import type { NodeOverlay, NodePool } from '../../shared/core/model/provisioning.ts';
import { type OverlayResolution, resolveOverlays } from '../../shared/core/overlay/resolve.ts';
import type { Json } from '../../shared/sim/json.ts';
import { prepareSimulation, runUntil } from '../simulate/run.ts';

/** Instance types by NodePool, before and after overlays, from wherever they come. */
export interface Diagnosis {
  readonly before: ReadonlyMap<string, readonly InstanceType[]>;
  readonly nodePools: readonly NodePool[];
  readonly nodeOverlays: readonly NodeOverlay[];
  readonly resolution: OverlayResolution;
  /** Objects that the API server would refuse, and why. */
  readonly rejected: Readonly<Record<string, readonly string[]>>;
  /** Undefined: a case names none. */
  readonly region: string | undefined;
  /** Where prices come from. */
  readonly source: string;
}

export function diagnosisOfCase({ snapshot, rejected, name }: SchedulingCase): Diagnosis {
  const { nodePools, instanceTypes, nodeOverlays } = snapshot;
  return {
    before: instanceTypes,
    nodePools,
    nodeOverlays,
    resolution: resolveOverlays(nodePools, instanceTypes, nodeOverlays),
    rejected,
    region: undefined,
    source: name === '' ? 'prices of the case' : `prices of case ${name}`,
  };
}

const KINDS: ReadonlySet<unknown> = new Set(['NodePool', 'EC2NodeClass', 'NodeOverlay']);

/** Long enough for the nodeclass function to have resolved every class. */
const SETTLED_MS = 30_000;

/** The manifests' pools, classes and overlays on the catalog, in an empty cluster. */
export async function diagnosisOfManifests(
  manifests: readonly Json[],
  catalog: Catalog,
): Promise<Diagnosis> {
  const used = manifests.filter((object) => KINDS.has(object['kind']));
  const simulation = await prepareSimulation({ catalog, seed: 1, manifests: used });
  await runUntil(simulation, SETTLED_MS);
  const { ports, settings } = simulation.world;
  const state = await ports.cluster.read();
  const { byNodeClass, ...resolution } = await resolveTypes(ports, settings, state);
  const { nodePools, nodeOverlays } = state.objects;
  const before = nodePools.map(
    ({ name, template }) => [name, byNodeClass.get(template.nodeClassRef.name) ?? []] as const,
  );
  return {
    before: new Map(before),
    nodePools,
    nodeOverlays,
    resolution,
    rejected: {},
    region: catalog.region,
    source: simulation.source,
  };
}
