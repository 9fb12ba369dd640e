import type { HostPort } from '../../model/pod.ts';

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
