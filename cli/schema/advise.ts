import * as z from 'zod';
import { ADVICE_KINDS, BASES } from '../advise/advice.ts';
import { count, documentOf, FRAME, time, usd } from './parts.ts';

const sideSchema = documentOf(
  {
    nodes: count,
    usdPerHour: usd('list price of the nodes'),
    podsUnplaced: count,
    instanceTypes: z.array(
      documentOf(
        { instanceType: z.string(), capacityType: z.string(), count },
        'nodes of one instance type and capacity type',
      ),
    ),
  },
  'nodes, and the pods that have none',
);

const adviceSchema = documentOf(
  {
    kind: z.enum(ADVICE_KINDS),
    object: z.string().meta({ description: 'such as NodePool/default or Deployment/shop/web' }),
    change: z.string().meta({ description: 'what a person can do, in a sentence' }),
    usdPerMonth: usd('what the change saves; less than 0: what pending pods cost with nodes'),
    basis: z.enum(BASES).meta({ description: 'what before and after are' }),
    before: sideSchema,
    after: sideSchema,
    evidence: z.array(z.string()),
  },
  'a change, and the difference of two plans without and with it',
);

/** The document of `joiner advise -o json`. */
export const adviseSchema = z.strictObject({
  ...FRAME,
  of: z.string().meta({ description: "the API server's address, or the recording" }),
  at: time,
  now: sideSchema,
  anew: sideSchema.meta({ description: "the pods planned on none of Joiner's nodes" }),
  advice: z
    .array(adviceSchema)
    .meta({ description: 'savings, the largest first; then what gives nodes to pods that wait' }),
  notes: z.array(z.string()),
});
