import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { podKey } from '../../shared/core/model/pod.ts';
import { addResources, CPU, MEMORY, type Resources } from '../../shared/core/model/resources.ts';
import { parseResources } from '../../shared/core/quantity.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault, KubeError } from '../../shared/kube/errors.ts';
import { BadInput, unreadable } from '../bad-input.ts';

/** What pods used when they were metered. */
export interface Usage {
  /** CPU and memory by `namespace/name`. */
  readonly pods: ReadonlyMap<string, Resources>;
  /** ISO 8601 time of the newest sample; empty where there is none. */
  readonly at: string;
  /** How long a sample is, as metrics.k8s.io says it; may be empty. */
  readonly window: string;
}

/** https://github.com/kubernetes/metrics, the kind PodMetrics. */
const listSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ namespace: z.string(), name: z.string() }),
      timestamp: z.string().optional(),
      window: z.string().optional(),
      containers: z
        .array(z.looseObject({ usage: z.record(z.string(), z.union([z.string(), z.number()])) }))
        .nullish(),
    }),
  ),
});

/** Undefined: it is no list of PodMetrics. */
export function usageIn(value: unknown): Usage | undefined {
  const read = listSchema.safeParse(value);
  if (!read.success) return undefined;
  const pods = new Map<string, Resources>();
  for (const { metadata, containers } of read.data.items) {
    const used = (containers ?? []).map(({ usage }) => parseResources(usage).resources);
    const { [CPU]: cpu = 0, [MEMORY]: memory = 0 } = used.reduce<Resources>(addResources, {});
    pods.set(podKey(metadata), { cpu, memory });
  }
  const [newest] = read.data.items.toSorted((a, b) =>
    (a.timestamp ?? '') > (b.timestamp ?? '') ? -1 : 1,
  );
  return { pods, at: newest?.timestamp ?? '', window: newest?.window ?? '' };
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

/** What the cluster meters; a note where it does not, or does not say. */
export async function meteredUsage(
  client: Pick<KubeClient, 'json'>,
): Promise<Usage | { readonly note: string }> {
  try {
    const value = await client.json({
      asked: { verb: 'list', resource: 'pods.metrics.k8s.io' },
      method: 'GET',
      path: '/apis/metrics.k8s.io/v1beta1/pods',
      attemptsMax: 1,
    });
    return usageIn(value) ?? { note: 'metrics.k8s.io gives no list of PodMetrics' };
  } catch (error) {
    if (isKubeFault(error, 'notFound')) {
      return { note: 'requests are not compared with usage: metrics.k8s.io is not served' };
    }
    if (!(error instanceof KubeError)) throw error;
    return { note: `requests are not compared with usage: ${error.message}` };
  }
}
