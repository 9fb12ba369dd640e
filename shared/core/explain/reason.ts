import type { REASONS } from './definitions.ts';
import type { ValuesOf } from './parameters.ts';
import { CONSOLIDATION_SENTENCES } from './reasons/consolidation.ts';
import { BLOCKED_SENTENCES, DISRUPTION_SENTENCES } from './reasons/disruption.ts';
import { DRIFT_SENTENCES } from './reasons/drift.ts';
import { FALLBACK_SENTENCES } from './reasons/fallback.ts';
import { INTERRUPTION_SENTENCES } from './reasons/interruption.ts';
import { LAUNCH_SENTENCES } from './reasons/launch.ts';
import { LIFECYCLE_SENTENCES } from './reasons/lifecycle.ts';
import { OTHERS_PODS_SENTENCES, PODS_SENTENCES } from './reasons/pods.ts';
import { PROVISIONING_SENTENCES } from './reasons/provisioning.ts';
import { STAGES_SENTENCES } from './reasons/stages.ts';

/** Why something was decided, or was not: a closed list. */
export type ReasonCode = keyof typeof REASONS;

type ValuesByCode = {
  readonly [Code in ReasonCode]: ValuesOf<(typeof REASONS)[Code]['parameters']>;
};

/** A reason of one code, with what it says of the case. Plain JSON. */
export interface ReasonOf<Code extends ReasonCode> {
  readonly code: Code;
  readonly parameters: ValuesByCode[Code];
}

/** A reason of any code. */
export type Reason = { readonly [Code in ReasonCode]: ReasonOf<Code> }[ReasonCode];

const SENTENCES: { readonly [Code in ReasonCode]: (values: ValuesByCode[Code]) => string } = {
  ...PODS_SENTENCES,
  ...STAGES_SENTENCES,
  ...OTHERS_PODS_SENTENCES,
  ...PROVISIONING_SENTENCES,
  ...LAUNCH_SENTENCES,
  ...LIFECYCLE_SENTENCES,
  ...DRIFT_SENTENCES,
  ...DISRUPTION_SENTENCES,
  ...BLOCKED_SENTENCES,
  ...FALLBACK_SENTENCES,
  ...CONSOLIDATION_SENTENCES,
  ...INTERRUPTION_SENTENCES,
};

/** The reason of the code: a code that is not listed, or a parameter too few, does not compile. */
export function reason<Code extends ReasonCode>(
  code: Code,
  parameters: ValuesByCode[Code],
): ReasonOf<Code> {
  return { code, parameters };
}

/** Whether a result is the reason why there is none. */
export function isReason(result: object): result is Reason {
  return 'code' in result && 'parameters' in result;
}

/** The reason in words: the only place where they are made. */
export function sentence<Code extends ReasonCode>({ code, parameters }: ReasonOf<Code>): string {
  return SENTENCES[code](parameters);
}

/** Several reasons in words. */
export function sentences(all: readonly Reason[]): string {
  return all.map((each) => sentence(each)).join('; ');
}
