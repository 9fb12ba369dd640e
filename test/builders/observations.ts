import type { Observation } from '../../shared/api/observation.ts';

/** A look at a cluster in which nothing is and nothing is planned. */
export function anObservation(change: Partial<Observation> = {}): Observation {
  return {
    format: 1,
    joiner: '0.1.0',
    at: '2026-01-01T00:00:00.000Z',
    cluster: 'https://api',
    currency: 'USD',
    isKarpenterActive: true,
    nodes: [],
    pending: [],
    launches: [],
    unplaced: [],
    removals: [],
    usdPerHour: { now: 1, after: 1 },
    ...change,
  };
}
