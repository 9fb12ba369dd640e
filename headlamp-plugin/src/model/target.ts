/** A page of the object in Headlamp. */
export interface Target {
  readonly kind: 'Node' | 'NodeClaim' | 'NodePool' | 'Pod';
  readonly name: string;
  /** Empty: the object has no namespace. */
  readonly namespace: string;
}

/** One line of what is known of an object. */
export interface Fact {
  readonly name: string;
  readonly value: string;
  /** What the value names. */
  readonly target?: Target;
}

/** A cluster-scoped object. */
export function target(kind: Target['kind'], name: string): Target {
  return { kind, name, namespace: '' };
}
