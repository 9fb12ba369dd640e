import type { SwarmOptions, SwarmReport } from './swarm.ts';

export type Choices = Required<Pick<SwarmOptions, 'minutes' | 'faults' | 'actions'>>;

/** Minutes are tried down to this. */
const MINUTES_LEAST = 5;

export function choicesOf(report: SwarmReport, minutes: number): Choices {
  return { minutes, faults: report.faults, actions: report.actions };
}

/**
 * The least of a failing run that `fails` still: without each fault, each action and half of the
 * minutes that it does not need.
 */
export async function shrunk(
  failing: Choices,
  fails: (choices: Choices) => Promise<boolean>,
): Promise<Choices> {
  let least = failing;
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
