import type { DryRunOptions } from '../../shared/preview/dry-run.ts';
import type { Progress } from '../progress.ts';
import { counted } from '../words.ts';

type Tell = NonNullable<DryRunOptions['onPart']>;

const PARTS: Readonly<Record<Parameters<Tell>[0], (count: number) => string>> = {
  pods: (count) => `planning ${counted(count, 'pod')}`,
  nodes: (count) => `looking for disruptions of ${counted(count, 'node')}`,
};

/** Says as progress which part of a dry run begins, after words of its own. */
export function partsTo(progress: Progress, before = ''): Tell {
  return (part, count) => progress.begin(`${before}${PARTS[part](count)}`);
}
