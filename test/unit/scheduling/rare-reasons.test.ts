import { describe, expect, it } from 'vitest';
import type { Reason } from '../../../shared/core/explain/reason.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { Reasons } from '../../../shared/core/scheduling/plan/reasons.ts';
import { unplaced } from '../../../shared/core/scheduling/solve.ts';
import { planOf, podOf, podsOf, poolOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

const { stepsMax } = DEFAULT_SCHEDULING_SETTINGS;

/** Codes of what leaves nothing. */
function codesOf(reasons: readonly Reason[]): readonly string[] {
  return reasons.flatMap((why) =>
    why.code === 'pod-unplaced'
      ? why.parameters.nodePools.flatMap(({ stages }) =>
          stages.filter(({ after }) => after === 0).map(({ code }) => code),
        )
      : [why.code],
  );
}

/** The type in one reservation, with room for this many instances. */
function reserved(type: InstanceType, capacity: number): InstanceType {
  const [first] = type.offerings;
  const reservation = { id: 'cr-1', type: 'default', capacity } as const;
  const offering = first && { ...first, capacityType: 'reserved' as const, reservation };
  return { ...type, offerings: offering ? [offering] : [] };
}

const port = { ip: '', port: 8080, protocol: 'TCP' };

it('limits of some types and reservations of the others are one reason', () => {
  const types = [reserved(typeOf('m.large', 2, 8, 0.1), 1), typeOf('m.xlarge', 4, 16, 0.2)];
  const parts = { types, pods: podsOf(2, 'web', { cpu: 1500, hostPorts: [port] }) };
  const found = (cpu: number) =>
    [...planOf({ ...parts, nodePools: [poolOf('general', { limits: { cpu } })] }).unplaced].map(
      ([, { reasons }]) => codesOf(reasons),
    );
  expect(found(5000)).toEqual([['limits-or-reservations-reached']]);
  expect(found(3000)).toEqual([['limits-reached']]);
  expect(found(6000)).toEqual([]);
});

describe('a pod that a NodePool has an instance type for', () => {
  const snapshot = snapshotOf({ types: [typeOf('m.large', 2, 8, 0.1)], pods: [podOf('web')] });

  /** Why the pod has no place in a plan that took so many steps. */
  function reasonAfter(steps: number): readonly string[] {
    const state = unplaced(snapshot, DEFAULT_SCHEDULING_SETTINGS);
    state.steps = steps;
    const reasons = new Reasons(state, snapshot);
    return state.context.problem.classes.flatMap((each) => codesOf(reasons.of(each).reasons));
  }

  it.each([
    ['is left over beside the pods that it needs', 0, 'room-beside-other-pods'],
    ['is left over at the last step', stepsMax, 'room-beside-other-pods'],
    ['is left over after the last step', stepsMax + 1, 'steps-used-up'],
  ])('%s', (_, steps, code) => {
    expect(reasonAfter(steps)).toEqual([code]);
  });
});
