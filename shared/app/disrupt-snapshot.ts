import { withLeaving } from '../core/disruption/simulation.ts';
import { NODE_POOL } from '../core/model/labels.ts';
import type { ClusterSnapshot } from '../core/model/snapshot.ts';
import { bufferPods } from './capacity-buffers.ts';
import type { DisruptPass } from './disrupt-pass.ts';
import { haltedPools } from './launch-brakes.ts';
import { withPlannedLabels } from './new-claims.ts';
import { withoutHalted } from './outlook.ts';

/** What `provision` would plan on: with the room that CapacityBuffers ask for, less what goes. */
export async function planningSnapshot(pass: DisruptPass): Promise<ClusterSnapshot> {
  const { ports, settings, state, resolution, nowMs, taken } = pass;
  const { nodePools, nodeClaims, nodes, pods } = state.objects;
  const halted = haltedPools(await ports.memory.failedRegistrations(), nowMs);
  const buffers = settings.capacityBuffer ? state.capacityBuffers.flatMap(bufferPods) : [];
  const snapshot: ClusterSnapshot = {
    ...state.objects,
    nodeClaims: nodeClaims.map((claim) => {
      const types = resolution.instanceTypes.get(claim.labels[NODE_POOL] ?? '') ?? [];
      return withPlannedLabels(claim, types, ports.catalog.region);
    }),
    nodePools: withoutHalted(nodePools, halted),
    instanceTypes: resolution.instanceTypes,
    pods: [...pods, ...buffers],
  };
  const gone = new Set(
    nodeClaims.flatMap(({ uid, providerId }) => (taken.has(uid) ? (providerId ?? []) : [])),
  );
  return nodes
    .filter(({ providerId }) => providerId !== undefined && gone.has(providerId))
    .reduce((each, { name }) => withLeaving(each, name), snapshot);
}
