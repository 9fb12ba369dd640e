import type { MachineFacts } from './facts.ts';

/** Families without trunking: the burstable ones, those for HPC, and Mac. */
const WITHOUT_TRUNKING = /^(?:t\d|hpc|mac)/;

/** What of a type the limit goes with: it is nearly the same in all that have the same of these. */
function shapeOf(facts: MachineFacts): string {
  const { vcpus, networkInterfaces, addressesPerInterface, bareMetal } = facts;
  return `${vcpus} ${networkInterfaces} ${addressesPerInterface} ${bareMetal}`;
}

function mostCommon(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const each of values) counts.set(each, (counts.get(each) ?? 0) + 1);
  const [best = [0, 0]] = [...counts].sort(([a, x], [b, y]) => y - x || a - b);
  return best[0];
}

/**
 * Branch interfaces of types that no table names yet, by the table's types of the same shape; 0
 * where there is none, or where the family has no trunking. No API of AWS tells the limit; the VPC
 * resource controller has it built in.
 * https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html
 */
export function branchInterfacesLike(
  known: Iterable<MachineFacts>,
): (facts: MachineFacts) => number {
  const byShape = new Map<string, number[]>();
  for (const facts of known) {
    if (facts.branchInterfaces === 0) continue;
    const shape = shapeOf(facts);
    byShape.set(shape, [...(byShape.get(shape) ?? []), facts.branchInterfaces]);
  }
  return (facts) => {
    const isNitro = facts.hypervisor !== 'xen';
    if (!isNitro || WITHOUT_TRUNKING.test(facts.name)) return 0;
    return mostCommon(byShape.get(shapeOf(facts)) ?? []);
  };
}
