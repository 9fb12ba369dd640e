import type { Observation } from '../../../shared/api/observation.ts';
import { anObservation } from '../../builders/observations.ts';

/** Parts of observations. */

type Node = Observation['nodes'][number];

export const machine = (type: string, usdPerHour: number | null) => ({
  nodePool: 'default',
  instanceType: type,
  zone: 'us-east-1a',
  capacityType: 'on-demand',
  usdPerHour,
});

export function node(nodeClaim: string, usdPerHour: number, change: Partial<Node> = {}): Node {
  const createdAt = '2026-01-01T00:00:30.000Z';
  return {
    nodeClaim,
    ...machine('m6i.large', usdPerHour),
    createdAt,
    isLeaving: false,
    pods: 3,
    ...change,
  };
}

export function observation(minute: number, change: Partial<Observation> = {}): Observation {
  return anObservation({ at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(), ...change });
}

export const removal = {
  nodeClaim: 'old',
  action: 'remove',
  why: 'its pods fit elsewhere',
  usdPerHour: 0.1,
  pods: 3,
} as const;
