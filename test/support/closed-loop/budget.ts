import { expect } from 'vitest';
import { RESOURCES } from '../../../shared/api/resources.ts';
import { property } from '../../../shared/kube/list.ts';
import type { ClosedLoop } from './world.ts';

/**
 * A PodDisruptionBudget that lets none of an app's pods be evicted, once its controller has counted
 * them; returns what takes it away.
 */
export async function forbidEvictions(
  loop: ClosedLoop,
  app: string,
  pods: number,
): Promise<() => Promise<unknown>> {
  const address = { namespace: 'default', name: app };
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: address,
    spec: { maxUnavailable: 0, selector: { matchLabels: { app } } },
  };
  await loop.apply([budget]);
  const expectedPods = async (): Promise<unknown> => {
    const read = await loop.admin().get(RESOURCES.podDisruptionBudgets, address);
    return property(property(read, 'status'), 'expectedPods');
  };
  await expect.poll(expectedPods).toBe(pods);
  return () => loop.admin().delete(RESOURCES.podDisruptionBudgets, address, {});
}
