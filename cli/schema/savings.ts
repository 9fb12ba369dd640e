import * as z from 'zod';
import { MOVE_OUTCOMES } from '../ledger/ledger-records.ts';
import { count, documentOf, FRAME, time, usd } from './parts.ts';

const launchSchema = documentOf(
  {
    at: time.meta({ description: 'before `from` where its nodes still ran' }),
    file: z.string().meta({ description: 'the recording' }),
    claims: z.array(z.string()).meta({ description: 'NodeClaims that were created' }),
    nodes: count,
    usdPerHour: usd('list price of the planned nodes'),
    firstFitNodes: count,
    firstFitUsdPerHour: usd("list price of what Karpenter's documented rules plan"),
    hours: z.number().meta({ description: 'mean hours that the nodes ran, weighted by price' }),
    usd: usd('list price times hours'),
    firstFitUsd: usd('first fit times the same hours'),
    savedUsd: usd('null: the two cannot be compared').nullable(),
    notCompared: z.enum(['other-pods-placed', 'not-launched']).nullable(),
  },
  'a launch beside first fit',
);

const moveSchema = documentOf(
  {
    at: time,
    file: z.string().meta({ description: 'the recording' }),
    claims: z.array(z.string()).meta({ description: 'NodeClaims of the nodes that go' }),
    beforeUsdPerHour: usd('list price of the nodes that go'),
    afterUsdPerHour: usd('list price of their replacements'),
    replacements: count,
    evictions: count,
    horizonHours: z.number().meta({ description: 'for so long its saving is counted' }),
    outcome: z.enum(MOVE_OUTCOMES),
    savedUsd: usd('until the horizon; 0 if the move was not carried out'),
  },
  'a move of consolidation, and what came of it',
);

const replacementSchema = documentOf(
  {
    at: time.meta({ description: 'of the move; before `from` where the node still ran' }),
    file: z.string().meta({ description: 'the recording of the move' }),
    claim: z.string().meta({ description: 'the NodeClaim' }),
    nodePool: z.string(),
    type: z.string(),
    zone: z.string(),
    capacityType: z.string(),
    usdPerHour: usd('list price of the planned node'),
    hours: z.number().meta({ description: 'hours that it ran in the time' }),
    usd: usd('list price times hours'),
  },
  'a node that came in place of nodes which consolidation removed',
);

/** The document of `joiner savings -o json`. */
export const savingsSchema = z.strictObject({
  ...FRAME,
  from: time,
  to: time,
  launches: z.array(launchSchema),
  moves: z.array(moveSchema),
  replacements: z.array(replacementSchema),
  interruptions: z.array(
    documentOf(
      { nodePool: z.string(), kind: z.string(), nodes: count, hours: z.number() },
      'nodes that were interrupted, and the hours that they had run',
    ),
  ),
  ends: z.array(
    documentOf(
      { useCase: z.string(), reason: z.string(), nodes: count },
      'nodes that were deleted for another reason',
    ),
  ),
  totals: documentOf(
    {
      nodesRan: count.meta({ description: 'nodes that ran at some moment of the time' }),
      nodesLaunched: count.meta({ description: 'of these, launched in the time' }),
      nodesCompared: count.meta({ description: 'of those that ran, of compared launches' }),
      nodesReplacing: count.meta({ description: 'of those that ran, replacements' }),
      costUsd: usd('of all nodes that ran, without those that a note names'),
      usd: usd('of the launches that were compared'),
      firstFitUsd: usd('first fit of the same launches'),
      replacementsUsd: usd('of the replacements'),
      launchesSavedUsd: usd('firstFitUsd less usd'),
      movesSavedUsd: usd('of all moves'),
      savedUsd: usd('launchesSavedUsd and movesSavedUsd'),
      evictions: count,
    },
    'the sums of the entries',
  ),
  notes: z.array(z.string()).meta({ description: 'what is missing in the amounts' }),
});
