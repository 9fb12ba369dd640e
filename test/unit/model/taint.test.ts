import { describe, expect, it } from 'vitest';
import {
  DISRUPTED,
  isDisrupted,
  isEphemeralTaint,
  isStartingTaint,
  type Taint,
  type Toleration,
  tolerates,
  untoleratedTaint,
} from '../../../shared/core/model/taint.ts';

const taint = (key: string, value = '', effect: Taint['effect'] = 'NoSchedule'): Taint => ({
  key,
  value,
  effect,
});
const toleration = (rest: Partial<Toleration>): Toleration => ({
  key: '',
  operator: 'Exists',
  value: '',
  effect: undefined,
  ...rest,
});

describe('a toleration', () => {
  const ours = taint('team', 'web');
  it.each<[string, Partial<Toleration>, boolean]>([
    ['of everything', {}, true],
    ['of every key with the effect', { effect: 'NoSchedule' }, true],
    ['of every key with another effect', { effect: 'NoExecute' }, false],
    ['of the key', { key: 'team' }, true],
    ['of another key', { key: 'tier' }, false],
    ['of the value', { key: 'team', operator: 'Equal', value: 'web' }, true],
    ['of another value', { key: 'team', operator: 'Equal', value: 'db' }, false],
    ['of the value of another key', { key: 'tier', operator: 'Equal', value: 'web' }, false],
    ['of a value without a key', { operator: 'Equal', value: 'web' }, false],
  ])('%s', (_, rest, expected) => {
    expect(tolerates(toleration(rest), ours)).toBe(expected);
  });

  it.each<[string, 'Gt' | 'Lt', string, boolean]>([
    ['950', 'Gt', '900', true],
    ['950', 'Gt', '950', false],
    ['950', 'Lt', '1000', true],
    ['-5', 'Lt', '0', true],
    ['-5', 'Gt', '0', false],
    ['9223372036854775807', 'Gt', '9223372036854775806', true],
    ['9223372036854775808', 'Gt', '0', false],
    ['0950', 'Gt', '900', false],
    ['9.5', 'Gt', '9', false],
    ['gold', 'Gt', '1', false],
    ['950', 'Gt', '', false],
  ])('a taint of %s, %s %s: %s', (value, operator, own, expected) => {
    const each = toleration({ key: 'sla', operator, value: own });
    expect(tolerates(each, taint('sla', value))).toBe(expected);
    expect(tolerates({ ...each, key: '' }, taint('sla', value))).toBe(false);
  });
});

describe('a taint', () => {
  it.each([
    ['node.kubernetes.io/not-ready', true, true],
    ['node.kubernetes.io/unreachable', true, true],
    ['node.cloudprovider.kubernetes.io/uninitialized', true, true],
    ['karpenter.sh/unregistered', false, true],
    ['readiness.k8s.io/gpu', false, true],
    ['x/readiness.k8s.io/gpu', false, false],
    ['team', false, false],
  ])('%s is of a node that starts %s, goes by itself %s', (key, starting, ephemeral) => {
    expect(isStartingTaint(taint(key))).toBe(starting);
    expect(isEphemeralTaint(taint(key))).toBe(ephemeral);
  });

  it('says that a node is about to go, whatever its value and effect', () => {
    expect(isDisrupted({ taints: [taint('a'), DISRUPTED] })).toBe(true);
    expect(isDisrupted({ taints: [taint('karpenter.sh/disrupted', 'x', 'NoExecute')] })).toBe(true);
    expect(isDisrupted({ taints: [taint('a')] })).toBe(false);
  });

  it('keeps a pod away that does not tolerate it: the first of several', () => {
    const taints = [taint('soft', '', 'PreferNoSchedule'), taint('a'), taint('b', '', 'NoExecute')];
    expect(untoleratedTaint([], taints)?.key).toBe('a');
    expect(untoleratedTaint([toleration({ key: 'a' })], taints)?.key).toBe('b');
    expect(untoleratedTaint([toleration({ key: 'a' }), toleration({ key: 'b' })], taints)).toBe(
      undefined,
    );
  });
});
