import type { Tally } from '../../core/explain/parameters.ts';
import { type Reason, reason, sentence } from '../../core/explain/reason.ts';
import { sha256 } from '../../core/launch/sha256.ts';
import type { UseCase } from '../../ports.ts';
import { type Recording, recordDecision } from './decisions.ts';

/** Why an object stays as it is. */
export interface StaysBecause {
  /** `Kind/name`. */
  readonly object: string;
  readonly why: Reason;
}

/** Reasons that a record names; a cluster of any size has few more. */
const NAMED_MAX = 10;
const TEXT_LENGTH_MAX = 200;
const HASH_LENGTH = 12;

function shortened(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX - 1)}…`;
}

/** By code, the most frequent first; the first object by name is the example. */
function talliesOf(all: readonly StaysBecause[]): readonly Tally[] {
  const inOrder = all.toSorted((a, b) => (a.object < b.object ? -1 : 1));
  return [...Map.groupBy(inOrder, ({ why }) => why.code)]
    .flatMap(([code, [first, ...others]]) => {
      if (first === undefined) return [];
      const text = shortened(sentence(first.why));
      return [{ code, count: 1 + others.length, example: first.object, text }];
    })
    .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
    .slice(0, NAMED_MAX);
}

/**
 * Says in one record why a pass changed nothing. Its id is made of the codes, so that it is known
 * for a repeat as long as the same reasons hold, of whatever objects.
 */
export async function recordUnchanged(
  recording: Recording,
  useCase: UseCase,
  all: readonly StaysBecause[],
): Promise<void> {
  const reasons = talliesOf(all);
  const codes = reasons.map(({ code }) => code).sort();
  await recordDecision(recording, {
    id: `${useCase}-unchanged-${sha256(codes.join(' ')).slice(0, HASH_LENGTH)}`,
    useCase,
    object: 'cluster',
    action: 'unchanged',
    reasons: [reason('unchanged', { reasons })],
    detail: { reason: codes.join(' ') },
  });
}
