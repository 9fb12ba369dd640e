import { Prng } from '../../shared/sim/prng.ts';
import { one } from '../../test/sim/swarm/one.ts';
import type { PodSpec } from './pods.ts';

/** What a pod of the trace asks for. */
export interface TracePod {
  readonly cpuMilli: number;
  readonly memoryMib: number;
  readonly gpus: number;
}

const SEED = 7;
const COLUMNS = ['cpu_milli', 'memory_mib', 'num_gpu'] as const;

/**
 * The pods of `openb_pod_list_*.csv`. No value there has quotes or commas. Throws where a column is
 * missing or a value is no whole number.
 */
export function readTrace(text: string): readonly TracePod[] {
  const [header = '', ...lines] = text.trim().split(/\r?\n/);
  const names = header.split(',');
  const places = COLUMNS.map((name) => names.indexOf(name));
  const missing = COLUMNS.filter((_, at) => places[at] === -1);
  if (missing.length > 0) throw new Error(`no column ${missing.join(', ')} in: ${header}`);
  return lines.map((line, index) => {
    const fields = line.split(',');
    const [cpuMilli = -1, memoryMib = -1, gpus = -1] = places.map((at) => {
      const value = Number(fields[at] === '' ? Number.NaN : fields[at]);
      if (Number.isInteger(value) && value >= 0) return value;
      throw new Error(`line ${index + 2}: ${names[at]} must be a whole number: ${line}`);
    });
    return { cpuMilli, memoryMib, gpus };
  });
}

/** So many of them, in an order by chance; more than there are: each as often as chance has it. */
export function sampled<Value>(all: readonly Value[], count: number): readonly Value[] {
  const random = new Prng(SEED, 'sample');
  if (all.length === 0) return [];
  if (count > all.length) {
    return Array.from({ length: count }, () => one(random, all));
  }
  const rest = [...all];
  return Array.from({ length: count }, (_, index) => {
    const at = random.between(index, rest.length - 1);
    const chosen = rest[at] as Value;
    rest[at] = rest[index] as Value;
    return chosen;
  });
}

/** A pod with whole GPUs (those that share one have it alone), or with cpu and memory only. */
export function traceSpec({ cpuMilli, memoryMib, gpus }: TracePod, kind: 'cpu' | 'gpu'): PodSpec {
  const devices = kind === 'gpu' && gpus > 0 ? { 'nvidia.com/gpu': String(gpus) } : {};
  return { requests: { cpu: `${cpuMilli}m`, memory: `${memoryMib}Mi`, ...devices } };
}
