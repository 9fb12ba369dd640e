import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { decodePauses, PAUSE_SCOPES } from '../../shared/api/pauses.ts';
import { parseDurationOrDaysMs } from '../../shared/core/duration.ts';
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
import { writeOut } from '../terminal.ts';

interface Options extends ClusterOptions {
  /** Milliseconds; undefined: without an end. */
  readonly for?: number;
  readonly output: OutputFormat<'text'>;
}

type Scope = PauseScope | 'all';

/** What the ConfigMap's data becomes. */
type Change = (nowMs: number) => PauseData;

function scopesOf(scope: Scope): readonly PauseScope[] {
  return scope === 'all' ? PAUSE_SCOPES : [scope];
}

async function change(name: string, options: Options, data: Change): Promise<number> {
  const { client } = await connect(name, options);
  try {
    // The functions' clocks are AWS's; the API server's is nearer to them than this machine's.
    const { nowMs } = await serverFacts(client);
    const paused = decodePauses(await writePauses(client, data(nowMs)));
    writeOut(
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
  const one = (scope: PauseScope) => {
    const untilMs = paused[scope] ?? 0;
    const isOn = untilMs > nowMs;
    const hasEnd = isOn && Number.isFinite(untilMs);
    return { paused: isOn, until: hasEnd ? new Date(untilMs).toISOString() : null };
  };
  return { launch: one('launch'), disrupt: one('disrupt'), terminate: one('terminate') };
}

function asText(paused: Partial<Record<PauseScope, number>>, nowMs: number): string {
  const state = stateOf(paused, nowMs);
  return PAUSE_SCOPES.map((scope) => {
    const { paused: isOn, until } = state[scope];
    return `${scope}: ${isOn ? `paused${until === null ? '' : ` until ${until}`}` : 'runs'}\n`;
  }).join('');
}

function asDocument(
  paused: Partial<Record<PauseScope, number>>,
  nowMs: number,
  format: DocumentFormat,
): string {
  const value = { joiner: packageJson.version, pauses: stateOf(paused, nowMs) };
  return documentText(value, format);
}

/** As many days as `--for` takes; who wants more leaves it out. */
const PAUSE_MS_MAX = 9999 * 86_400_000;

function duration(text: string): number {
  const ms = parseDurationOrDaysMs(text);
  if (ms === undefined || ms === 0 || ms > PAUSE_MS_MAX) {
    throw new InvalidArgumentError('expected a time such as 30m, 1h30m or 2d, up to 9999d.');
  }
  return ms;
}

const SCOPES = ['all', ...PAUSE_SCOPES];

function commandOf(name: string, description: string, scope: Argument, help: string): Command {
  return withClusterOptions(new Command(name))
    .description(description)
    .addArgument(scope.choices(SCOPES))
    .addOption(outputOption('text'))
    .addHelpText('after', help);
}

/** `joiner pause`: Joiner stays deployed and pauses what the scope names; `all` has no default. */
export function pauseCommand(): Command {
  const scope = new Argument('<scope>', 'what to pause');
  return commandOf('pause', 'pause launches, disruptions or terminations', scope, PAUSE_HELP)
    .addOption(
      new Option(
        '--for <time>',
        'end the pause after this time, such as 1h; default: no end',
      ).argParser(duration),
    )
    .action((scope: Scope, options: Options) =>
      reporting(() =>
        change('joiner-pause', options, (nowMs) => {
          const untilMs = options.for === undefined ? undefined : nowMs + options.for;
          return pauseData(scopesOf(scope), untilMs);
        }),
      ),
    );
}

/** `joiner resume`: ends pauses. */
export function resumeCommand(): Command {
  const argument = new Argument('[scope]', 'what to resume').default('all');
  return commandOf('resume', 'end a pause', argument, RESUME_HELP).action(
    (scope: Scope, options: Options) =>
      reporting(() => change('joiner-resume', options, () => resumeData(scopesOf(scope)))),
  );
}

const RESUME_HELP = `
launch     launches continue; pending pods get nodes
disrupt    drift, emptiness and consolidation continue
terminate  terminations of drained nodes' instances continue

The functions resume in their next pass, within one minute.`;

const PAUSE_HELP = `
launch     no node is planned or launched; empty, underutilized and expired nodes stay
disrupt    no node is disrupted; the condition Drifted is still set
terminate  nodes are drained; their instances are not terminated

A pause does not stop decisions that you approve with joiner apply during the pause.
The pauses are in the ConfigMap kube-system/joiner. The functions read it in each pass.`;
