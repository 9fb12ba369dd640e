import { describe, expect, it } from 'vitest';
import type { PodSpec } from '../../../shared/core/model/pod.ts';
import {
  type QuotaScope,
  quotaDemand,
  quotaResource,
} from '../../../shared/core/model/resource-quota.ts';
import { ofApp, termOver } from '../../builders/affinity.ts';
import { PLAIN_SPEC } from '../../builders/scheduling.ts';

const scope = (
  scopeName: string,
  operator = 'Exists',
  ...values: readonly string[]
): QuotaScope => ({
  scopeName,
  operator,
  values,
});

function demandOf(
  names: readonly string[],
  spec: Partial<PodSpec>,
  scopes: readonly QuotaScope[] = [],
) {
  const hard = Object.fromEntries(names.map((name) => [name, 10]));
  const quota = { namespace: 'default', name: 'q', hard, used: {}, scopes };
  return quotaDemand(quota, { ...PLAIN_SPEC, ...spec });
}

describe('an amount of a quota', () => {
  it.each([
    ['pods', 'pods'],
    ['count/pods', 'pods'],
    ['cpu', 'cpu'],
    ['memory', 'memory'],
    ['ephemeral-storage', 'ephemeral-storage'],
    ['hugepages-2Mi', 'hugepages-2Mi'],
    ['requests.cpu', 'cpu'],
    ['limits.memory', 'memory'],
    ['requests.nvidia.com/gpu', 'nvidia.com/gpu'],
    ['count/services', undefined],
    ['nvidia.com/gpu', undefined],
  ])('%s is of %s', (name, resource) => {
    expect(quotaResource(name)).toBe(resource);
  });

  const spec = { requests: { cpu: 500, memory: 5, gpu: 2 }, limits: { cpu: 900 } };
  it.each([
    ['pods', 1],
    ['count/pods', 1],
    ['cpu', 500],
    ['requests.cpu', 500],
    ['limits.cpu', 900],
    ['requests.gpu', 2],
    ['limits.gpu', 0],
    ['limits.memory', Number.POSITIVE_INFINITY],
    ['count/services', 0],
  ])('%s: a pod uses %s of it', (name, amount) => {
    expect(demandOf([name], spec)).toEqual({ [name]: amount });
  });
});

describe('a quota counts a pod', () => {
  const bare = { requests: { pods: 1 }, limits: {} };
  const asking = { requests: { cpu: 1 }, limits: {} };
  const limited = { requests: {}, limits: { memory: 1 } };
  const there = termOver('zone', ofApp('a'));
  const abroad = { ...there, namespaces: ['other'] };

  it.each<[string, QuotaScope, Partial<PodSpec>, boolean]>([
    ['of best effort', scope('BestEffort'), bare, true],
    ['of best effort, not one that asks', scope('BestEffort'), asking, false],
    ['of best effort, not one that is bounded', scope('BestEffort'), limited, false],
    ['of more than that', scope('NotBestEffort'), asking, true],
    ['of more than that, not one of best effort', scope('NotBestEffort'), bare, false],
    ['without a deadline', scope('NotTerminating'), bare, true],
    ['not one with a deadline', scope('Terminating'), bare, false],
    ['not by a scope that nobody knows', scope('Other'), bare, false],
    ['of a class', scope('PriorityClass', 'In', 'a'), { priorityClassName: 'a' }, true],
    ['not of another', scope('PriorityClass', 'In', 'a'), { priorityClassName: 'b' }, false],
    ['not of none', scope('PriorityClass', 'In', 'a'), {}, false],
    [
      'of others than a class',
      scope('PriorityClass', 'NotIn', 'a'),
      { priorityClassName: 'b' },
      true,
    ],
    ['not of that', scope('PriorityClass', 'NotIn', 'a'), { priorityClassName: 'a' }, false],
    ['nor of none', scope('PriorityClass', 'NotIn', 'a'), {}, true],
    ['of any class', scope('PriorityClass', 'Exists'), { priorityClassName: 'a' }, true],
    ['not without', scope('PriorityClass', 'Exists'), {}, false],
    ['of no class', scope('PriorityClass', 'DoesNotExist'), {}, true],
    ['not with one', scope('PriorityClass', 'DoesNotExist'), { priorityClassName: 'a' }, false],
    ['of its namespace alone', scope('CrossNamespacePodAffinity'), { podAffinity: [there] }, false],
    [
      'with affinity elsewhere',
      scope('CrossNamespacePodAffinity'),
      { podAffinity: [abroad] },
      true,
    ],
    [
      'with anti-affinity elsewhere',
      scope('CrossNamespacePodAffinity'),
      { podAntiAffinity: [{ ...there, namespaceSelector: ofApp('x') }] },
      true,
    ],
    [
      'that would rather be elsewhere',
      scope('CrossNamespacePodAffinity'),
      { preferredPodAffinity: [{ weight: 1, term: abroad }] },
      true,
    ],
    [
      'that would rather not',
      scope('CrossNamespacePodAffinity'),
      { preferredPodAntiAffinity: [{ weight: 1, term: abroad }] },
      true,
    ],
  ])('%s', (_, one, spec, counted) => {
    expect(demandOf(['pods'], spec, [one])).toEqual(counted ? { pods: 1 } : undefined);
  });

  it('that all scopes select', () => {
    const scopes = [scope('NotTerminating'), scope('BestEffort')];
    expect(demandOf(['pods'], bare, scopes)).toEqual({ pods: 1 });
    expect(demandOf(['pods'], asking, scopes)).toBeUndefined();
  });
});
