import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { apart, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { claimsOf, conditionOf, nameOf } from '../support/closed-loop/questions.ts';
import { describeClosedLoop, liveInstances } from '../support/closed-loop/world.ts';

const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
];

await describeClosedLoop('an EC2NodeClass that is deleted', (loop) => {
  it('goes with the last of its claims, by what watch says and no schedule', async () => {
    await loop.apply([nodeClass, nodePool('general', requirements), apart('general', 1)]);
    await loop.until('its node is ready', async () => {
      const claims = await claimsOf(loop, 'general');
      return claims.some((claim) => conditionOf(claim, 'Initialized')?.status === 'True');
    });
    await loop.admin().delete(RESOURCES.nodeClasses, { name: nameOf(nodeClass) }, {});
    await loop.invoke('nodeclass');
    expect(await loop.list(RESOURCES.nodeClasses)).toHaveLength(1);
    let isAsked = false;
    await loop.untilByEvents('the class is gone', async () => {
      const claims = await claimsOf(loop, 'general');
      if (!isAsked) {
        isAsked = true;
        for (const claim of claims) {
          await loop.admin().delete(RESOURCES.nodeClaims, { name: nameOf(claim) }, {});
        }
      }
      return claims.length === 0 && (await loop.list(RESOURCES.nodeClasses)).length === 0;
    });
    expect(liveInstances(loop)).toEqual([]);
  });
});
