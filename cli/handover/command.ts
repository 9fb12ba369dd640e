import { BadInput } from '../bad-input.ts';
import { type LiveCluster, withLiveCluster } from '../live.ts';
import { isDocument } from '../output.ts';
import { writeOut } from '../terminal.ts';
import { renderReport, reportDocument } from './render.ts';
import type { HandoverOptions, HandoverReport, Ways } from './session.ts';

/** Options that say nothing together. */
function checkUsage(options: HandoverOptions, { steps, stepsBack }: Ways): void {
  const { until, undo } = options;
  const names = (undo === true ? stepsBack : steps).map(({ name }) => name);
  if (until !== undefined && !names.includes(until)) {
    const way = undo === true ? ' of --undo' : '';
    throw new BadInput([`--until ${until}: no step${way}; valid: ${names.join(', ')}`]);
  }
  if (options.dryRun === true && options.until !== undefined) {
    throw new BadInput(['--until carries out steps, --dry-run carries out none: give one of them']);
  }
}

/** 0: all is done, or a dry run found nothing in the way; 1: something is. */
function exitCodeOf({ checks, steps }: HandoverReport): number {
  const isRefused = checks.some(({ status }) => status === 'FAIL');
  return isRefused || steps.some(({ state }) => state === 'stopped') ? 1 : 0;
}

/** Runs a hand-over on the kubeconfig's cluster and prints its report; the exit code. */
export async function handedOver(
  name: string,
  options: HandoverOptions,
  ways: Ways,
  work: (live: LiveCluster) => Promise<HandoverReport>,
): Promise<number> {
  checkUsage(options, ways);
  const report = await withLiveCluster(name, options, work);
  const { output } = options;
  writeOut(isDocument(output) ? reportDocument(report, output) : renderReport(report));
  return exitCodeOf(report);
}
