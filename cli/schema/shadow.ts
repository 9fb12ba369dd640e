import * as z from 'zod';
import { count, documentOf, FRAME, time, usd } from './parts.ts';

const sideSchema = documentOf(
  {
    nodesLaunched: count,
    launchedUsdPerHour: usd('list price of the launched nodes'),
    nodesRemoved: count,
    removedUsdPerHour: usd('list price of the removed nodes'),
    evictions: count,
    meanUsdPerHour: usd('list price of all nodes of NodePools, the mean over the time'),
    pendingSeconds: z.number().meta({ description: 'of all pods together' }),
  },
  "one controller's figures",
);

const sumsSchema = documentOf(
  {
    nodes: count,
    usdPerHour: usd('list price of all nodes of NodePools'),
    pending: count.meta({ description: 'pods without a node' }),
  },
  'what a side has at a moment',
);

const by = z.enum(['karpenter', 'joiner']);

/** The document of `joiner shadow report -o json`. */
export const shadowSchema = z.strictObject({
  ...FRAME,
  cluster: z.string().meta({ description: 'the API server' }),
  from: time,
  to: time,
  observations: count,
  withoutKarpenter: count.meta({ description: 'observations without a renewed Lease' }),
  figures: documentOf({ karpenter: sideSchema, joiner: sideSchema }, 'the two beside each other'),
  launches: z.array(
    documentOf(
      {
        at: time,
        by,
        nodePool: z.string(),
        instanceType: z.string().nullable(),
        zone: z.string().nullable(),
        capacityType: z.string().nullable(),
        usdPerHour: usd('list price; null: not known').nullable(),
        pods: z.array(z.string()),
        replaces: z.array(z.string()).meta({ description: 'NodeClaims of nodes that it replaces' }),
        returned: z.string().nullable().meta({
          description: "a NodeClaim that Joiner's plans had removed, and keep again",
        }),
      },
      'a node that was launched, or would have been',
    ),
  ),
  removals: z.array(
    documentOf(
      {
        at: time,
        by,
        nodeClaim: z.string(),
        usdPerHour: usd('list price; null: not known').nullable(),
        evictions: count,
        why: z.string().nullable(),
      },
      'a node that went, or would have',
    ),
  ),
  timeline: z.array(
    documentOf(
      { at: time, karpenter: sumsSchema, joiner: sumsSchema },
      'both from this moment until that of the next entry',
    ),
  ),
  notes: z.array(z.string()),
});
