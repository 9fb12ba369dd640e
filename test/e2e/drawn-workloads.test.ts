import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { nameOf } from '../support/closed-loop/questions.ts';
import { type ClosedLoop, describeClosedLoop, runningPods } from '../support/closed-loop/world.ts';
import { drawnWorkloads } from '../support/drawn-workloads.ts';

/** `JOINER_DRAWN=40` for a night. */
const SEEDS = Number(process.env['JOINER_DRAWN'] ?? 3);
const DEPLOYMENTS = 8;
const MINUTES_MAX = 10;

const families = {
  key: 'karpenter.k8s.aws/instance-family',
  operator: 'In',
  values: ['c6a', 'm6a', 'c7g', 'm7g'],
};
const capacity = {
  key: 'karpenter.sh/capacity-type',
  operator: 'In',
  values: ['spot', 'on-demand'],
};
const never = { disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' } };
const general = nodePool('general', [families, capacity], never);
const dedicated = nodePool('dedicated', [families, capacity], never);
const ml = {
  ...dedicated,
  spec: {
    ...dedicated.spec,
    template: {
      metadata: { labels: { team: 'ml' } },
      spec: {
        ...dedicated.spec.template.spec,
        taints: [{ key: 'team', value: 'ml', effect: 'NoSchedule' }],
      },
    },
  },
};

async function removeAll(loop: ClosedLoop): Promise<void> {
  for (const each of await loop.list(RESOURCES.deployments)) {
    const address = { namespace: 'default', name: nameOf(each) };
    await loop.admin().delete(RESOURCES.deployments, address, {});
  }
  await loop.until('no pod is left', async () => (await loop.list(RESOURCES.pods)).length === 0);
}

/**
 * Nodes stay from one seed to the next, so that plans begin with what others have left. A pod that
 * a plan and kube-scheduler place differently would wait for ever, or have nodes without end.
 */
await describeClosedLoop('drawn workloads on a real control plane', (loop) => {
  it('there are NodePools', async () => {
    await loop.apply([nodeClass, general, ml]);
    await loop.invoke('nodeclass');
  });

  it.each(Array.from({ length: SEEDS }, (_, at) => at + 1))(
    'seed %i: every pod runs, and there are no more launches than pods',
    async (seed) => {
      const { objects, pods } = drawnWorkloads(seed, DEPLOYMENTS);
      const before = (await loop.list(RESOURCES.nodeClaims)).length;
      await loop.apply(objects);
      await loop.until('all pods run', async () => (await runningPods(loop)) === pods);
      const launched = (await loop.list(RESOURCES.nodeClaims)).length - before;
      expect(launched).toBeLessThanOrEqual(pods);
      await removeAll(loop);
    },
    MINUTES_MAX * 60_000,
  );
});
