import { expect, it } from 'vitest';
import { PodSpecReader } from '../../../shared/api/kubernetes/pod-spec.ts';

function cpuOf(resources: object, container: object): number | undefined {
  const spec = { resources, containers: [{ name: 'main', resources: container }] };
  return new PodSpecReader().read(spec, 'spec').spec.requests['cpu'];
}

const limits = { cpu: 4 };

it.each<[string, object, object, number]>([
  ['its request', { requests: { cpu: 2 }, limits }, { requests: { cpu: 1 } }, 2000],
  ['what its containers request, before its limit', { limits }, { requests: { cpu: 1 } }, 1000],
  ['the limits of its containers, before its own', { limits }, { limits: { cpu: 3 } }, 3000],
  ['its limit, where no container requests any', { limits }, { requests: { memory: 1 } }, 4000],
])('the template of a pod with resources of its own takes %s', (_, ofPod, container, cpu) => {
  expect(cpuOf(ofPod, container)).toBe(cpu);
});

it('the limits of a pod are those of its sidecars too, or its own', () => {
  const limitsOf = (spec: object) => new PodSpecReader().read(spec, 'spec').spec.limits;
  const limited = (name: string, cpu: number) => ({ name, resources: { limits: { cpu } } });
  const containers = [limited('main', 1)];
  const initContainers = [{ ...limited('proxy', 2), restartPolicy: 'Always' }, limited('first', 1)];
  expect(limitsOf({ containers, initContainers })).toEqual({ cpu: 3000 });
  expect(limitsOf({ containers, resources: { limits } })).toEqual({ cpu: 4000 });
  expect(limitsOf({ containers: [{ name: 'main' }], resources: { limits } })).toEqual({
    cpu: 4000,
  });
});
