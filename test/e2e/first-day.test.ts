import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { property } from '../../shared/kube/list.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { type ClosedLoop, describeClosedLoop, runningPods } from '../support/closed-loop/world.ts';

/** When the objects say that they became Ready, and when the claims were made, in milliseconds. */
async function times(loop: ClosedLoop) {
  const [theClass] = await loop.list(RESOURCES.nodeClasses);
  const conditions = property(property(theClass, 'status'), 'conditions');
  const ready = Array.isArray(conditions)
    ? conditions.find((each) => property(each, 'type') === 'Ready')
    : undefined;
  const claims = await loop.list(RESOURCES.nodeClaims);
  const made = claims.map((each) =>
    Date.parse(String(property(property(each, 'metadata'), 'creationTimestamp'))),
  );
  return { readyAtMs: Date.parse(String(property(ready, 'lastTransitionTime'))), made };
}

await describeClosedLoop(
  'the first day on AWS as it is',
  (loop) => {
    it('a new class has its first node by events alone, and nothing is barred', async () => {
      await loop.apply([nodeClass, nodePool('general', []), deployment('web', 2, '500m')]);
      const startMs = performance.now();
      await loop.untilByEvents('the pods run', async () => (await runningPods(loop, 'web')) === 2);
      const tookMs = performance.now() - startMs;
      const { readyAtMs, made } = await times(loop);
      // Kubernetes writes times in whole seconds.
      expect(Math.min(...made) - readyAtMs).toBeLessThanOrEqual(3_000 + 1_000);
      expect(made).toHaveLength(1);
      // EC2 knows the profile after 10 s, and the tries come 5, 15 and 25 s after the first.
      expect(tookMs).toBeLessThan(45_000);
      const fleets = loop.cloud.server.callsOf('CreateFleet').length;
      expect(fleets).toBeGreaterThan(1);
      expect(fleets).toBeLessThanOrEqual(4);
      const barred = loop.cloud.bucket.objects.get('shared/us-east-1/unavailable/demo.json');
      expect(barred).toBeUndefined();
    });
  },
  { aws: { seed: 1 } },
);
