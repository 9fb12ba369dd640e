import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { type Usage, usageOfObjects } from '../../shared/kube/pod-metrics.ts';
import { BadInput, unreadable } from '../bad-input.ts';

const listSchema = z.looseObject({ items: z.array(z.unknown()) });

function usageIn(value: unknown): Usage | undefined {
  const list = listSchema.safeParse(value);
  return list.success ? usageOfObjects(list.data.items) : undefined;
}

/** The file of `kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods`. */
export function usageOfFile(file: string): Usage {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw unreadable(file, error);
    throw new BadInput([`${file}: ${error.message}`]);
  }
  const usage = usageIn(value);
  if (usage !== undefined) return usage;
  throw new BadInput([`${file}: not a list of PodMetrics of metrics.k8s.io/v1beta1`]);
}
