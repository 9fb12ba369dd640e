import { expect, it } from 'vitest';
import { PodSpecReader } from '../../../../shared/api/kubernetes/pod-spec.ts';
import { decodeResourceQuota } from '../../../../shared/api/kubernetes/resource-quota.ts';
import { bufferPods, bufferSizes } from '../../../../shared/app/planning/capacity-buffers.ts';
import type { ResourceQuota } from '../../../../shared/core/model/resource-quota.ts';
import type { CapacityBuffer } from '../../../../shared/ports.ts';
import { bufferOf } from '../../../builders/capacity-buffers.ts';

const POD = {
  priorityClassName: 'batch',
  containers: [
    {
      resources: {
        requests: { cpu: '500m', memory: '1Gi' },
        limits: { memory: '2Gi', 'nvidia.com/gpu': 1 },
      },
    },
  ],
};

function quotaOf(spec: object, used?: object, namespace = 'team'): ResourceQuota {
  const status = used === undefined ? {} : { status: { ...spec, used } };
  const decoded = decodeResourceQuota({ metadata: { name: 'most', namespace }, spec, ...status });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value;
}

function buffer(name: string, replicas: number, podSpec: object = POD): CapacityBuffer {
  const { spec } = new PodSpecReader().read(podSpec, 'spec');
  const target = {
    kind: 'resolved',
    podTemplate: 'slot',
    podTemplateGeneration: 1,
    podLabels: {},
    podSpec: spec,
    workloadReplicas: undefined,
  } as const;
  return { ...bufferOf(name, target), replicas };
}

function sizes(capacityBuffers: readonly CapacityBuffer[], ...resourceQuotas: ResourceQuota[]) {
  const state = { capacityBuffers, resourceQuotas };
  const said = bufferSizes(state).map(({ replicas }) => replicas);
  expect(bufferPods(state)).toHaveLength(said.reduce((sum, each) => sum + each, 0));
  return said;
}

it.each<[string, object, object | undefined, number]>([
  ['pods', { hard: { pods: '4' } }, { pods: '1' }, 3],
  ['count/pods', { hard: { 'count/pods': '4' } }, undefined, 4],
  ['cpu', { hard: { cpu: '2' } }, { cpu: '500m' }, 3],
  ['requests.memory', { hard: { 'requests.memory': '10Gi' } }, { 'requests.memory': '5Gi' }, 5],
  ['limits.memory', { hard: { 'limits.memory': '10Gi' } }, {}, 5],
  ['a device', { hard: { 'requests.nvidia.com/gpu': 2 } }, {}, 2],
  ['the scarcest', { hard: { pods: 8, cpu: '1' } }, {}, 2],
  ['what is used beyond', { hard: { pods: 2 } }, { pods: 5 }, 0],
  ['what the template does not say', { hard: { 'limits.cpu': '64' } }, {}, 0],
  ['nothing of pods', { hard: { services: '0', 'requests.storage': '1Gi' } }, {}, 10],
  ['pods of its class', { hard: { pods: 3 }, scopeSelector: selecting('In') }, {}, 3],
  ['pods of other classes', { hard: { pods: 3 }, scopeSelector: selecting('NotIn') }, {}, 10],
  ['best effort', { hard: { pods: 3 }, scopes: ['BestEffort'] }, {}, 10],
  ['pods that ask for something', { hard: { pods: 3 }, scopes: ['NotBestEffort'] }, {}, 3],
  ['pods with a deadline', { hard: { pods: 3 }, scopes: ['Terminating'] }, {}, 10],
])('a ResourceQuota of %s bounds a CapacityBuffer of ten', (_, spec, used, replicas) => {
  expect(sizes([buffer('a', 10)], quotaOf(spec, used))).toEqual([replicas]);
});

function selecting(operator: string) {
  return { matchExpressions: [{ scopeName: 'PriorityClass', operator, values: ['batch'] }] };
}

it('buffers of a namespace share its quota in the order of their names', () => {
  const quota = quotaOf({ hard: { pods: 5 } });
  expect(sizes([buffer('b', 3), buffer('a', 4)], quota)).toEqual([4, 1]);
  expect(sizes([buffer('a', 4), buffer('b', 3)], quota)).toEqual([4, 1]);
});

it('a quota of another namespace bounds nothing', () => {
  expect(sizes([buffer('a', 4)], quotaOf({ hard: { pods: 0 } }, {}, 'other'))).toEqual([4]);
});

it('replicas are told apart from pods of a StatefulSet with the name of a buffer', () => {
  const pods = bufferPods({ capacityBuffers: [buffer('web', 1)], resourceQuotas: [] });
  expect(pods.map(({ name }) => name)).not.toContain('web-buffer-0');
});

it.each([
  [10, 25, 3],
  [1, 5, 1],
  [10, 0, 0],
  [0, 25, 0],
])(
  'a workload of %i pods and %i percent: %i replicas',
  (workloadReplicas, percentage, replicas) => {
    const one = buffer('a', 0);
    if (one.target.kind !== 'resolved') throw new Error('not resolved');
    const target = { ...one.target, workloadReplicas };
    const capacityBuffers = [{ ...one, replicas: undefined, percentage, target }];
    expect(bufferSizes({ capacityBuffers, resourceQuotas: [] })).toMatchObject([{ replicas }]);
  },
);
