import type { ClusterView } from '../../shared/ports/metrics.ts';

/** A cluster of which nothing was read. */
export const EMPTY_VIEW: ClusterView = {
  nodes: [],
  nodeClaims: [],
  nodePools: [],
  usage: new Map(),
  pods: [],
  podTimes: new Map(),
};
