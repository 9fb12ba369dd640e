import { REASONS } from '../../shared/core/explain/definitions.ts';
import { obstaclesIn } from '../../shared/core/explain/parameters.ts';
import type { Reason, ReasonCode } from '../../shared/core/explain/reason.ts';

/** What a person can do about a reason. */
export interface Remedy {
  readonly code: ReasonCode;
  readonly remedy: string;
}

/** Nobody has to do anything. */
const NOTHING = 'Nothing.';

function isCode(code: string): code is ReasonCode {
  return code in REASONS;
}

/** Where NodePools have no instance type for a pod, each stage that leaves none is a reason. */
function codesOf({ code, parameters }: Reason): readonly string[] {
  if (code !== 'pod-unplaced') return [code];
  const obstacles = parameters.nodePools.flatMap(({ stages }) => obstaclesIn(stages));
  return obstacles.length === 0 ? [code] : obstacles.map((each) => each.code);
}

/** What can be done about the reasons, each once, in their order. */
export function remediesOf(reasons: readonly Reason[]): readonly Remedy[] {
  const codes = new Set(reasons.flatMap(codesOf));
  return [...codes]
    .filter(isCode)
    .map((code) => ({ code, remedy: REASONS[code].remedy }))
    .filter(({ remedy }) => remedy !== NOTHING);
}
