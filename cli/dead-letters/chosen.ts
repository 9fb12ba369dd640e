import { PortError } from '../../shared/ports.ts';
import type { DeadLetter, DeadLetterQueue } from './queue.ts';

/** What is done with messages. */
export type Deed = 'redrive' | 'discard';

/** What became of one message. */
export interface Outcome {
  readonly id: string;
  /** `sent`: `interrupt` gets it again, and yet it could not be deleted here. */
  readonly result: 'redriven' | 'discarded' | 'dry-run' | 'sent' | 'kept';
  /** Why it is still here. */
  readonly why: string | undefined;
}

/**
 * A copy is sent before the message is deleted: where anything fails in between there are two of
 * it, and `interrupt` does the same about both.
 */
async function redriveOne(queue: DeadLetterQueue, letter: DeadLetter): Promise<Outcome> {
  const { id } = letter;
  try {
    await queue.sendBack(letter);
  } catch (error) {
    return { id, result: 'kept', why: reasonOf(error) };
  }
  const why = await whyStillHere(queue, letter);
  return { id, result: why === undefined ? 'redriven' : 'sent', why };
}

async function discardOne(queue: DeadLetterQueue, letter: DeadLetter): Promise<Outcome> {
  const why = await whyStillHere(queue, letter);
  return { id: letter.id, result: why === undefined ? 'discarded' : 'kept', why };
}

async function whyStillHere(
  queue: DeadLetterQueue,
  letter: DeadLetter,
): Promise<string | undefined> {
  try {
    return (await queue.delete([letter])).get(letter.id);
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof PortError)) throw error;
  return `${error.code}: ${error.message}`;
}

/** Redrives or discards these messages, one after the other: each by itself. */
export async function handleChosen(
  queue: DeadLetterQueue,
  deed: Deed,
  letters: readonly DeadLetter[],
): Promise<readonly Outcome[]> {
  const work = deed === 'redrive' ? redriveOne : discardOne;
  const outcomes: Outcome[] = [];
  for (const letter of letters) outcomes.push(await work(queue, letter));
  return outcomes;
}
