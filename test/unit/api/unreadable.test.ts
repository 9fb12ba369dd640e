import { describe, expect, it } from 'vitest';
import type { Decoded } from '../../../shared/api/issue.ts';
import { decodePodDisruptionBudget } from '../../../shared/api/kubernetes/cluster.ts';
import { PodDecoder } from '../../../shared/api/kubernetes/pod.ts';
import { decodeNodeClaim } from '../../../shared/api/node-claim.ts';
import { orphanedInstances } from '../../../shared/core/lifecycle/garbage.ts';
import { FLEET } from '../../../shared/core/model/labels.ts';

function partialOf<Value>(decoded: Decoded<Value>): Value {
  if (decoded.ok || decoded.partial === undefined) throw new Error('it is not read in part');
  return decoded.partial;
}

function pod(container: object, spec: object = {}): object {
  return {
    metadata: { name: 'a', namespace: 'default', uid: 'u', labels: { app: 'web' } },
    spec: { nodeName: 'node', containers: [{ name: 'main', resources: container }], ...spec },
    status: { phase: 'Running' },
  };
}

describe('a pod of a cluster', () => {
  const huge = pod({ limits: { memory: '16Pi' }, requests: { cpu: '5', memory: '1Mi' } });

  it('may have a limit that no node has', () => {
    const decoded = new PodDecoder('cap').decode(huge);
    expect(decoded).toMatchObject({
      ok: true,
      value: { spec: { requests: { cpu: 5000, memory: 2 ** 20, pods: 1 } } },
    });
  });

  it('asks for more than any node has where the limit stands for the request', () => {
    const decoded = new PodDecoder('cap').decode(pod({ limits: { memory: '16Pi' } }));
    const memory = Number.MAX_SAFE_INTEGER;
    expect(decoded).toMatchObject({ ok: true, value: { spec: { requests: { memory } } } });
  });

  it('is refused with it in a manifest', () => {
    expect(new PodDecoder().decode(huge).ok).toBe(false);
  });

  it.each([
    ['an operator of tolerations', { tolerations: [{ key: 'a', operator: 'Ge', value: '3' }] }],
    [
      'a number that is none',
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 1,
                preference: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['2.5'] }] },
              },
            ],
          },
        },
      },
    ],
  ])('that has what is not known, %s, still fills its node', (_, spec) => {
    const partial = partialOf(new PodDecoder('cap').decode(pod({ requests: { cpu: '1' } }, spec)));
    expect(partial).toMatchObject({ name: 'a', nodeName: 'node', labels: { app: 'web' } });
    expect(partial.spec.requests['pods']).toBe(Number.MAX_SAFE_INTEGER);
    expect(partial.spec.unreadable).toMatch(/^spec\./);
  });

  it('is guarded by a budget that cannot be read in full', () => {
    const selector = { matchLabels: { app: 'web' } };
    const spec = { selector, minAvailable: 'half' };
    const budget = partialOf(decodePodDisruptionBudget({ metadata: { name: 'b' }, spec }));
    expect(budget).toMatchObject({ disruptionsAllowed: 0, selector });
  });
});

describe('a NodeClaim of a cluster', () => {
  const spec = {
    requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }],
    nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
    expireAfter: '720h',
    terminationGracePeriod: '1h',
  };
  const status = { providerID: 'aws:///us-east-1a/i-1', nodeName: 'node' };
  const claim = (changes: object, more: object = {}) => ({
    metadata: { name: 'c', uid: 'u', labels: { 'karpenter.sh/nodepool': 'p' } },
    spec: { ...spec, ...changes },
    status: { ...status, ...more },
  });
  const key = 'karpenter.k8s.aws/instance-of-next-year';

  it.each([
    ['a label of a newer version', { requirements: [{ key, operator: 'Exists' }] }],
    ['an operator of a newer version', { requirements: [{ key: 'a', operator: 'Near' }] }],
    ['a duration of a newer version', { expireAfter: '30d' }],
    ['requirements that are no list', { requirements: 'none' }],
    ['no class', { nodeClassRef: null }],
  ])('with %s keeps its instance', (_, changes) => {
    const partial = partialOf(decodeNodeClaim(claim(changes), 'ignore'));
    expect(partial).toMatchObject({ name: 'c', uid: 'u', providerId: status.providerID });
    expect(partial.unreadable).toMatch(/^spec\./);
    const instance = { id: 'i-1', launchedAtMs: 0, state: 'running', tags: { [FLEET]: 'f' } };
    expect(orphanedInstances([instance], [partial], 1e12)).toEqual([]);
  });

  it('keeps what can be read, and does not expire for what cannot', () => {
    const partial = partialOf(decodeNodeClaim(claim({ expireAfter: '30d' }), 'ignore'));
    expect(partial).toMatchObject({
      expireAfter: 'Never',
      terminationGracePeriodMs: 3_600_000,
      nodeClassRef: spec.nodeClassRef,
      requirements: [{ key: 'kubernetes.io/arch' }],
    });
  });

  it('with an amount below 0 in its status has the others', () => {
    const allocatable = { cpu: '2', 'example.com/x': '-1' };
    const partial = partialOf(decodeNodeClaim(claim({}, { allocatable }), 'ignore'));
    expect(partial.allocatable).toEqual({ cpu: 2000 });
    expect(partial.unreadable).toBeUndefined();
  });
});
