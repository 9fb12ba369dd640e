const RECORD = /^(?:POST|PATCH) .*\/configmaps(?:\/joiner-handover)?\?/;
const NEW = /^POST .*\/configmaps\?/;
const PAUSES = /^PATCH .*\/configmaps\/joiner\?/;
const SCALE = /^PATCH .*\/deployments\/karpenter\/scale\?/;
const LEASE = /^PATCH .*\/leases\/karpenter-leader-election\?/;

export type Point = readonly [call: RegExp, when: 'before' | 'after'];

/** Every write of an adoption, in its order. */
export const ADOPTION: readonly Point[] = [
  [NEW, 'before'],
  [NEW, 'after'],
  // The record is there: this is the ConfigMap of the pauses.
  [NEW, 'before'],
  [NEW, 'after'],
  [RECORD, 'before'],
  [RECORD, 'after'],
  [SCALE, 'before'],
  [SCALE, 'after'],
  [RECORD, 'before'],
  [RECORD, 'after'],
  [PAUSES, 'before'],
  [PAUSES, 'after'],
];

/** Every kind of write of a hand-back, in its order. */
export const HAND_BACK: readonly Point[] = [
  [RECORD, 'before'],
  [RECORD, 'after'],
  [PAUSES, 'before'],
  [PAUSES, 'after'],
  [LEASE, 'before'],
  [LEASE, 'after'],
  [/^PATCH .*\/nodepools\/[^/]+\?/, 'after'],
  [/^PATCH .*\/ec2nodeclasses\/[^/]+\?/, 'after'],
  [/^PATCH .*\/nodeclaims\/[^/]+\?/, 'after'],
  [RECORD, 'before'],
  [SCALE, 'before'],
  [SCALE, 'after'],
  [PAUSES, 'before'],
  [PAUSES, 'after'],
  [/^DELETE .*\/configmaps\/joiner-handover/, 'before'],
];

/** With `JOINER_HANDOVER=all`, as at night, every write and step; else one in the middle of them. */
export function some<Each>(all: readonly Each[]): readonly Each[] {
  if (process.env['JOINER_HANDOVER'] === 'all') return all;
  const at = Math.floor(all.length / 2);
  return all.slice(at, at + 1);
}
