import { readFileSync } from 'node:fs';
import type { Json } from '../../shared/sim/json.ts';
import { Prng } from '../../shared/sim/prng.ts';
import type { ScenarioStep } from '../../shared/sim/scenario.ts';
import { traceRows } from '../cases/trace.ts';
import { deployment } from '../manifests.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A pod that comes, runs and ends. */
interface Run {
  readonly name: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly requests: Readonly<Record<string, string>>;
}

const COLUMNS = [
  'name',
  'cpu_milli',
  'memory_mib',
  'num_gpu',
  'creation_time',
  'deletion_time',
] as const;

/** What its container asks for: devices are limits, too. */
function resourcesOf(requests: Run['requests']): Json {
  const gpu = requests['nvidia.com/gpu'];
  const limits = gpu === undefined ? {} : { limits: { 'nvidia.com/gpu': gpu } };
  return { requests, ...limits };
}

/** Each run is a Deployment, so that an evicted pod comes back. */
function stepsOf(runs: readonly Run[], endMs: number): readonly ScenarioStep[] {
  const steps = runs.flatMap(({ name, fromMs, untilMs, requests }): readonly ScenarioStep[] => {
    const apply = [deployment(name, 1, resourcesOf(requests))] as NonNullable<
      ScenarioStep['apply']
    >;
    const target = { kind: 'Deployment', name, namespace: 'default' };
    const ends = untilMs < endMs ? [{ at: untilMs, delete: [target] }] : [];
    return [{ at: fromMs, apply }, ...ends];
  });
  return steps.toSorted((a, b) => a.at - b.at);
}

/**
 * The last days of a trace with the columns of openb's pod list (times in seconds). What runs at their beginning comes in the
 * first minute.
 * https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2023
 */
export function traceOf(file: string, days: number, withGpus: boolean): readonly ScenarioStep[] {
  const rows = traceRows(readFileSync(file, 'utf8'), COLUMNS).map(({ cells }) => ({
    ...cells,
    fromMs: Number(cells.creation_time) * 1000,
    untilMs: Number(cells.deletion_time) * 1000,
  }));
  const lastMs = Math.max(...rows.map(({ fromMs }) => fromMs));
  const startMs = lastMs - days * DAY_MS;
  const runs = rows
    .filter(({ fromMs, untilMs }) => untilMs > Math.max(startMs, fromMs))
    .map((row): Run => {
      const gpus = withGpus ? Number(row.num_gpu) : 0;
      const requests = { cpu: `${row.cpu_milli}m`, memory: `${row.memory_mib}Mi` };
      return {
        name: row.name,
        fromMs: Math.max(0, row.fromMs - startMs),
        untilMs: row.untilMs - startMs,
        requests: gpus > 0 ? { ...requests, 'nvidia.com/gpu': String(gpus) } : requests,
      };
    });
  return stepsOf(runs, days * DAY_MS);
}

/** A web service whose replicas follow the hour and the day of the week. */
function serviceSteps(name: string, days: number, random: Prng): readonly ScenarioStep[] {
  const milli = [250, 500, 1000, 2000, 4000][random.between(0, 4)] ?? 500;
  const mib = milli * ([1, 2, 4, 8][random.between(0, 3)] ?? 2);
  const least = 1 + random.between(0, 3);
  const most = least + 2 + random.between(0, 13);
  const peakHour = 9 + random.between(0, 9);
  const replicasAt = (atMs: number): number => {
    const hour = (atMs % DAY_MS) / HOUR_MS;
    const daily = (1 + Math.cos(((hour - peakHour) / 24) * 2 * Math.PI)) / 2;
    const weekly = Math.floor(atMs / DAY_MS) % 7 >= 5 ? 0.4 : 1;
    const noise = 0.9 + random.between(0, 200) / 1000;
    return Math.max(least, Math.round(least + (most - least) * daily * weekly * noise));
  };
  const requests = { cpu: `${milli}m`, memory: `${mib}Mi` };
  const steps: ScenarioStep[] = [];
  let current: number | undefined;
  const offsetMs = random.between(0, 29) * MINUTE_MS;
  for (let atMs = 0; atMs < days * DAY_MS; atMs += HOUR_MS / 2) {
    const replicas = replicasAt(atMs);
    const at = atMs === 0 ? 0 : atMs + offsetMs;
    if (current === undefined) {
      steps.push({
        at,
        apply: [deployment(name, replicas, resourcesOf(requests))] as NonNullable<
          ScenarioStep['apply']
        >,
      });
    } else if (replicas !== current) {
      steps.push({ at, scale: { kind: 'Deployment', name, namespace: 'default', replicas } });
    }
    current = replicas;
  }
  return steps;
}

/** Batch jobs: about eight an hour at a scale of 1, most of them short. */
function jobsOf(days: number, scale: number, random: Prng): readonly Run[] {
  const runs: Run[] = [];
  let fromMs = 0;
  for (;;) {
    fromMs += Math.round(((1 + random.between(0, 14)) * MINUTE_MS) / scale);
    if (fromMs >= days * DAY_MS) return runs;
    const milli = 1000 * (1 + random.between(0, 7)) - 100;
    const mib = milli * (1 + random.between(0, 5));
    // From five minutes to more than five hours, each doubling as probable as the next.
    const minutes = 5 * 2 ** random.between(0, 5) + random.between(0, 4);
    runs.push({
      name: `job-${runs.length}`,
      fromMs,
      untilMs: fromMs + minutes * MINUTE_MS,
      requests: { cpu: `${milli}m`, memory: `${mib}Mi` },
    });
  }
}

const SERVICES = 16;

/**
 * A made month: services by the hour of the day, and jobs. A scale below 1 is a smaller cluster:
 * as many hours, fewer services and jobs.
 */
export function madeMonth(days: number, scale: number, seed: number): readonly ScenarioStep[] {
  const random = new Prng(seed, 'arrivals');
  const services = Array.from({ length: Math.ceil(SERVICES * scale) }, (_, index) =>
    serviceSteps(`service-${index}`, days, random),
  );
  const jobs = stepsOf(jobsOf(days, scale, random), days * DAY_MS);
  return [...services.flat(), ...jobs].toSorted((a, b) => a.at - b.at);
}
