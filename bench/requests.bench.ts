/**
 * Calls of AWS and requests of the API server that the functions make in a minute, by the state of
 * the cluster: `npm run bench -- requests`. The real handlers, a real API server, AWS over the wire.
 * test/e2e/request-budgets.test.ts holds the budgets.
 */
import type { FunctionName } from '../shared/contract.ts';
import {
  addNodes,
  blockDrains,
  type Counted,
  type CountedWorld,
  countedWorld,
  foreignStorm,
  launchInVain,
  steadyMinute,
} from './request-states.ts';

const TICK: readonly FunctionName[] = ['provision', 'lifecycle', 'disrupt'];
const ONE_RUN_MS = 20_300;
const STORM = 50_000;

export async function run(): Promise<void> {
  console.log('state                      function     AWS a minute   API requests a minute');
  await inWorld(async (counted) => {
    await addNodes(counted, 0, 10);
    await idle(counted);
    await foreignStorm(counted, 10, 60_000);
    counted.take();
    await foreignStorm(counted, STORM, 60_000);
    show(`foreign storm, ${STORM}`, 'interrupt', counted.take());
  });
  await inWorld(async (counted) => {
    await launchInVain(counted, 0, 10);
    const first = counted.run('lifecycle', {}, 60_000 + 20_000);
    await first;
    show('joining, 10 nodes', 'lifecycle', counted.take());
    show('never joins, 10 nodes', 'lifecycle', await steadyMinute(counted));
  });
  for (const nodes of [1, 50]) {
    await inWorld(async (counted) => {
      await blockDrains(counted, 0, nodes);
      show(`blocked drain, ${nodes}`, 'lifecycle', await steadyMinute(counted));
    });
  }
}

async function inWorld(measure: (counted: CountedWorld) => Promise<void>): Promise<void> {
  const counted = await countedWorld();
  try {
    await measure(counted);
  } finally {
    await counted.stop();
  }
}

/** Each has a run a minute, of which the second one knows what the first has read. */
async function idle(counted: CountedWorld): Promise<void> {
  for (const name of TICK) {
    await counted.run(name, {}, ONE_RUN_MS);
    counted.take();
    await counted.run(name, {}, ONE_RUN_MS);
    show('idle, 10 nodes', name, counted.take());
  }
  // The lists of a new one, which stays for minutes, are not those of each minute.
  const watching = counted.run('watch', {}, 60_000);
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  counted.take();
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  const { aws, api, detail } = counted.take();
  show('idle, 10 nodes', 'watch', { aws: aws * 3, api: api * 3, detail });
  await watching;
}

function show(state: string, name: string, { aws, api, detail }: Counted): void {
  const cells = [aws, api].map((each) => String(each).padStart(12)).join('   ');
  console.log(`${state.padEnd(26)} ${name.padEnd(10)} ${cells}`);
  const parts = Object.entries(detail).map(([what, times]) => `${what} ${times}`);
  console.log(`    ${parts.join(', ')}`);
}
