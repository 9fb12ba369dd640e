import { sha256 } from '../../core/launch/sha256.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { Ids, Ports } from '../../ports.ts';

/** What Kubernetes makes names of: no vowels, and no digits that look like letters. */
export const NAME_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;

/** A suffix whose letters `choose` chooses: by place, each from 0 to one less than `letters`. */
function suffixBy(choose: (letters: number, place: number) => number): string {
  const letter = (_: unknown, place: number) => NAME_LETTERS[choose(NAME_LETTERS.length, place)];
  return Array.from({ length: SUFFIX_LENGTH }, letter).join('');
}

/** Suffixes of letters that `choose` chooses by their number, from 0 to one less than `letters`. */
export function idsBy(choose: (letters: number) => number): Ids {
  return { suffix: () => suffixBy(choose) };
}

/**
 * The suffixes that a holder of a Lease uses one after the other. They follow from the Lease's
 * `names`: whoever takes over from a holder that has not released it uses the same ones.
 */
export function idsOf(names: string): Ids {
  let letters = 0;
  return {
    suffix: () => {
      const digits = sha256(`${names} ${letters}`);
      letters += SUFFIX_LENGTH;
      return suffixBy((count, place) => {
        return Number.parseInt(digits.slice(8 * place, 8 * place + 8), 16) % count;
      });
    },
  };
}

/**
 * Names for new NodeClaims by their NodePool, other than those of the claims that there are and
 * those given before: of a thousand names two are the same in every thirtieth case. An earlier
 * holder of the Lease may have written some of the claims by the same names.
 */
export function claimNames(
  { ids }: Pick<Ports, 'ids'>,
  claims: readonly Pick<NodeClaim, 'name'>[],
): (pool: string) => string {
  const taken = new Set(claims.map(({ name }) => name));
  return (pool) => {
    for (;;) {
      const name = `${pool}-${ids.suffix()}`;
      if (taken.has(name)) continue;
      taken.add(name);
      return name;
    }
  };
}
