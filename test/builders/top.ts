import type { LivingRow } from '../../cli/top/watch/snapshot.ts';

/** A row of `top --watch`: half of a node's cores are requested. */
export function livingRow(node: string, rest: Partial<LivingRow> = {}): LivingRow {
  return {
    node,
    nodeClaim: `claim-${node}`,
    nodePool: 'general',
    instanceType: 'm7g.large',
    capacityType: 'spot',
    zone: 'eu-west-1a',
    architecture: 'arm64',
    imageId: 'ami-1',
    instanceId: 'i-1',
    pricePerHour: 0.1,
    cpu: { requested: 900, allocatable: 1800 },
    memory: { requested: 0, allocatable: 8 * 2 ** 30 },
    pods: 3,
    ageSeconds: 75,
    state: ['Ready'],
    life: { state: 'Ready', detail: '' },
    ...rest,
  };
}
