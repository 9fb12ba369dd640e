import { describe, expect, it } from 'vitest';
import {
  hasUsageGuard,
  isByUsage,
  type MeteredUsage,
  overUsage,
  usageGuardOf,
  usageUnknown,
} from '../../../../shared/core/disruption/consolidation/usage-guard.ts';
import { isReason, reason, sentence } from '../../../../shared/core/explain/reason.ts';
import { USAGE_GUARD } from '../../../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../../../shared/core/model/pod.ts';
import type { Resources } from '../../../../shared/core/model/resources.ts';
import { GI, podOf, poolOf } from '../../../builders/scheduling.ts';

const guarded = (text: string) => poolOf('general', { annotations: { [USAGE_GUARD]: text } });

describe('the guard on usage', () => {
  it.each([
    ['cpu=0.8', { cpu: 0.8 }],
    ['cpu=0.8,memory=0.9', { cpu: 0.8, memory: 0.9 }],
    [' memory=1 ', { memory: 1 }],
  ])('%j is read', (text, expected) => {
    const guard = usageGuardOf(guarded(text));
    expect(isReason(guard) ? guard : Object.fromEntries(guard)).toEqual(expected);
    expect(hasUsageGuard(guarded(text))).toBe(true);
  });

  it('is none without the annotation', () => {
    expect(usageGuardOf(poolOf('general'))).toEqual(new Map());
    expect(hasUsageGuard(poolOf('general'))).toBe(false);
  });

  it.each(['', 'cpu', 'cpu=80', 'cpu=1.01', 'cpu=0', 'cpu=80%', 'pods=0.5', 'nvidia.com/gpu=1'])(
    '"%s" is refused',
    (text) => {
      const message = `Annotation joiner.dev/usage-guard: "${text}" is invalid; example: cpu=0.8,memory=0.9`;
      const guard = usageGuardOf(guarded(text));
      expect(isReason(guard) && sentence(guard)).toBe(message);
      expect(hasUsageGuard(guarded(text))).toBe(false);
      const nothing = { node: 'n', allocatable: { cpu: 1 }, pods: [] };
      expect(overUsage(guarded(text), nothing, undefined)).toEqual(guard);
    },
  );
});

const allocatable = { cpu: 2000, memory: 8 * GI };

/** A pod that requests 500 milli-cores and 1 GiB. */
const pod = (name: string, rest: Partial<Pod> = {}) =>
  podOf(name, { cpu: 500, memory: GI, limits: { cpu: 9000 } }, rest);

const using = (...samples: readonly (readonly [Pod, Resources])[]): MeteredUsage => ({
  kind: 'metered',
  pods: new Map(samples.map(([of, used]) => [podKey(of), used])),
});

const over = (text: string, pods: readonly Pod[], usage?: MeteredUsage, daemons?: Resources) =>
  overUsage(
    guarded(text),
    { node: 'node-1', allocatable, pods, ...(daemons && { daemons }) },
    usage,
  );

describe('pods on a node', () => {
  const [a, b] = [pod('a'), pod('b')];
  const busy = using([a, { cpu: 900, memory: GI }], [b, { cpu: 701, memory: 6 * GI }]);
  const cpu = (percent: string, allowed = '80') =>
    reason('guard-usage', {
      nodePool: 'general',
      resource: 'cpu',
      node: 'node-1',
      percent,
      allowed,
    });

  it.each([
    ['cpu=0.8', cpu('81')],
    ['cpu=0.805', undefined],
    ['cpu=0.755', cpu('81', '75.5')],
    ['memory=0.875', undefined],
    ['memory=0.87', expect.objectContaining({ code: 'guard-usage' })],
    ['cpu=0.9,memory=0.9', undefined],
  ])('with %s by what they use, not by what they request', (text, expected) => {
    expect(over(text, [a, b], busy)).toEqual(expected);
  });

  it('say so', () => {
    const found = over('memory=0.5', [a, b], busy);
    expect(found && sentence(found)).toBe(
      'The pods on node-1 would use 88 % of its memory; NodePool general allows 50 %',
    );
  });

  it('that have no sample count as they request', () => {
    const half = using([a, { cpu: 1100, memory: 0 }]);
    expect(over('cpu=0.8', [a, b], half)).toBeUndefined();
    expect(over('cpu=0.79', [a, b], half)).toEqual(cpu('80', '79'));
    expect(over('cpu=0.24', [a], using())).toEqual(cpu('25', '24'));
  });

  it('of another namespace have samples of their own', () => {
    const other = pod('a', { namespace: 'other' });
    expect(over('cpu=0.3', [other], using([a, { cpu: 1900, memory: 0 }]))).toBeUndefined();
  });

  it('that are over do not count', () => {
    for (const phase of ['Succeeded', 'Failed'] as const) {
      const ended = pod('b', { phase });
      expect(over('cpu=0.45', [a, ended], busy)).toBeUndefined();
    }
    expect(over('cpu=0.45', [a, b], busy)).toBeDefined();
  });

  it('count together with the DaemonSets of a node that is new', () => {
    expect(over('cpu=0.5', [a], busy, { cpu: 100 })).toBeUndefined();
    expect(over('cpu=0.5', [a], busy, { cpu: 101 })).toEqual(cpu('51', '50'));
  });
});

describe('where nobody knows what pods use', () => {
  const missing: MeteredUsage = { kind: 'missing', why: 'metrics.k8s.io is not served' };

  it('nothing is moved to nodes of a pool with a guard', () => {
    const found = over('cpu=0.8', [], missing);
    expect(found).toEqual(usageUnknown(poolOf('general'), 'metrics.k8s.io is not served'));
    expect(found && sentence(found)).toBe(
      'joiner.dev/usage-guard of NodePool general needs the usage of pods, which cannot be read: ' +
        'metrics.k8s.io is not served',
    );
    expect(over('cpu=0.8', [])).toMatchObject({ code: 'guard-usage-unknown' });
  });

  it('nothing changes for a pool without one', () => {
    const full = { node: 'n', allocatable: {}, pods: [pod('a')] };
    expect(overUsage(poolOf('general'), full, missing)).toBeUndefined();
    expect(overUsage(poolOf('general'), full, undefined)).toBeUndefined();
  });
});

it('a refusal is by usage where nothing but that has to change', () => {
  const usage = using([pod('a'), { cpu: 1900, memory: 0 }]);
  const found = [over('cpu=0.5', [pod('a')], usage), over('cpu=0.5', []), over('cpu=5', [])];
  expect(found.map((each) => each && isByUsage(each))).toEqual([true, true, false]);
});
