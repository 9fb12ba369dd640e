import packageJson from '../../package.json' with { type: 'json' };
import type { Line } from '../doctor/line.ts';
import { type DocumentFormat, documentText } from '../output.ts';
import type { StepOutcome } from './run.ts';
import type { HandoverReport } from './session.ts';

function checkText(checks: readonly Line[]): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const indent = ' '.repeat('WARN  '.length + width + 2);
  return checks
    .map(({ status, check, message, advice }) => {
      const line = `${status.padEnd(4)}  ${check.padEnd(width)}  ${message}\n`;
      return advice === '' ? line : `${line}${indent}→ ${advice}\n`;
    })
    .join('');
}

function stepText(steps: readonly StepOutcome[]): string {
  const width = Math.max(...steps.map(({ step }) => step.length));
  const indent = ' '.repeat('stopped  '.length + width + 2);
  return steps
    .map(({ step, state, what, message, advice, commands }) => {
      const said = message === '' ? what : message;
      const byHand = state === 'to do' ? commands.map((each) => `${indent}$ ${each}\n`) : [];
      const help = advice === '' ? '' : `${indent}→ ${advice}\n`;
      return `${state.padEnd(7)}  ${step.padEnd(width)}  ${said}\n${help}${byHand.join('')}`;
    })
    .join('');
}

/** For people. */
export function renderReport({ cluster, checks, steps, next }: HandoverReport): string {
  return [
    `${cluster}\n`,
    ...(checks.length === 0 ? [] : [checkText(checks)]),
    ...(steps.length === 0 ? [] : [stepText(steps)]),
    ...(next.length === 0 ? [] : [`${next.join('\n')}\n`]),
  ].join('\n');
}

/** For programs. */
export function reportDocument(
  { cluster, to, isDryRun, ...rest }: HandoverReport,
  format: DocumentFormat,
): string {
  const about = { joiner: packageJson.version, cluster, to, dryRun: isDryRun };
  return documentText({ ...about, ...rest }, format);
}
