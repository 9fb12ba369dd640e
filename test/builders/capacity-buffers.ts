import type { NamedBuffer } from '../../shared/api/capacity-buffer.ts';
import type { CapacityBuffer } from '../../shared/ports.ts';

/** A CapacityBuffer of one replica in namespace `team`, of which nothing is said yet. */
export function bufferOf<Target extends (CapacityBuffer | NamedBuffer)['target']>(
  name: string,
  target: Target,
) {
  return {
    namespace: 'team',
    name,
    uid: name,
    generation: 1,
    provisioningStrategy: 'buffer.x-k8s.io/active-capacity',
    replicas: 1,
    percentage: undefined,
    limits: {},
    target,
    status: {
      replicas: undefined,
      podTemplate: undefined,
      podTemplateGeneration: undefined,
      provisioningStrategy: undefined,
    },
    conditions: [],
  };
}
