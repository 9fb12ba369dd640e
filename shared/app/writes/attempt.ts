import { PortError } from '../../ports.ts';

/** What the cluster or the cloud refused, or what an object lacks; a line of the log. */
export interface Failure {
  /** e.g. `NodePool/default`. */
  readonly object: string;
  readonly message: string;
}

/** Carries out a step for one object; where it is refused, the steps for others go on. */
export async function attempt(
  object: string,
  step: () => Promise<void>,
): Promise<readonly Failure[]> {
  try {
    await step();
    return [];
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return [{ object, message: `${error.code}: ${error.message}` }];
  }
}
