import { describe, expect, it } from 'vitest';
import { remediesOf } from '../../../cli/explain/remedies.ts';
import { REASONS } from '../../../shared/core/explain/definitions.ts';
import { reason } from '../../../shared/core/explain/reason.ts';

function stage(code: string, after: number) {
  return { code, parameters: {}, what: code, before: 9, after };
}

const unplaced = (...stages: readonly ReturnType<typeof stage>[]) =>
  reason('pod-unplaced', { nodePools: [{ nodePool: 'web', stages }], existingNodes: 0 });

describe('what a person can do', () => {
  it('is the remedy of each reason, once', () => {
    const gated = reason('pod-gated', {});
    expect(remediesOf([gated, gated])).toEqual([
      { code: 'pod-gated', remedy: REASONS['pod-gated'].remedy },
    ]);
  });

  it('is, for a pod without a node, that of the stages that left no instance type', () => {
    const why = unplaced(stage('node-affinity', 3), stage('limits-reached', 0));
    expect(remediesOf([why]).map(({ code }) => code)).toEqual(['limits-reached']);
  });

  it('is that of the pod where no stage is an obstacle', () => {
    expect(remediesOf([unplaced()]).map(({ code }) => code)).toEqual(['pod-unplaced']);
  });

  it('is left out where nobody has to do anything', () => {
    const right = reason('node-fallback', {});
    expect(REASONS[right.code].remedy).toBe('Nothing.');
    expect(remediesOf([right])).toEqual([]);
  });
});
