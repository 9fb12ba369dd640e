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

/** A line of the trace, and its cells by the columns' names. */
interface TraceRow<Column extends string> {
  readonly line: string;
  readonly cells: Readonly<Record<Column, string>>;
}

/**
 * The columns' cells in each line of `openb_pod_list_*.csv`. No value there has quotes or commas.
 * Throws where a column is missing.
 */
export function traceRows<Column extends string>(
  text: string,
  columns: readonly Column[],
): readonly TraceRow<Column>[] {
  const [header = '', ...lines] = text.trim().split(/\r?\n/);
  const names = header.split(',');
  const missing = columns.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`no column ${missing.join(', ')} in: ${header}`);
  return lines.map((line) => {
    const cells = line.split(',');
    const named = columns.map((name) => [name, cells[names.indexOf(name)] ?? '']);
    return { line, cells: Object.fromEntries(named) as Record<Column, string> };
  });
}

/** What the pods of the trace ask for. Throws where a value is no whole number. */
export function readTrace(text: string): readonly TracePod[] {
  return traceRows(text, COLUMNS).map(({ line, cells }, index) => {
    const [cpuMilli = -1, memoryMib = -1, gpus = -1] = COLUMNS.map((name) => {
      const value = Number(cells[name] === '' ? Number.NaN : cells[name]);
      if (Number.isInteger(value) && value >= 0) return value;
      throw new Error(`line ${index + 2}: ${name} must be a whole number: ${line}`);
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
