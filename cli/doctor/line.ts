import type { Known } from './facts.ts';

export type Status = 'OK' | 'WARN' | 'FAIL';

/** One thing that was checked. */
export interface Line {
  /** Short and stable, e.g. `authentication`. */
  readonly check: string;
  readonly status: Status;
  readonly message: string;
  /** What to do; empty where all is well. */
  readonly advice: string;
}

export function ok(check: string, message: string): Line {
  return { check, status: 'OK', message, advice: '' };
}

export function warn(check: string, message: string, advice: string): Line {
  return { check, status: 'WARN', message, advice };
}

export function fail(check: string, message: string, advice: string): Line {
  return { check, status: 'FAIL', message, advice };
}

/** The judgement of a fact; one that nobody knows is a warning with its reason. */
export function judged<Value>(
  check: string,
  fact: Known<Value>,
  judge: (value: Value) => Line | readonly Line[],
): readonly Line[] {
  if (!fact.ok) return [warn(check, `not checked: ${fact.why}`, unknownAdvice(fact.why))];
  const lines = judge(fact.value);
  return 'check' in lines ? [lines] : lines;
}

function unknownAdvice(why: string): string {
  const isRefused = /denied|not authori[sz]ed|unauthori[sz]ed|forbidden/i.test(why);
  return isRefused ? 'ask somebody who may read it' : 'ask again once it answers';
}
