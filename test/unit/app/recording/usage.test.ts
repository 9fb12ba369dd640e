import { expect, it } from 'vitest';
import { consolidationRecording } from '../../../../shared/app/recording/recording.ts';
import {
  consolidationOf as consolidationIn,
  recordingIn,
  replayed,
} from '../../../../shared/app/recording/replayed.ts';
import { consolidate } from '../../../../shared/core/disruption/consolidation/consolidate.ts';
import type { MeteredUsage } from '../../../../shared/core/disruption/consolidation/usage-guard.ts';
import { USAGE_GUARD } from '../../../../shared/core/model/labels.ts';
import { clusterOf, consolidationOf } from '../../../builders/consolidation.ts';
import { cpuPod, ON_DEMAND, used } from '../../../builders/moves.ts';
import { poolOf } from '../../../builders/scheduling.ts';

const metered = (cpu: number): MeteredUsage => ({
  kind: 'metered',
  pods: new Map([['default/a', { cpu, memory: 0 }]]),
});

it.each<[string, MeteredUsage | undefined, number, string]>([
  ['too much usage', metered(1500), 0, 'would use 90 % of its cpu'],
  ['little usage', metered(100), 1, ''],
  ['unknown usage', { kind: 'missing', why: 'not served' }, 0, 'cannot be read: not served'],
  ['no usage', undefined, 0, 'cannot be read: nobody has asked for it'],
])('a search with %s is decided again byte for byte', (_, usage, moves, said) => {
  const annotations = { [USAGE_GUARD]: 'cpu=0.5' };
  const nodes = ['a', 'b'].map((name) => used(name, 'm.large', cpuPod(name, 300)));
  const cluster = clusterOf(nodes, {
    types: ON_DEMAND,
    pools: [poolOf('general', { annotations })],
  });
  const input = { ...consolidationOf(cluster), usage };
  const found = consolidate(input);
  expect(found.moves).toHaveLength(moves);
  const text = consolidationRecording(input, found, 0)('0.1.0');
  const recording = recordingIn(text);
  if (recording?.useCase !== 'disrupt') throw new Error('it is no recording of a search');
  expect(consolidationIn(recording).usage).toEqual(usage);
  const again = replayed(text);
  expect(again?.now).toBe(again?.recorded);
  expect(again?.now).toContain(said);
});
