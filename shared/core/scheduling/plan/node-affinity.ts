import { type Reason, reason } from '../../explain/reason.ts';
import type { Requirements, ValueSet } from '../../requirements/value-set.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { launchMeets } from '../problem/launch-space.ts';
import type { NodeTerms } from '../problem/node-terms.ts';
import type { Elimination } from './elimination.ts';

/**
 * Keeps what meets a pod's nodeSelector and node affinity. What all terms ask of a label, as the
 * nodeSelector does, is a step of its own.
 */
export function keepTerms(left: Elimination, terms: NodeTerms): void {
  if (terms.length === 0) {
    left.keep(reason('node-affinity-contradicts-itself', {}), () => false);
    return;
  }
  const inAll = commonOf(terms);
  for (const [key, set] of inAll) {
    left.keep(affinityReason(key, set), meets(new Map([[key, set]])));
  }
  const others = terms.map((term) => new Map([...term].filter(([key]) => !inAll.has(key))));
  if (others.some(({ size }) => size === 0)) return;
  const why = reason('node-affinity-terms', { terms: terms.length });
  left.keep(why, (option) => others.some((term) => meets(term)(option)));
}

/** The labels of which every term asks the same, in alphabetical order. */
export function commonOf([first, ...rest]: NodeTerms): Requirements {
  const common = [...(first ?? [])].filter(([key, set]) =>
    rest.every((term) => {
      const other = term.get(key);
      return other !== undefined && textOf(other) === textOf(set);
    }),
  );
  return new Map(common.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function meets(term: Requirements) {
  return (option: LaunchOption): boolean =>
    launchMeets(term, option.pool, option.type, option.domain);
}

/** What a pod asks of a label of its node. */
export function affinityReason(key: string, set: ValueSet): Reason {
  return reason('node-affinity', { key, values: valuesText(set) });
}

/** The same for equal sets, and for no others. */
function textOf({ complement, values, atLeast, atMost, absent }: ValueSet): string {
  return JSON.stringify([complement, [...values].sort(), atLeast, atMost, absent]);
}

function valuesText({ complement, values, atLeast, atMost, absent }: ValueSet): string {
  const list = [...values].sort();
  const shown = list.length > 4 ? `${list.slice(0, 4).join(', ')}, …` : list.join(', ');
  if (!complement) return list.length === 0 && absent ? 'DoesNotExist' : `In [${shown}]`;
  const parts = [
    ...(list.length === 0 ? [] : [`NotIn [${shown}]`]),
    ...(atLeast === undefined ? [] : [`≥ ${atLeast}`]),
    ...(atMost === undefined ? [] : [`≤ ${atMost}`]),
  ];
  return parts.length === 0 ? 'Exists' : parts.join(' and ');
}
