import { VOLUNTARY_REASONS, type VoluntaryReason } from '../../core/disruption/voluntary.ts';
import { consolidation } from './consolidation.ts';
import { drift } from './drift.ts';
import { emptiness } from './emptiness.ts';
import { fallback } from './fallback.ts';
import type { DisruptionMethod } from './method.ts';

/** By reason: one without a method does not compile. */
const METHOD_OF: Readonly<Record<VoluntaryReason, DisruptionMethod>> = {
  Empty: emptiness,
  Drifted: drift,
  Fallback: fallback,
  Underutilized: consolidation,
};

/** The methods in the order of {@link VOLUNTARY_REASONS}, in which a pass calls them. */
export const METHODS: readonly DisruptionMethod[] = VOLUNTARY_REASONS.map(
  (reason) => METHOD_OF[reason],
);
