import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { property } from '../../shared/kube/list.ts';
import { forbidEvictions } from '../support/closed-loop/budget.ts';
import { deployment, nodeClass } from '../support/closed-loop/manifests.ts';
import { conditionOf, isDeleting, nameOf } from '../support/closed-loop/questions.ts';
import {
  type ClosedLoop,
  describeClosedLoop,
  liveInstances,
  runningPods,
} from '../support/closed-loop/world.ts';

/** As a person writes it: of no NodePool, and without a finalizer. */
function claimByHand(name: string): object {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels: { by: name } },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m6a.large'] },
      ],
    },
  };
}

/** `kubectl delete nodeclaim --cascade=…`: the finalizer is what the API server makes of it. */
async function deleteClaim({ admin }: ClosedLoop, name: string, finalizer?: string): Promise<void> {
  if (finalizer !== undefined) {
    const claim = await admin().get(RESOURCES.nodeClaims, { name });
    const now = property(property(claim, 'metadata'), 'finalizers');
    const finalizers = [...(Array.isArray(now) ? now : []), finalizer];
    const patch = { kind: 'merge', value: { metadata: { finalizers } } } as const;
    await admin().patch(RESOURCES.nodeClaims, { name }, patch);
  }
  await admin().delete(RESOURCES.nodeClaims, { name }, {});
}

async function deleteNodes({ admin, list }: ClosedLoop): Promise<void> {
  for (const node of await list(RESOURCES.nodes)) {
    await admin().delete(RESOURCES.nodes, { name: nameOf(node) }, {});
  }
}

async function left(loop: ClosedLoop): Promise<number> {
  const claims = await loop.list(RESOURCES.nodeClaims);
  const nodes = await loop.list(RESOURCES.nodes);
  return claims.length + nodes.length + liveInstances(loop).length;
}

await describeClosedLoop('NodeClaims written by hand on a real control plane', (loop) => {
  it.each<[string, (name: string) => Promise<void>]>([
    ['background', (name) => deleteClaim(loop, name)],
    ['foreground', (name) => deleteClaim(loop, name, 'foregroundDeletion')],
    ['orphan', (name) => deleteClaim(loop, name, 'orphan')],
    ['its-node', () => deleteNodes(loop)],
  ])('are drained as their budget allows, and go: %s', async (how, strike) => {
    const name = `hand-${how}`;
    // The first of them comes together with its class.
    const pods = deployment(name, 1, '1', { nodeSelector: { by: name } });
    await loop.apply([nodeClass, claimByHand(name), pods]);
    await loop.until('its pod runs', async () => (await runningPods(loop, name)) === 1);
    await loop.until('it is initialized', async () => {
      const [claim] = await loop.list(RESOURCES.nodeClaims);
      return conditionOf(claim, 'Initialized')?.status === 'True';
    });
    const permit = await forbidEvictions(loop, name, 1);
    await strike(name);
    await loop.until('it drains', async () => {
      const [claim] = await loop.list(RESOURCES.nodeClaims);
      return isDeleting(claim) && conditionOf(claim, 'Drained')?.status === 'Unknown';
    });
    for (let round = 0; round < 3; round += 1) await loop.tick();
    expect(await runningPods(loop, name)).toBe(1);
    expect(liveInstances(loop)).toHaveLength(1);
    await permit();
    await loop.until('nothing is left', async () => (await left(loop)) === 0);
    await loop.admin().delete(RESOURCES.deployments, { namespace: 'default', name }, {});
  });
});
