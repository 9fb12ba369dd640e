import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { property, text } from '../../shared/kube/list.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { labelOf } from '../support/closed-loop/questions.ts';
import { describeClosedLoop, runningPods } from '../support/closed-loop/world.ts';

/** Of a priority at which its pods take the room of others. */
function daemonSet(name: string, requests: object) {
  const labels = { app: name };
  const containers = [{ name: 'agent', image: 'agent', resources: { requests } }];
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'kube-system' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-node-critical',
          tolerations: [{ operator: 'Exists' }],
          containers,
        },
      },
    },
  };
}

const limitRange = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'defaults', namespace: 'kube-system' },
  spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '2', memory: '64Mi' } }] },
};

await describeClosedLoop('DaemonSets on a real control plane', (loop) => {
  it('a LimitRange makes their pods larger: one node has room for them and for what it is for', async () => {
    const values = ['c6a.large', 'c6a.xlarge', 'c6a.2xlarge'];
    const types = { key: 'node.kubernetes.io/instance-type', operator: 'In', values };
    const onDemand = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] };
    await loop.apply([nodeClass, nodePool('general', [types, onDemand])]);
    await loop.apply([limitRange, daemonSet('agent', {}), deployment('web', 1, '3')]);
    await loop.until('both run', async () => {
      const [web, agents] = [await runningPods(loop, 'web'), await runningPods(loop, 'agent')];
      return web === 1 && agents === 1;
    });
    // None was launched that the agent's pod, larger than its template, has no room on.
    expect(loop.cloud.account.instances.size).toBe(1);
    expect(await loop.list(RESOURCES.nodeClaims)).toHaveLength(1);
  });

  it('their pods say which template they were made from, as the DaemonSet does', async () => {
    const [set] = await loop.list(RESOURCES.daemonSets);
    const annotations = property(property(set, 'metadata'), 'annotations');
    const generation = text(property(annotations, 'deprecated.daemonset.template.generation'));
    const pods = await loop.list(RESOURCES.pods);
    const agents = pods.filter((pod) => labelOf(pod, 'app') === 'agent');
    expect(agents.map((pod) => labelOf(pod, 'pod-template-generation'))).toEqual([generation]);
    expect(generation).toBe('1');
  });
});
