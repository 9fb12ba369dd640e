import { type Pod, type PodSpec, podKey } from '../../shared/core/model/pod.ts';
import { amountOf, CPU, MEMORY, type Resources } from '../../shared/core/model/resources.ts';
import { formatQuantity } from '../../shared/core/quantity.ts';
import type { Usage } from '../../shared/kube/pod-metrics.ts';
import { counted } from '../words.ts';
import { type Advice, EVALUATED_MAX } from './advice.ts';
import { type Replanned, withSpecs } from './replanned.ts';
import { type Workload, workloadsOf } from './workloads.ts';

const METERED = [CPU, MEMORY] as const;

/** A request is proposed that is so many times the most that a pod of the workload used. */
export const HEADROOM = 1.5;

/** A request is far beyond usage from so many times the proposed request on. */
export const FAR_BEYOND = 2;

/** Proposed amounts are whole multiples of it: 10m of CPU, 1 Mi of memory. */
const STEPS: Readonly<Record<(typeof METERED)[number], number>> = { cpu: 10, memory: 1024 * 1024 };

/** A request that could be smaller, of all pods of a workload. */
interface Excess {
  readonly resource: (typeof METERED)[number];
  /** The least that one of the pods requests. */
  readonly requested: number;
  /** The most that one of them used. */
  readonly used: number;
  readonly proposed: number;
}

/** Where all its pods on nodes were metered, requests far beyond what any of them used. */
function excessesOf({ pods }: Workload, usage: Usage): readonly Excess[] {
  const running = pods.filter(({ nodeName }) => nodeName !== undefined);
  const used = running
    .map((pod) => usage.pods.get(podKey(pod)))
    .filter((each) => each !== undefined);
  if (used.length < running.length || used.length === 0) return [];
  return METERED.flatMap((resource) => {
    const most = Math.max(...used.map((each) => amountOf(each, resource)));
    // No process uses no memory: it was not metered.
    if (resource === MEMORY && most === 0) return [];
    const requested = Math.min(...pods.map(({ spec }) => amountOf(spec.requests, resource)));
    const step = STEPS[resource];
    const proposed = Math.max(step, Math.ceil((most * HEADROOM) / step) * step);
    return requested >= proposed * FAR_BEYOND
      ? [{ resource, requested, used: most, proposed }]
      : [];
  });
}

/** The spec with these requests; amounts that are smaller already stay. */
function lowered(spec: PodSpec, excesses: readonly Excess[]): PodSpec {
  const requests: Record<string, number> = { ...spec.requests };
  for (const { resource, proposed } of excesses) {
    requests[resource] = Math.min(amountOf(requests, resource), proposed);
  }
  return { ...spec, requests: requests satisfies Resources };
}

function adviceOn(
  replanned: Replanned,
  { object, pods }: Workload,
  excesses: readonly Excess[],
  { at, window }: Usage,
): Advice | undefined {
  const keys = new Set(pods.map(podKey));
  const found = replanned.saving((snapshot) =>
    withSpecs(snapshot, keys, (spec) => lowered(spec, excesses)),
  );
  if (found === undefined) return undefined;
  const { before, after, usdPerMonth } = found;
  const text = (amount: number, { resource }: Excess) => formatQuantity(amount, resource);
  const proposed = excesses.map((each) => `${each.resource} ${text(each.proposed, each)}`);
  const sample = `${at === '' ? '' : ` at ${at}`}${window === '' ? '' : `, over ${window}`}`;
  const evidence = excesses.map(
    (each) =>
      `Each of ${counted(pods.length, 'pod')} requests ${each.resource} ` +
      `${text(each.requested, each)} or more; the most that one used${sample} is ` +
      `${text(each.used, each)}.`,
  );
  const change = `Request ${proposed.join(' and ')} per pod, after a longer measurement.`;
  const amounts = { usdPerMonth, basis: 'planned-anew', before, after } as const;
  return { kind: 'requests', object, change, ...amounts, evidence };
}

/** Workloads that request far more than they were metered to use. */
export function requestAdvice(
  pods: readonly Pod[],
  replanned: Replanned,
  usage: Usage,
  say: (what: string) => void,
): { readonly advice: readonly Advice[]; readonly left: number } {
  const far = workloadsOf(pods).flatMap((workload) => {
    const excesses = excessesOf(workload, usage);
    return excesses.length === 0 ? [] : [{ workload, excesses }];
  });
  const advice = far.slice(0, EVALUATED_MAX).flatMap(({ workload, excesses }) => {
    say(`${workload.object}: requests`);
    return adviceOn(replanned, workload, excesses, usage) ?? [];
  });
  return { advice, left: Math.max(0, far.length - EVALUATED_MAX) };
}
