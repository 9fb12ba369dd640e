import { describe, expect, it } from 'vitest';
import { unplannedTaint } from '../../../shared/core/lifecycle/unplanned-taint.ts';
import type { Taint, Toleration } from '../../../shared/core/model/taint.ts';
import { aPod } from '../launch/builders.ts';

const taint = (key: string, effect: Taint['effect'] = 'NoSchedule'): Taint => ({
  key,
  value: '',
  effect,
});
const exists = (key: string): Toleration => ({
  key,
  operator: 'Exists',
  value: '',
  effect: undefined,
});
const AGENT = taint('example.com/agent');
const claim = { taints: [taint('team')], startupTaints: [taint('boot', 'NoExecute')] };

function found(taints: readonly Taint[], ...tolerations: readonly (readonly Toleration[])[]) {
  const pods = tolerations.map((each) => aPod({}, { tolerations: each }));
  return unplannedTaint(claim, { taints }, pods)?.key;
}

describe('a taint that nobody planned', () => {
  it.each<[string, readonly Taint[], string | undefined]>([
    ['none', [], undefined],
    ['one', [AGENT], 'example.com/agent'],
    ['of several the first', [taint('a'), taint('b')], 'a'],
    ['not one that keeps nobody away', [taint('a', 'PreferNoSchedule')], undefined],
    ['not the claim’s own', [taint('team'), taint('boot', 'NoExecute')], undefined],
    ['not beside the claim’s own', [taint('team'), AGENT], 'example.com/agent'],
    ['the claim’s own with another effect', [taint('team', 'NoExecute')], 'team'],
    ['not of a node that starts', [taint('node.kubernetes.io/not-ready')], undefined],
    ['not Joiner’s own', [taint('karpenter.sh/unregistered', 'NoExecute')], undefined],
    ['not of a node that is about to go', [taint('karpenter.sh/disrupted'), AGENT], undefined],
    ['not of one that is drained', [taint('node.kubernetes.io/unschedulable')], undefined],
    ['not of the cloud', [taint('node.cloudprovider.kubernetes.io/shutdown')], undefined],
    ['one that is named like those', [taint('x/node.kubernetes.io/a')], 'x/node.kubernetes.io/a'],
    [
      'one of another part of Kubernetes',
      [taint('node.x.kubernetes.io/a')],
      'node.x.kubernetes.io/a',
    ],
    ['one that only begins like a passing one', [taint('startup/after')], 'startup/after'],
  ])('is %s', (_, taints, key) => {
    expect(found(taints)).toBe(key);
  });

  it.each([
    'node.cilium.io/agent-not-ready',
    'efs.csi.aws.com/agent-notready',
    'ebs.csi.aws.com/agent-not-ready',
    'x/Uninitialized',
    'x/uninitialised',
    'x/initializing',
    'x/initialising',
    'x/startup',
  ])('is not %s: an agent takes it off', (key) => {
    expect(found([taint(key)])).toBeUndefined();
  });

  it('is one that a pod of those planned does not tolerate', () => {
    const [a, b] = [taint('a'), taint('b')];
    expect(found([a, b], [exists('a')])).toBe('b');
    expect(found([a, b], [exists('a'), exists('b')])).toBeUndefined();
    expect(found([a, b], [exists('a'), exists('b')], [exists('b')])).toBe('a');
    expect(found([a, b], [exists('')], [exists('')])).toBeUndefined();
  });
});
