import { positionOf, type Step, Stopped, type Walk } from './walk.ts';

/** What became of a step. */
export interface StepOutcome {
  readonly step: string;
  readonly what: string;
  /** `to do`: in a dry run, or behind a step that stopped. */
  readonly state: 'done' | 'to do' | 'stopped';
  /** What came of it, or what is in the way. */
  readonly message: string;
  /** What to do where it stopped. */
  readonly advice: string;
  /** What does the same by hand. */
  readonly commands: readonly string[];
}

/** Which of the steps are done, without doing any. */
export async function plannedSteps(
  walk: Walk,
  steps: readonly Step[],
): Promise<readonly StepOutcome[]> {
  const position = await positionOf(walk);
  return steps.map((step) => ({
    step: step.name,
    what: step.what,
    state: step.isDone(position) ? 'done' : 'to do',
    message: '',
    advice: '',
    commands: step.commands(position),
  }));
}

async function takeStep(walk: Walk, step: Step): Promise<StepOutcome> {
  const { name, what } = step;
  const position = await positionOf(walk);
  const about = { step: name, what, advice: '', commands: step.commands(position) };
  if (step.isDone(position)) return { ...about, state: 'done', message: 'nothing to do' };
  walk.say(`${name}: ${what}`);
  try {
    return { ...about, state: 'done', message: await step.take(walk) };
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return { ...about, state: 'stopped', message: error.message, advice: error.advice };
  }
}

/**
 * Takes the steps in their order, up to the named one. What is done already is passed over, so that
 * a run that was killed is continued by the next.
 */
export async function takeSteps(
  walk: Walk,
  steps: readonly Step[],
  last: string | undefined,
): Promise<readonly StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  const end = last === undefined ? steps.length : steps.findIndex(({ name }) => name === last) + 1;
  for (const step of steps.slice(0, end)) {
    const outcome = await takeStep(walk, step);
    outcomes.push(outcome);
    if (outcome.state === 'stopped') break;
  }
  const rest = await plannedSteps(walk, steps.slice(outcomes.length));
  return [...outcomes, ...rest.map((each) => ({ ...each, state: 'to do' as const }))];
}
