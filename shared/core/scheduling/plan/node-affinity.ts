import { type Reason, reason } from '../../explain/reason.ts';
import type { Requirements, ValueSet } from '../../requirements/value-set.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { isDomainKey, launchMeets } from '../problem/launch-space.ts';
import type { NodeRule } from '../problem/node-rules.ts';
import type { NodeTerms } from '../problem/node-terms.ts';
import type { Elimination } from './elimination.ts';

/** Labels that are looked at one by one: a pod may ask for thousands, for each option anew. */
const STEPS_MAX = 50;

/**
 * Keeps what meets a pod's nodeSelector and node affinity. What all terms ask of a label, as the
 * nodeSelector does, is a step of its own; labels beyond the first ones are a step together. What
 * neither types nor offerings describe is looked at once for each variant of the NodePool.
 */
export function keepTerms(
  left: Elimination,
  { id, terms }: NodeRule,
  typeKeys: ReadonlySet<string>,
): void {
  if (terms.length === 0) {
    left.keep(reason('node-affinity-contradicts-itself', {}), () => false);
    return;
  }
  const inAll = new Map([...commonOf(terms)].slice(0, STEPS_MAX));
  const orAllowed = (meets: (option: LaunchOption) => boolean) => (option: LaunchOption) =>
    option.group.allowed[id] === 1 || meets(option);
  for (const [key, set] of inAll) {
    const [why, passes] = [affinityReason(key, set), orAllowed(meets(new Map([[key, set]])))];
    const isOfPool = !typeKeys.has(key) && !isDomainKey(key);
    if (isOfPool) left.keepAlike(why, 'pool', passes);
    else left.keep(why, passes);
  }
  const others = terms.map((term) => new Map([...term].filter(([key]) => !inAll.has(key))));
  if (others.some(({ size }) => size === 0)) return;
  const why = reason('node-affinity-terms', { terms: terms.length });
  const passes = orAllowed((option) => others.some((term) => meets(term)(option)));
  // Options of a group meet the same of a pod's whole terms.
  if (inAll.size === 0) left.keepAlike(why, 'group', passes);
  else left.keep(why, passes);
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
