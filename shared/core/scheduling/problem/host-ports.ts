import type { HostPort } from '../../model/pod.ts';
import type { LaunchOption } from './launch-options.ts';
import { taintsAllowed } from './node-rules.ts';
import type { Problem } from './problem.ts';

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

type Addresses = ReadonlyMap<string, ReadonlySet<string>>;

/** By list: the addresses of each port. A media server may list ten thousand ports. */
const addressesOf = new WeakMap<readonly HostPort[], Addresses>();

function portText({ port, protocol }: HostPort): string {
  return `${port}/${protocol}`;
}

function addresses(ports: readonly HostPort[]): Addresses {
  const known = addressesOf.get(ports);
  if (known !== undefined) return known;
  const made = new Map<string, Set<string>>();
  for (const each of ports) {
    const text = portText(each);
    made.set(text, (made.get(text) ?? new Set<string>()).add(each.ip));
  }
  addressesOf.set(ports, made);
  return made;
}

/**
 * Whether a pod with these host ports cannot be where those others are taken. What is taken on a
 * node changes with each pod that is placed there; the pod's own ports do not.
 */
export function portsClash(own: readonly HostPort[], taken: readonly HostPort[]): boolean {
  if (own.length === 0 || taken.length === 0) return false;
  const byPort = addresses(own);
  return taken.some((each) => {
    const wanted = byPort.get(portText(each));
    if (wanted === undefined) return false;
    if (WILDCARDS.has(each.ip) || wanted.has(each.ip)) return true;
    return [...WILDCARDS].some((any) => wanted.has(any));
  });
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
