import { expect } from 'vitest';
import { RESOURCES } from '../../../shared/api/resources.ts';
import { property, text } from '../../../shared/kube/list.ts';
import { deployment, nodeClass, nodePool } from '../closed-loop/manifests.ts';
import {
  claimsOf,
  conditionOf,
  isDeleting,
  nameOf,
  runningPods,
} from '../closed-loop/questions.ts';
import type { ClosedLoop } from '../closed-loop/world.ts';

/**
 * What a cluster of Karpenter may look like when somebody comes to adopt it, pool by pool:
 *
 * - `web`: two on-demand nodes with a pod each.
 * - `spot`: a spot node.
 * - `outdated`: a node that has drifted, which a budget keeps.
 * - `moving`: a node that has drifted and waits for its replacement, which does not join.
 * - `leaving`: a node whose claim was deleted and whose pod may not be evicted.
 */
export const POOLS = ['web', 'spot', 'outdated', 'moving', 'leaving'] as const;

/** Pods of an app, one a node, on nodes of the pool of the same name. */
function app(name: string, replicas: number, annotations = {}): object {
  const labelSelector = { matchLabels: { app: name } };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  const made = deployment(name, replicas, '1', {
    nodeSelector: { 'karpenter.sh/nodepool': name },
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
  });
  const { template } = made.spec;
  const metadata = { ...template.metadata, annotations };
  return { ...made, spec: { ...made.spec, template: { ...template, metadata } } };
}

/** A pool whose nodes stay while a budget of `nodes` keeps them. */
function pool(name: string, capacityType: string, nodes: string, labels = {}) {
  const requirements = [
    { key: 'karpenter.sh/capacity-type', operator: 'In', values: [capacityType] },
    { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a'] },
    {
      key: 'karpenter.k8s.aws/instance-size',
      operator: 'In',
      values: ['large', 'xlarge', '2xlarge'],
    },
  ];
  const made = nodePool(name, requirements);
  const template = { ...made.spec.template, metadata: { labels } };
  const disruption = {
    consolidationPolicy: 'WhenEmpty',
    consolidateAfter: 'Never',
    budgets: [{ nodes }],
  };
  return { ...made, spec: { ...made.spec, template, disruption } };
}

const KEEP = { 'karpenter.sh/do-not-disrupt': 'true' };

export const APPS: readonly object[] = [
  app('web', 2),
  app('spot', 1),
  app('outdated', 1),
  app('moving', 1),
  app('leaving', 1, KEEP),
];
/** Pods of {@link APPS}. */
export const PODS = 6;

/** The pools as they are at first; those of the drifted nodes change afterwards. */
const FIRST_POOLS = POOLS.map((name) => pool(name, name === 'spot' ? 'spot' : 'on-demand', '0'));
export const CHANGED_POOLS = [
  pool('outdated', 'on-demand', '0', { generation: 'second' }),
  pool('moving', 'on-demand', '1', { generation: 'second' }),
];

const PATIENCE = { timeout: 90_000, interval: 500 };

/** Has a Karpenter that runs in the loop bring all of that about. */
export async function bringAbout(loop: ClosedLoop): Promise<void> {
  await loop.apply([nodeClass, ...FIRST_POOLS, ...APPS]);
  await expect.poll(() => runningPods(loop), PATIENCE).toBeGreaterThanOrEqual(PODS);
  const initialized = async (): Promise<number> => {
    const claims = await claimsOf(loop);
    return claims.filter((each) => conditionOf(each, 'Initialized')?.status === 'True').length;
  };
  await expect.poll(initialized, PATIENCE).toBe(PODS);
  loop.joining.joins = () => false;
  await loop.apply(CHANGED_POOLS);
  const [leaving] = await claimsOf(loop, 'leaving');
  await loop.admin().delete(RESOURCES.nodeClaims, { name: nameOf(leaving) }, {});
  const states = async (): Promise<Readonly<Record<string, unknown>>> => {
    const [outdated] = await claimsOf(loop, 'outdated');
    const moving = await claimsOf(loop, 'moving');
    const [gone] = await claimsOf(loop, 'leaving');
    return {
      outdated: conditionOf(outdated, 'Drifted')?.reason,
      disrupted: moving.map((each) => conditionOf(each, 'DisruptionReason')?.status).sort(),
      launched: moving.filter((each) => text(property(property(each, 'status'), 'providerID')))
        .length,
      leaving: isDeleting(gone) && conditionOf(gone, 'Drained')?.status,
    };
  };
  await expect.poll(states, PATIENCE).toEqual({
    outdated: 'NodePoolDrifted',
    disrupted: ['True', undefined],
    launched: 2,
    leaving: 'Unknown',
  });
}
