import type { Definitions } from './parameters.ts';
import { CONSOLIDATION } from './reasons/consolidation.ts';
import { BLOCKED, DISRUPTION } from './reasons/disruption.ts';
import { DRIFT } from './reasons/drift.ts';
import { FALLBACK } from './reasons/fallback.ts';
import { INTERRUPTION } from './reasons/interruption.ts';
import { LAUNCH } from './reasons/launch.ts';
import { LIFECYCLE } from './reasons/lifecycle.ts';
import { OTHERS_PODS, PODS } from './reasons/pods.ts';
import { PROVISIONING } from './reasons/provisioning.ts';
import { STAGES } from './reasons/stages.ts';

/**
 * Every reason by code: what it means, what a person can do, and its parameters. Documentation and
 * schemas read it. The functions need only the sentences, and their bundles do not contain this.
 */
export const REASONS = {
  ...PODS,
  ...STAGES,
  ...OTHERS_PODS,
  ...PROVISIONING,
  ...LAUNCH,
  ...LIFECYCLE,
  ...DRIFT,
  ...DISRUPTION,
  ...BLOCKED,
  ...FALLBACK,
  ...CONSOLIDATION,
  ...INTERRUPTION,
} as const satisfies Definitions;

/** The reasons by the part of the documentation that describes them, in its order. */
export const REASON_GROUPS: readonly {
  readonly title: string;
  /** How the sentences of the group are read, where they are no whole sentences. */
  readonly note?: string;
  readonly reasons: Definitions;
}[] = [
  { title: 'A pod gets no node', reasons: PODS },
  {
    title: 'A NodePool has no instance type for a pod',
    note: 'Each sentence is the name of a stage: it follows `12 types → 0 after`.',
    reasons: STAGES,
  },
  { title: 'A pod is not looked at', reasons: OTHERS_PODS },
  { title: 'Provisioning', reasons: PROVISIONING },
  { title: 'Launches', reasons: LAUNCH },
  { title: 'Lifecycle', reasons: LIFECYCLE },
  { title: 'Drift', reasons: DRIFT },
  { title: 'Disruption', reasons: DISRUPTION },
  { title: 'A node may not be disrupted', reasons: BLOCKED },
  { title: 'Return to the first choice', reasons: FALLBACK },
  { title: 'The pods of a node are not moved', reasons: CONSOLIDATION },
  { title: 'Interruption', reasons: INTERRUPTION },
];
