import * as z from 'zod';
import { VOLUNTARY_REASONS } from '../../shared/core/disruption/voluntary.ts';

const text = z.string();
const price = z.number();
const seconds = z.number().nullable();
const words = z.record(z.string(), z.string());

/** A pod by its key `namespace/name`; one that is made anew is another. */
const podSchema = z.strictObject({ pod: text, uid: text });

const taintSchema = z.strictObject({
  key: text,
  value: text,
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
});

const requirementSchema = z.strictObject({
  key: text,
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte']),
  values: z.array(text),
  minValues: z.number().nullable(),
});

/** A NodeClaim to be written; its name is not known before. */
const claimSchema = z.strictObject({
  nodePool: text,
  /** What it is expected to be launched as; null where EC2 chooses. */
  chosen: z
    .strictObject({ type: text, zone: text, capacityType: text, pricePerHour: price })
    .nullable(),
  requirements: z.array(requirementSchema),
  requests: words,
  labels: words,
  /** But those that Joiner writes for itself. */
  annotations: words,
  taints: z.array(taintSchema),
  startupTaints: z.array(taintSchema),
  expireAfterSeconds: seconds,
  terminationGracePeriodSeconds: seconds,
  nodeClass: text,
  nodeClassHash: text,
  /** Of the EC2NodeClass. */
  images: z.array(text),
});

/** A node that is to go. */
const nodeSchema = z.strictObject({
  nodeClaim: text,
  uid: text,
  node: text.nullable(),
  nodePool: text,
  instanceType: text.nullable(),
  zone: text.nullable(),
  capacityType: text.nullable(),
  pricePerHour: price.nullable(),
  /** Those that move. */
  pods: z.array(podSchema),
});

const REASONS = ['Provisioned', 'Static', ...VOLUNTARY_REASONS] as const;

/** What is decided as one: it is carried out as a whole or not at all. */
export const decisionSchema = z.strictObject({
  reason: z.enum(REASONS),
  nodePool: text,
  why: text,
  /** What is launched. */
  claims: z.array(claimSchema),
  /** For which pods that wait. */
  pods: z.array(podSchema),
  /** What goes; once the claims are ready, where there are any. */
  nodes: z.array(nodeSchema),
  /** What it was decided by, object by object, as hashes. */
  reliesOn: words,
});

export type Decision = z.infer<typeof decisionSchema>;
export type ClaimTerms = z.infer<typeof claimSchema>;
export type NodeTerms = z.infer<typeof nodeSchema>;
export type PodTerms = z.infer<typeof podSchema>;

/** Names a decision: the same pods, nodes or NodePool for the same reason. */
export function decisionKey({ reason, nodePool, pods, nodes }: Decision): string {
  const about = reason === 'Static' ? [nodePool] : [...pods, ...nodes].map(({ uid }) => uid).sort();
  return [reason, ...about].join(' ');
}
