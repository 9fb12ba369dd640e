import type { InstanceType } from '../shared/core/model/instance-type.ts';
import type { Pod } from '../shared/core/model/pod.ts';
import { GI, podOf, typeOf } from '../test/builders/scheduling.ts';

const SHAPES = 400;
const NODES = 10_000;

/** Sizes by vCPU and families by memory per vCPU, each a little dearer than the one before. */
export function priceList(count: number): readonly InstanceType[] {
  const sizes = [2, 4, 8, 16, 32, 48, 64, 96];
  return Array.from({ length: count }, (_, index) => {
    const cpu = sizes[index % sizes.length] ?? 2;
    const family = Math.floor(index / sizes.length);
    const perCpu = [2, 4, 8][family % 3] ?? 4;
    const price = cpu * (0.02 + 0.006 * perCpu) * (1 + 0.004 * family);
    return typeOf(`f${family}.${cpu}`, cpu, cpu * perCpu, price, { spot: true });
  });
}

/**
 * Pods that share the specs of 400 shapes, in the order in which a cluster's deployments mix. The
 * first `bound` of them run on `node-0` … `node-9999`.
 */
export function mixedPods(count: number, bound = 0): readonly Pod[] {
  const shapes = Array.from({ length: SHAPES }, (_, index) =>
    podOf('shape', { cpu: 100 + 50 * (index % 40), memory: ((2 + (index % 37)) * GI) / 16 }),
  );
  return Array.from({ length: count }, (_, index) => {
    const shape = shapes[(index * 7) % SHAPES] as Pod;
    const isBound = index < bound;
    return {
      ...shape,
      name: `pod-${index}`,
      uid: `uid-${String(index).padStart(7, '0')}`,
      createdAtMs: index,
      nodeName: isBound ? `node-${index % NODES}` : undefined,
      phase: isBound ? ('Running' as const) : ('Pending' as const),
      unschedulable: !isBound,
    };
  });
}
