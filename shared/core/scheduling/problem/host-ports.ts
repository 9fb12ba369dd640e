import type { HostPort } from '../../model/pod.ts';
import type { LaunchOption } from './launch-options.ts';
import { taintsAllowed } from './node-rules.ts';
import type { Problem } from './problem.ts';

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

function clash(a: HostPort, b: HostPort): boolean {
  return (
    a.port === b.port &&
    a.protocol === b.protocol &&
    (a.ip === b.ip || WILDCARDS.has(a.ip) || WILDCARDS.has(b.ip))
  );
}

/** Whether pods with these host ports cannot share a node. */
export function portsClash(a: readonly HostPort[], b: readonly HostPort[]): boolean {
  return a.some((left) => b.some((right) => clash(left, right)));
}

/** Host ports of the DaemonSets that will run on a node of the launch option. */
export function daemonPortsOn(
  problem: Problem,
  { pool, group }: LaunchOption,
): readonly HostPort[] {
  return problem.daemonPorts
    .filter(({ rule }) => group.allowed[rule.id] === 1 && taintsAllowed(rule, pool.taints))
    .flatMap((each) => each.ports);
}
