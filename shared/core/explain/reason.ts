import type { Definition, ValuesOf } from './parameters.ts';
import { CONSOLIDATION } from './reasons/consolidation.ts';
import { BLOCKED, DISRUPTION } from './reasons/disruption.ts';
import { DRIFT } from './reasons/drift.ts';
import { INTERRUPTION } from './reasons/interruption.ts';
import { LAUNCH } from './reasons/launch.ts';
import { LIFECYCLE } from './reasons/lifecycle.ts';
import { OTHERS_PODS, PODS } from './reasons/pods.ts';
import { PROVISIONING } from './reasons/provisioning.ts';
import { STAGES } from './reasons/stages.ts';

const ALL = {
  ...PODS,
  ...STAGES,
  ...OTHERS_PODS,
  ...PROVISIONING,
  ...LAUNCH,
  ...LIFECYCLE,
  ...DRIFT,
  ...DISRUPTION,
  ...BLOCKED,
  ...CONSOLIDATION,
  ...INTERRUPTION,
} as const;

/** Why something was decided, or was not: a closed list. */
export type ReasonCode = keyof typeof ALL;

type ValuesByCode = { readonly [Code in ReasonCode]: ValuesOf<(typeof ALL)[Code]['parameters']> };

/** A reason of one code, with what it says of the case. Plain JSON. */
export interface ReasonOf<Code extends ReasonCode> {
  readonly code: Code;
  readonly parameters: ValuesByCode[Code];
}

/** A reason of any code. */
export type Reason = { readonly [Code in ReasonCode]: ReasonOf<Code> }[ReasonCode];

interface Described<Values> extends Omit<Definition, 'sentence'> {
  readonly sentence: (values: Values) => string;
}

/** By code: what each reason means, what a person can do, its parameters and its sentence. */
export const REASONS: { readonly [Code in ReasonCode]: Described<ValuesByCode[Code]> } = ALL;

/** The reasons by the part of the documentation that describes them, in its order. */
export const REASON_GROUPS: readonly {
  readonly title: string;
  readonly codes: readonly string[];
}[] = [
  { title: 'A pod gets no node', codes: Object.keys(PODS) },
  { title: 'A NodePool has no instance type for a pod', codes: Object.keys(STAGES) },
  { title: 'A pod is not looked at', codes: Object.keys(OTHERS_PODS) },
  { title: 'Provisioning', codes: Object.keys(PROVISIONING) },
  { title: 'Launches', codes: Object.keys(LAUNCH) },
  { title: 'Lifecycle', codes: Object.keys(LIFECYCLE) },
  { title: 'Drift', codes: Object.keys(DRIFT) },
  { title: 'Disruption', codes: Object.keys(DISRUPTION) },
  { title: 'A node may not be disrupted', codes: Object.keys(BLOCKED) },
  { title: 'The pods of a node are not moved', codes: Object.keys(CONSOLIDATION) },
  { title: 'Interruption', codes: Object.keys(INTERRUPTION) },
];

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
  return REASONS[code].sentence(parameters);
}

/** Several reasons in words. */
export function sentences(all: readonly Reason[]): string {
  return all.map((each) => sentence(each)).join('; ');
}
