import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { parseDurationMs } from '../../shared/core/duration.ts';
import { BRAKES, decodeBrakes } from '../../shared/kube/brakes.ts';
import type { PauseScope } from '../../shared/ports/cluster.ts';
import { reporting } from '../bad-input.ts';
import { type ClusterOptions, connect, serverFacts, withClusterOptions } from '../connect.ts';
import {
  type DocumentFormat,
  documentText,
  isDocument,
  type OutputFormat,
  outputOption,
} from '../output.ts';
import { type PauseData, pauseData, resumeData, writePauses } from '../pauses.ts';

interface Options extends ClusterOptions {
  /** Milliseconds; undefined: without an end. */
  readonly for?: number;
  readonly output: OutputFormat<'text'>;
}

type Part = PauseScope | 'all';

/** What the ConfigMap's data becomes. */
type Change = (nowMs: number) => PauseData;

function brakesOf(part: Part): readonly PauseScope[] {
  return part === 'all' ? BRAKES : [part];
}

async function change(name: string, options: Options, data: Change): Promise<number> {
  const { client } = await connect(name, options);
  try {
    // The functions' clocks are AWS's; the API server's is nearer to them than this machine's.
    const { nowMs } = await serverFacts(client);
    const paused = decodeBrakes(await writePauses(client, data(nowMs)));
    process.stdout.write(
      isDocument(options.output)
        ? asDocument(paused, nowMs, options.output)
        : asText(paused, nowMs),
    );
    return 0;
  } finally {
    await client.close();
  }
}

/** Until when; null: without an end. */
type State = Readonly<
  Record<PauseScope, { readonly paused: boolean; readonly until: string | null }>
>;

function stateOf(paused: Partial<Record<PauseScope, number>>, nowMs: number): State {
  const one = (brake: PauseScope) => {
    const untilMs = paused[brake] ?? 0;
    const isOn = untilMs > nowMs;
    const hasEnd = isOn && Number.isFinite(untilMs);
    return { paused: isOn, until: hasEnd ? new Date(untilMs).toISOString() : null };
  };
  return { launch: one('launch'), disrupt: one('disrupt'), terminate: one('terminate') };
}

function asText(paused: Partial<Record<PauseScope, number>>, nowMs: number): string {
  const state = stateOf(paused, nowMs);
  return BRAKES.map((brake) => {
    const { paused: isOn, until } = state[brake];
    return `${brake}: ${isOn ? `paused${until === null ? '' : ` until ${until}`}` : 'runs'}\n`;
  }).join('');
}

function asDocument(
  paused: Partial<Record<PauseScope, number>>,
  nowMs: number,
  format: DocumentFormat,
): string {
  const value = { joiner: packageJson.version, brakes: stateOf(paused, nowMs) };
  return documentText(value, format);
}

function duration(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined || ms === 0) {
    throw new InvalidArgumentError('expected a time such as 30m or 1h30m');
  }
  return ms;
}

const PARTS = ['all', ...BRAKES];

function commandOf(name: string, description: string, part: Argument): Command {
  return withClusterOptions(new Command(name))
    .description(description)
    .addArgument(part.choices(PARTS))
    .addOption(outputOption('text'))
    .addHelpText('after', HELP);
}

/** `joiner pause`: Joiner stays, and does nothing or less. That all of it stops has to be said. */
export function pauseCommand(): Command {
  const part = new Argument('<part>', 'what to pause');
  return commandOf('pause', 'pause launches, disruptions or terminations', part)
    .addOption(
      new Option(
        '--for <time>',
        'end the pause after this time, such as 1h; default: no end',
      ).argParser(duration),
    )
    .action((part: Part, options: Options) =>
      reporting(() =>
        change('joiner-pause', options, (nowMs) => {
          const untilMs = options.for === undefined ? undefined : nowMs + options.for;
          return pauseData(brakesOf(part), untilMs);
        }),
      ),
    );
}

/** `joiner resume`: takes back what `pause` did. */
export function resumeCommand(): Command {
  const what = new Argument('[part]', 'what to resume').default('all');
  return commandOf('resume', 'end a pause', what).action((part: Part, options: Options) =>
    reporting(() => change('joiner-resume', options, () => resumeData(brakesOf(part)))),
  );
}

const HELP = `
launch     no node is planned or launched; pods stay pending
disrupt    no node is disrupted; the condition Drifted is still set
terminate  nodes are drained; their instances are not terminated

A pause does not stop decisions that you approve with joiner apply during the pause.
The ConfigMap kube-system/joiner holds the pauses. The functions read it in each pass.`;
