import { describe, expect, it } from 'vitest';
import { PLANNED_PODS } from '../../../shared/core/model/labels.ts';
import {
  isPending,
  isWaiting,
  plannedPods,
  plannedPodsText,
} from '../../../shared/core/nomination/planned-pods.ts';
import { aPod } from '../launch/builders.ts';

function uid(at: number): string {
  return `0f0e9d3c-0000-4000-8000-${String(at).padStart(12, '0')}`;
}

describe('the pods that a claim was planned for', () => {
  it('are read as they were written', () => {
    const uids = [uid(1), uid(2), uid(3)];
    const text = plannedPodsText(uids) ?? '';
    expect(plannedPods({ annotations: { [PLANNED_PODS]: text } })).toEqual(uids);
  });

  it('are none without the annotation, and there is none without pods', () => {
    expect(plannedPods({ annotations: {} })).toEqual([]);
    expect(plannedPodsText([])).toBeUndefined();
  });

  it('are all that any node takes, and never more than 32 KiB', () => {
    const text = plannedPodsText(Array.from({ length: 2000 }, (_, at) => uid(at))) ?? '';
    expect(text.length).toBeLessThanOrEqual(32 * 1024);
    const read = plannedPods({ annotations: { [PLANNED_PODS]: text } });
    expect(read).toHaveLength(885);
    expect(read.at(-1)).toBe(uid(884));
    const most = 'x'.repeat(32 * 1024);
    expect(plannedPodsText([most])).toBe(most);
    expect(plannedPodsText([`${most}x`])).toBeUndefined();
  });
});

it.each([
  ['that waits', { phase: 'Pending' }, true],
  ['with a node', { phase: 'Pending', nodeName: 'n' }, false],
  ['that is over', { phase: 'Failed' }, false],
  ['on its way out', { phase: 'Pending', deletedAtMs: 1 }, false],
] as const)('a pod %s is pending: %s', (_, rest, expected) => {
  expect(isPending(aPod({ nodeName: undefined, ...rest }))).toBe(expected);
});

it.each([
  ['that kube-scheduler found no node for', { unschedulable: true }, true],
  ['that it has not looked at', { unschedulable: false }, false],
  ['with a node', { unschedulable: true, nodeName: 'n' }, false],
] as const)('a pod %s waits: %s', (_, rest, expected) => {
  expect(isWaiting(aPod({ nodeName: undefined, phase: 'Pending', ...rest }))).toBe(expected);
});
