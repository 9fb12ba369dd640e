import * as z from 'zod';
import { RESOURCES } from '../api/resources.ts';
import { podKey } from '../core/model/pod.ts';
import { addResources, CPU, MEMORY, type Resources } from '../core/model/resources.ts';
import { parseResources } from '../core/quantity.ts';
import type { KubeClient } from './client.ts';
import { isKubeFault, KubeError } from './errors.ts';
import { listEach, type Selection } from './list.ts';

/** What pods used when they were metered last. */
export interface Usage {
  /** CPU and memory by `namespace/name`. A pod of which nothing has been metered is absent. */
  readonly pods: ReadonlyMap<string, Resources>;
  /** ISO 8601 time of the newest sample; empty where there is none. */
  readonly at: string;
  /** How long that sample is, as metrics.k8s.io says it; may be empty. */
  readonly window: string;
}

/** https://github.com/kubernetes/metrics, the kind PodMetrics. */
const schema = z.looseObject({
  metadata: z.looseObject({ namespace: z.string(), name: z.string() }),
  timestamp: z.string().optional(),
  window: z.string().optional(),
  containers: z
    .array(z.looseObject({ usage: z.record(z.string(), z.union([z.string(), z.number()])) }))
    .nullish(),
});

type PodMetrics = z.infer<typeof schema>;

function usageOf({ containers }: PodMetrics): Resources {
  const used = (containers ?? []).map(({ usage }) => parseResources(usage).resources);
  const { [CPU]: cpu = 0, [MEMORY]: memory = 0 } = used.reduce<Resources>(addResources, {});
  return { [CPU]: cpu, [MEMORY]: memory };
}

/** Of objects of the kind PodMetrics the newest of each pod; undefined: they are not of that kind. */
export function usageOfObjects(objects: readonly unknown[]): Usage | undefined {
  const read = z.array(schema).safeParse(objects);
  if (!read.success) return undefined;
  const timeOf = ({ timestamp = '' }: PodMetrics): string => timestamp;
  const inOrder = read.data.toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
  const metered = inOrder.filter(({ containers }) => (containers ?? []).length > 0);
  const newest = inOrder.at(-1);
  return {
    pods: new Map(metered.map((each) => [podKey(each.metadata), usageOf(each)])),
    at: newest?.timestamp ?? '',
    window: newest?.window ?? '',
  };
}

/** The API server waits for metrics-server, and whoever asks holds a Lease: no second try. */
const SELECTION: Selection = {
  resource: RESOURCES.podMetrics,
  patience: { attemptsMax: 1, timeoutMs: 5_000, silenceMsMax: 5_000 },
};

/** What the cluster meters; `missing`: why it does not say. */
export async function meteredUsage(
  client: KubeClient,
): Promise<Usage | { readonly missing: string }> {
  const objects: unknown[] = [];
  const visit = {
    start: () => void objects.splice(0),
    object: (each: unknown) => void objects.push(each),
  };
  try {
    await listEach(client, SELECTION, visit);
    return usageOfObjects(objects) ?? { missing: 'metrics.k8s.io gives no list of PodMetrics' };
  } catch (error) {
    if (isKubeFault(error, 'notFound')) return { missing: 'metrics.k8s.io is not served' };
    if (!(error instanceof KubeError)) throw error;
    return { missing: error.message };
  }
}
