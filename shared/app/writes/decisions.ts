import { type Reason, type ReasonCode, sentence, sentences } from '../../core/explain/reason.ts';
import { invariant } from '../../core/invariant.ts';
import type { DecisionRecord, Ports } from '../../ports.ts';

/** What is recorded goes through these only. */
export interface Recording {
  readonly ports: Pick<Ports, 'clock' | 'recorder'>;
}

/** Records a decision; what it says is made from its reasons. Made now, unless it says when. */
export function recordDecision(
  { ports }: Recording,
  decision: Omit<DecisionRecord, 'atMs' | 'message'> & Partial<Pick<DecisionRecord, 'atMs'>>,
): Promise<void> {
  const { atMs = ports.clock.nowMs(), reasons } = decision;
  return ports.recorder.decision({ ...decision, atMs, message: sentences(reasons) });
}

/** That something due was not done, once for each reason and object in a while. */
export async function recordNothing(
  recording: Recording,
  why: Reason,
  object: string,
  useCase: DecisionRecord['useCase'] = 'provision',
): Promise<void> {
  await recordDecision(recording, {
    id: `${useCase}-none-${why.code}-${object.replaceAll('/', '-')}`,
    useCase,
    object,
    action: 'none',
    reasons: [why],
    detail: { reason: why.code },
  });
}

/** What an event says, and the code by which programs know it. */
interface Said {
  readonly message: string;
  readonly code: ReasonCode;
}

/** What an event says for the reason. */
export function saying(why: Reason): Said {
  return { message: sentence(why), code: why.code };
}

/** What an event says for all of the reasons, of which there is one at least. */
export function sayingAll(reasons: readonly Reason[]): Said {
  const [first] = reasons;
  invariant(first !== undefined, 'an event has a reason');
  return { message: sentences(reasons), code: first.code };
}
