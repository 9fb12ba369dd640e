import { expect, it } from 'vitest';
import { property, text } from '../../shared/kube/list.ts';
import { RESOURCES } from '../../shared/kube/resources.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { describeClosedLoop, liveInstances, runningPods } from '../support/closed-loop/world.ts';

const pool = nodePool('general', [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
  { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'] },
  { key: 'karpenter.k8s.aws/instance-generation', operator: 'Gt', values: ['5'] },
]);

await describeClosedLoop('the functions on a real control plane', (loop) => {
  it('give an empty cluster its first nodes, on which the real scheduler binds every pod', async () => {
    await loop.apply([nodeClass, pool, deployment('web', 6, '1')]);
    await loop.until('six pods run', async () => (await runningPods(loop, 'web')) === 6);
    const claims = await loop.list(RESOURCES.nodeClaims);
    const nodes = await loop.list(RESOURCES.nodes);
    expect(nodes).toHaveLength(claims.length);
    expect(loop.cloud.account.instances.size).toBe(claims.length);
    const used = new Set(
      (await loop.list(RESOURCES.pods)).map((pod) =>
        text(property(property(pod, 'spec'), 'nodeName')),
      ),
    );
    expect(used.size).toBe(nodes.length);
  }, 120_000);

  it('replace the node of a spot warning and end the old one', async () => {
    const [before] = [...loop.cloud.account.instances.values()];
    const body = JSON.stringify({
      version: '0',
      source: 'aws.ec2',
      'detail-type': 'EC2 Spot Instance Interruption Warning',
      account: loop.cloud.account.id,
      region: loop.cloud.account.region,
      time: new Date().toISOString(),
      detail: { 'instance-id': before?.id, 'instance-action': 'terminate' },
    });
    expect(await loop.interrupt([body, 'not even JSON'])).toEqual([]);
    await loop.until('the old instance is gone and six pods run', async () => {
      const isGone = before?.state === 'shutting-down' || before?.state === 'terminated';
      const nodes = await loop.list(RESOURCES.nodes);
      const isOneEach = nodes.length === liveInstances(loop).length;
      return isGone && isOneEach && (await runningPods(loop, 'web')) === 6;
    });
  }, 120_000);

  it('take everything away when the workload and the pool go', async () => {
    await loop.admin().delete(RESOURCES.deployments, { namespace: 'default', name: 'web' }, {});
    await loop.admin().delete(RESOURCES.nodePools, { name: 'general' }, {});
    await loop.until('no claim, no node, no instance', async () => {
      const claims = await loop.list(RESOURCES.nodeClaims);
      const nodes = await loop.list(RESOURCES.nodes);
      return claims.length + nodes.length + liveInstances(loop).length === 0;
    });
  }, 120_000);
});
