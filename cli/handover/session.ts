import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationOrDaysMs } from '../../shared/core/duration.ts';
import { clusterWriter } from '../../shared/kube/cluster-writer.ts';
import { eventSink } from '../../shared/kube/events.ts';
import { type ClusterOptions, withClusterOptions } from '../connect.ts';
import { type Line, ok } from '../doctor/line.ts';
import type { LiveCluster } from '../live.ts';
import { type OutputFormat, outputOption } from '../output.ts';
import { writeErr } from '../terminal.ts';
import type { Side } from './record.ts';
import { plannedSteps, type StepOutcome, takeSteps } from './run.ts';
import type { Position, Step, Walk } from './walk.ts';

/** Options of both commands. */
export interface HandoverOptions extends ClusterOptions {
  readonly dryRun?: true;
  readonly undo?: true;
  readonly until?: string;
  readonly byHand?: true;
  readonly acceptDrift?: true;
  readonly settle: boolean;
  readonly karpenter?: string;
  readonly wait: number;
  readonly replicas?: number;
  readonly output: OutputFormat<'text'>;
}

function duration(text: string): number {
  const ms = text === '0s' ? 0 : parseDurationOrDaysMs(text);
  if (ms === undefined) throw new InvalidArgumentError('expected a time such as 10m, 1h30m or 1d.');
  return ms;
}

function deployment(text: string): string {
  if (/^[a-z0-9-]+\/[a-z0-9.-]+$/.test(text)) return text;
  throw new InvalidArgumentError('expected NAMESPACE/NAME of a Deployment.');
}

function count(text: string): number {
  if (/^[1-9][0-9]?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a number of replicas such as 2.');
}

/** Ten minutes: an image is pulled and a drain ends in less. */
const WAIT_MS = 10 * 60_000;

/** The steps of a command, and those by which `--undo` goes back. */
export interface Ways {
  readonly steps: readonly Step[];
  readonly stepsBack: readonly Step[];
}

/** The command with the options that adopting and handing back have in common. */
export function withHandoverOptions(command: Command, ways: Ways): Command {
  const { steps, stepsBack } = ways;
  const names = new Set([...steps, ...stepsBack].map(({ name }) => name));
  return withClusterOptions(command)
    .option('--dry-run', 'only check, and print the steps')
    .option('--undo', 'undo the steps that were taken')
    .addOption(new Option('--until <step>', 'stop after this step').choices([...names]))
    .option('--by-hand', "do not scale Karpenter's Deployment; wait until you have scaled it")
    .option('--accept-drift', 'continue although nodes have become drifted')
    .option('--no-settle', "do not wait until Karpenter's launches and disruptions are complete")
    .addOption(
      new Option(
        '--karpenter <namespace/name>',
        "Karpenter's Deployment; default: the one with its image",
      ).argParser(deployment),
    )
    .addOption(
      new Option('--wait <time>', 'how long a step waits')
        .argParser(duration)
        .default(WAIT_MS, '10m'),
    )
    .addOption(
      new Option(
        '--replicas <n>',
        'replicas to start Karpenter with (hand-back, adopt --undo); default: as many as it had',
      ).argParser(count),
    )
    .addOption(outputOption('text'))
    .addHelpText('after', stepsText(steps, 'Steps'))
    .addHelpText('after', stepsText(stepsBack, 'Steps of --undo'));
}

/** The steps with what each does: the choices of `--until`. */
function stepsText(steps: readonly Step[], title: string): string {
  const width = Math.max(...steps.map(({ name }) => name.length));
  return `\n${title}:\n${steps.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join('\n')}`;
}

/** What a hand-over is carried out with, on the cluster that was read. */
export function walkOf(live: LiveCluster, options: HandoverOptions): Walk {
  const { client, reader } = live;
  const writer = clusterWriter({
    client,
    events: eventSink(client),
    decodeNodeClaim: () => {
      throw new Error('nothing is created here');
    },
  });
  return {
    client,
    reader,
    writer,
    karpenter: options.karpenter,
    isByHand: options.byHand === true,
    acceptsDrift: options.acceptDrift === true,
    settles: options.settle,
    waitMs: options.wait,
    replicas: options.replicas,
    say: (line) => writeErr(`${line}\n`),
    lease: undefined,
  };
}

/** What a command has found and done. */
export interface HandoverReport {
  readonly cluster: string;
  readonly to: 'joiner' | 'karpenter';
  readonly isDryRun: boolean;
  readonly checks: readonly Line[];
  readonly steps: readonly StepOutcome[];
  /** What is left for people to do, once all steps are done. */
  readonly next: readonly string[];
}

/** Why there is nothing that `--undo` takes back from this side; undefined: there is something. */
export function whyNothingToUndo({ record }: Position, from: Side): string | undefined {
  if (record === undefined) return 'nothing to undo: no hand-over has begun in this cluster';
  if (record.to === from || record.state === 'under-way') return undefined;
  return `nothing to undo: the last hand-over gave the cluster to ${NAMES[record.to]}, and is done`;
}

const NAMES = { joiner: 'Joiner', karpenter: 'Karpenter' } as const;

/** Takes the steps back, where there is something to undo; `from` is the side that loses the cluster. */
export async function undone(
  walk: Walk,
  position: Position,
  from: Side,
  { stepsBack }: Ways,
  options: HandoverOptions,
): Promise<Pick<HandoverReport, 'checks' | 'steps' | 'next'>> {
  const idle = whyNothingToUndo(position, from);
  if (idle !== undefined) return { checks: [ok('undo', idle)], steps: [], next: [] };
  return { checks: [], steps: await stepsTaken(walk, stepsBack, [], options), next: [] };
}

/** Takes or only lists the steps; none is taken where a check has failed. */
export async function stepsTaken(
  walk: Walk,
  steps: readonly Step[],
  checks: readonly Line[],
  { dryRun, until }: HandoverOptions,
): Promise<readonly StepOutcome[]> {
  const isRefused = checks.some(({ status }) => status === 'FAIL');
  if (dryRun === true || isRefused) return await plannedSteps(walk, steps);
  try {
    return await takeSteps(walk, steps, until);
  } finally {
    // An ended command renews no Lease; nobody waits for it to lapse.
    await walk.lease?.leaveToJoiner();
  }
}
