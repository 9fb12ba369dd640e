import type { Json } from '../../shared/sim/json.ts';

/** Something that changes its meaning, is written out, or does not go over. */
export interface Note {
  /** Of the old object. */
  readonly field: string;
  readonly message: string;
}

/** Where a field of the new object comes from: the first field of v1, the second of the old API. */
export type Origin = readonly [string, string];

/** An EC2NodeClass to be, without its kubelet. */
export interface ClassPart {
  readonly metadata: Json;
  readonly spec: Json;
  readonly notes: readonly Note[];
  readonly origins: readonly Origin[];
}

/** A NodePool to be. */
export interface PoolPart {
  readonly metadata: Json;
  /** Without `template.spec.nodeClassRef`. */
  readonly spec: PoolSpec;
  readonly nodeClassRef: Json & { readonly name: string };
  /** Fields of v1's kubelet, which is the class's; undefined where there are none. */
  readonly kubelet: Json | undefined;
  readonly kubeletField: string;
  readonly notes: readonly Note[];
  readonly origins: readonly Origin[];
}

export interface PoolSpec extends Json {
  readonly template: Json & { readonly spec: Json };
}

/** The object without the fields that have no value: YAML has no word for undefined. */
export function present(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The field of the old object that a field of the new one comes from. */
export function originOf(path: string, origins: readonly Origin[]): string {
  const found = origins
    .filter(([field]) => path === field || /^[.[]/.test(path.slice(field.length)))
    .filter(([field]) => path.startsWith(field))
    .sort(([one], [other]) => other.length - one.length)[0];
  return found === undefined ? path : `${found[1]}${path.slice(found[0].length)}`;
}
