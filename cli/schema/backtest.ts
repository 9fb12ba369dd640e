import * as z from 'zod';
import { change, count, documentOf, FRAME, time, usd } from './parts.ts';

function sideOf<More extends z.ZodRawShape>(counts: z.ZodInt, description: string, more: More) {
  return documentOf(
    {
      nodes: counts.meta({ description: 'nodes that were launched' }),
      usdPerHour: usd('list price of these nodes'),
      usd: usd('in the hours that the recorded nodes ran'),
      moves: counts,
      nodesRemoved: counts,
      evictions: counts,
      movesSavedUsd: usd('saved by the moves'),
      ...more,
    },
    description,
  );
}

const NET = {
  netUsd: usd('what the variant costs more in all: usd less movesSavedUsd of the difference'),
};

const figuresSchema = documentOf(
  { nodes: count, usdPerHour: usd('list price'), usd: usd('list price times hours') },
  'new nodes of a launch',
);

/** The document of `joiner backtest -o json`. */
export const backtestSchema = z.strictObject({
  ...FRAME,
  with: documentOf(
    {
      set: z.record(z.string(), z.string()).meta({ description: 'settings by name, as given' }),
      nodePools: z
        .array(z.string())
        .meta({ description: 'names of the NodePools that were given' }),
      rules: z.enum(['joiner', 'karpenter']),
    },
    'what the recorded moments are decided with',
  ),
  searches: count.meta({ description: 'searches for moves that were decided again' }),
  searchesLeftOut: count.meta({
    description: 'recorded searches that the rules do not decide: their moves are in neither side',
  }),
  recorded: sideOf(count, 'as recorded', {}),
  variant: sideOf(count, 'as decided again', {}),
  difference: sideOf(change, 'variant less recorded', NET),
  launches: z.array(
    documentOf(
      {
        at: time,
        file: z.string().meta({ description: 'the recording' }),
        hours: z.number(),
        recorded: figuresSchema,
        variant: figuresSchema,
        isCompared: z.boolean().meta({ description: 'false: the launch is not in the sums' }),
      },
      'a recorded launch',
    ),
  ),
});
