import { kindDecoders } from '../../shared/api/kinds.ts';
import type { Observation } from '../../shared/api/observation.ts';
import { OBSERVED_LOG } from '../../shared/contract.ts';
import { clusterReader } from '../../shared/kube/cluster-reader.ts';
import { basisOf } from '../../shared/preview/basis.ts';
import { observationOf } from '../../shared/preview/observation.ts';
import { preview } from '../../shared/preview/preview.ts';
import { composed, type Invocation } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { noCatalog } from '../runtime/memory.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { openSources, type Sources } from './sources.ts';

/**
 * Plans as the functions of a whole stack would, on a copy of the cluster, and keeps what it plans
 * beside what is there. It has no right to do more, in the cluster or in AWS.
 */
export const handler = composed(async (_: WakeUpEvent, invocation) => {
  const { config, telemetry, remainingMs } = invocation;
  const sources = await openSources(config, telemetry, remainingMs());
  try {
    const observation = await observed(sources, invocation);
    const bytes = await sources.observations.write(observation);
    telemetry.logger.info(OBSERVED_LOG.message, { ...figuresOf(observation), bytes });
    return figuresOf(observation);
  } finally {
    await sources.close();
  }
});

async function observed(
  { kube, endpoint, prices, memory }: Sources,
  { config, telemetry }: Invocation,
): Promise<Observation> {
  const nowMs = kube.timing.nowMs();
  // A reader that is kept would catch up by watches, which the role may not have.
  const reader = clusterReader({
    client: kube,
    decoders: kindDecoders('server'),
    onInvalid: (object, issues) => {
      telemetry.logger.warn('object that cannot be read', { object, issues: [...issues] });
    },
  });
  const [state] = await Promise.all([reader.read(), prices.refresh()]);
  const catalog = prices.current ?? noCatalog(config.region);
  const known = { prices: catalog, memory, isCatalogCurrent: prices.isCurrent };
  const { settings: useCases, memoryOverhead, reservedEnis } = config;
  const basis = basisOf(known, { useCases, memoryOverhead, reservedEnis });
  const previewed = { ...basis, live: reader, state, nowMs };
  const planned = await preview(previewed);
  logFailures(telemetry, planned.failures);
  return observationOf(previewed, planned, { cluster: endpoint, joiner: config.version });
}

/** What the dashboard shows of an observation. */
function figuresOf(observation: Observation): Readonly<Record<string, number | boolean>> {
  const { pending, unplaced, launches, removals, nodes, usdPerHour } = observation;
  const { fields } = OBSERVED_LOG;
  return {
    [fields.pending]: pending.length,
    [fields.unplaced]: unplaced.length,
    [fields.launches]: launches.length,
    [fields.removals]: removals.length,
    [fields.now]: usdPerHour.now,
    [fields.planned]: usdPerHour.after,
    nodes: nodes.length,
    isKarpenterActive: observation.isKarpenterActive,
  };
}
