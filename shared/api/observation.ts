import * as z from 'zod';

const machine = {
  nodePool: z.string(),
  instanceType: z.string().nullable(),
  zone: z.string().nullable(),
  capacityType: z.string().nullable(),
  /** List price; null: not known. */
  usdPerHour: z.number().nullable(),
};

/** One look at a cluster: what there is, and what Joiner plans for it at this moment. */
export const observationSchema = z.strictObject({
  format: z.literal(1),
  joiner: z.string(),
  at: z.iso.datetime(),
  /** The API server. */
  cluster: z.string(),
  currency: z.enum(['USD', 'CNY']),
  /** Whether Karpenter renewed its Lease. */
  isKarpenterActive: z.boolean(),
  /** Nodes of NodePools, by their NodeClaims. */
  nodes: z.array(
    z.strictObject({
      nodeClaim: z.string(),
      ...machine,
      createdAt: z.iso.datetime(),
      isLeaving: z.boolean(),
      /** Pods on it that would have to move: without those of DaemonSets. */
      pods: z.int(),
    }),
  ),
  /** `namespace/name` of pods that kube-scheduler finds no node for. */
  pending: z.array(z.string()),
  /** New nodes, as Joiner plans them now. */
  launches: z.array(
    z.strictObject({
      ...machine,
      pods: z.array(z.string()),
      /** NodeClaims of the nodes that it replaces. */
      replaces: z.array(z.string()).default([]),
    }),
  ),
  /** Of the pending pods, those that the plan has no node for. */
  unplaced: z.array(z.string()),
  /** Nodes that Joiner would remove or replace now. */
  removals: z.array(
    z.strictObject({
      nodeClaim: z.string(),
      action: z.enum(['remove', 'replace']),
      why: z.string(),
      usdPerHour: z.number().nullable(),
      pods: z.int(),
    }),
  ),
  /** List price of all nodes of NodePools: as they are, and once the plan is carried out. */
  usdPerHour: z.strictObject({ now: z.number(), after: z.number() }),
});

export type Observation = z.infer<typeof observationSchema>;
