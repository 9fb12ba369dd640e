import type { SwarmOptions, SwarmReport } from './swarm.ts';
import { swarm } from './swarm.ts';

export type Choices = Required<Pick<SwarmOptions, 'minutes' | 'faults' | 'actions'>>;

/** Minutes are tried down to this. */
const MINUTES_LEAST = 5;

export function choicesOf(report: SwarmReport, minutes: number): Choices {
  return { minutes, faults: report.faults, actions: report.actions };
}

/**
 * The least of a failing run that fails still: without each fault, each action and half of the
 * minutes that it does not need. `onTry` hears of each run.
 */
export async function shrunk(
  seed: number,
  failing: Choices,
  onTry: (choices: Choices) => void = () => undefined,
): Promise<Choices> {
  let least = failing;
  const fails = async (choices: Choices): Promise<boolean> => {
    onTry(choices);
    return (await swarm(seed, choices)).problems.length > 0;
  };
  for (;;) {
    const smaller = await firstThat(fails, smallerThan(least));
    if (smaller === undefined) return least;
    least = smaller;
  }
}

function smallerThan({ minutes, faults, actions }: Choices): readonly Choices[] {
  const half = Math.floor(minutes / 2);
  return [
    ...faults.map((out) => ({ minutes, faults: faults.filter((each) => each !== out), actions })),
    ...actions.map((out) => ({ minutes, faults, actions: actions.filter((each) => each !== out) })),
    ...(half < MINUTES_LEAST ? [] : [{ minutes: half, faults, actions }]),
  ];
}

async function firstThat<Item>(
  holds: (item: Item) => Promise<boolean>,
  items: readonly Item[],
): Promise<Item | undefined> {
  for (const item of items) if (await holds(item)) return item;
  return undefined;
}
