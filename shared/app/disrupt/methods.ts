import type { DisruptionReason } from '../../core/model/provisioning.ts';
import { consolidation } from './consolidation.ts';
import { drift } from './drift.ts';
import { emptiness } from './emptiness.ts';
import type { DisruptionMethod } from './method.ts';

/** By reason, in the order in which a pass asks them; `lifecycle` repairs unhealthy nodes. */
const METHOD_OF: Readonly<Record<DisruptionReason, DisruptionMethod | undefined>> = {
  Empty: emptiness,
  Drifted: drift,
  Underutilized: consolidation,
  Unhealthy: undefined,
};

/** The methods in the order in which a pass asks them. */
export const METHODS: readonly DisruptionMethod[] = Object.values(METHOD_OF).filter(
  (method) => method !== undefined,
);
