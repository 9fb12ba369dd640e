import { expect, it } from 'vitest';
import { dueTimes } from '../../../shared/core/lifecycle/due-times.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNodeClaim, aPod } from '../launch/builders.ts';

const MINUTE = 60_000;
const PROTECTED = (text: string) => ({ annotations: { 'karpenter.sh/do-not-disrupt': text } });
const launchedAt = (lastTransitionAtMs: number) => ({
  conditions: yes('Launched').map((each) => ({ ...each, lastTransitionAtMs })),
});
const deleted = { deletedAtMs: 1000 };
const limited = { ...deleted, terminationGracePeriodMs: 60 * MINUTE };
const DEADLINE_MS = 1000 + 60 * MINUTE;

it.each<[string, Partial<NodeClaim>, readonly Partial<Pod>[], readonly number[]]>([
  ['not launched: nothing', {}, [], []],
  ['launched: when its node has to have joined', launchedAt(2000), [], [2000 + 15 * MINUTE]],
  ['launched, with pods: the same', launchedAt(2000), [PROTECTED('1h')], [2000 + 15 * MINUTE]],
  ['initialised: nothing', { conditions: yes('Launched', 'Initialized') }, [{}], []],
  ['deleted, drained for as long as it takes: nothing', deleted, [{}], []],
  [
    'deleted: when a pod on its way out is stuck',
    deleted,
    [{ deletedAtMs: 5000 }],
    [5000 + MINUTE],
  ],
  [
    'deleted: when a pod is not protected any more',
    deleted,
    [{ ...PROTECTED('1h'), startedAtMs: 7000 }, PROTECTED('true'), PROTECTED('soon')],
    [7000 + 60 * MINUTE],
  ],
  [
    'deleted: not of a pod that has not started, whose time does not run yet',
    deleted,
    [{ ...PROTECTED('1h'), startedAtMs: undefined }],
    [],
  ],
  [
    'deleted, with a deadline: that, and when each pod has to be removed for it',
    limited,
    [{}, { ...PROTECTED('1h'), startedAtMs: 0 }, { deletedAtMs: 5000 }],
    [DEADLINE_MS, DEADLINE_MS - 30_000, DEADLINE_MS - 30_000, 60 * MINUTE, 5000 + MINUTE],
  ],
])('%s', (_, claim, pods, expected) => {
  const all = pods.map((each) => aPod(each));
  expect(dueTimes(aNodeClaim(claim), all)).toEqual(expected);
});
