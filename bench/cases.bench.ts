import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mix, mixedSpecs, type PodSpec, podsOf } from './cases/pods.ts';
import { readTrace, sampled, traceSpec } from './cases/trace.ts';
import { generatedTypes } from './cases/types.ts';

const MIXES: readonly (readonly [Mix, ...(readonly number[])])[] = [
  ['generic', 1_000, 5_000],
  ['deployments', 1_000, 5_000],
  ['diverse', 1_000, 5_000],
  ['preferences', 4_000],
];

/** The pods of a trace where no other numbers are given, and all of them. */
const SAMPLES = [2_000, 4_000];

/** A NodePool of anything, or of on-demand only. */
function poolOf(capacityTypes: readonly string[]): object {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  const requirements = [
    { key: 'karpenter.sh/capacity-type', operator: 'In', values: capacityTypes },
  ];
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: { template: { spec: { nodeClassRef, requirements } } },
  };
}

interface Case {
  readonly name: string;
  readonly specs: readonly PodSpec[];
  readonly capacityTypes: readonly string[];
}

function* mixes(): Generator<Case> {
  for (const [mix, ...counts] of MIXES) {
    for (const count of counts) {
      const specs = mixedSpecs(mix, count);
      yield { name: `${mix}-${count}`, specs, capacityTypes: ['on-demand', 'spot'] };
    }
  }
}

function* traces(file: string, counts: readonly number[]): Generator<Case> {
  const all = readTrace(readFileSync(file, 'utf8'));
  for (const count of counts.length > 0 ? counts : [...SAMPLES, all.length]) {
    const pods = sampled(all, count);
    for (const kind of ['cpu', 'gpu'] as const) {
      const specs = pods.map((pod) => traceSpec(pod, kind));
      yield { name: `openb-${kind}-${count}`, specs, capacityTypes: ['on-demand'] };
    }
  }
}

/**
 * Writes the cases of solve.md: `cases DIR [POD_LIST.csv [COUNT…]]`. Without a list of pods those
 * that are made by chance, with one those of the trace.
 */
export function run([folder, file, ...counts]: readonly string[]): void {
  const numbers = counts.map(Number);
  if (folder === undefined || numbers.some((each) => !Number.isInteger(each) || each < 1)) {
    process.stderr.write('usage: npm run bench -- cases DIR [POD_LIST.csv [COUNT…]]\n');
    process.exitCode = 2;
    return;
  }
  const instanceTypes = generatedTypes();
  mkdirSync(folder, { recursive: true });
  for (const { name, specs, capacityTypes } of file === undefined
    ? mixes()
    : traces(file, numbers)) {
    const path = join(folder, `${name}.json`);
    const nodePools = [poolOf(capacityTypes)];
    writeFileSync(path, JSON.stringify({ name, instanceTypes, nodePools, pods: podsOf(specs) }));
    process.stdout.write(`${path}\n`);
  }
}
