import { expect, it } from 'vitest';
import { property, text } from '../../shared/kube/list.ts';
import { RESOURCES } from '../../shared/kube/resources.ts';
import { describeClosedLoop, runningPods } from '../support/closed-loop/world.ts';

const nodeClass = {
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'default' },
  spec: {
    role: 'nodes',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
    securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
  },
};

const nodePool = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'general' },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
        requirements: [
          { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
          { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'] },
          { key: 'karpenter.k8s.aws/instance-generation', operator: 'Gt', values: ['5'] },
        ],
      },
    },
  },
};

function deployment(name: string, replicas: number, cpu: string) {
  const labels = { app: name };
  const resources = { requests: { cpu, memory: '512Mi' } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'app', image: 'app', resources }] },
      },
    },
  };
}

await describeClosedLoop('the functions on a real control plane', (loop) => {
  it('give an empty cluster its first nodes, on which the real scheduler binds every pod', async () => {
    await loop.apply([nodeClass, nodePool, deployment('web', 6, '1')]);
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
      return isGone && (await runningPods(loop, 'web')) === 6;
    });
    const live = [...loop.cloud.account.instances.values()].filter(
      (each) => each.state === 'running' || each.state === 'pending',
    );
    expect(live).toHaveLength((await loop.list(RESOURCES.nodes)).length);
  }, 120_000);

  it('take everything away when the workload and the pool go', async () => {
    await loop.admin().delete(RESOURCES.deployments, { namespace: 'default', name: 'web' }, {});
    await loop.admin().delete(RESOURCES.nodePools, { name: 'general' }, {});
    await loop.until('no claim, no node, no instance', async () => {
      const claims = await loop.list(RESOURCES.nodeClaims);
      const nodes = await loop.list(RESOURCES.nodes);
      const live = [...loop.cloud.account.instances.values()].filter(
        (each) => each.state === 'running' || each.state === 'pending',
      );
      return claims.length + nodes.length + live.length === 0;
    });
  }, 120_000);
});
