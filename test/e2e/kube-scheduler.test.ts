import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { property, text } from '../../shared/kube/list.ts';
import { aPlainPod, ensureNamespace } from '../contract/kube-objects.ts';
import { describeWithControlPlane } from '../support/control-plane/suite.ts';
import { joinNode, runKubelets } from '../support/kubelet.ts';

await describeWithControlPlane('the real scheduler with stand-in kubelets', ({ admin }) => {
  it('says Unschedulable without nodes, binds and runs the pod once one joins', async () => {
    await ensureNamespace(admin(), 'default');
    const target = { namespace: 'default', name: 'waiting' };
    await admin().create(RESOURCES.pods, aPlainPod('waiting'), 'default');
    const status = async (name: string): Promise<unknown> =>
      property(property(await admin().get(RESOURCES.pods, target), 'status'), name);
    await expect
      .poll(async () => JSON.stringify(await status('conditions')))
      .toContain('Unschedulable');
    const over = new AbortController();
    const kubelets = runKubelets(admin(), over.signal);
    await joinNode(admin(), {
      name: 'node-1',
      providerId: 'aws:///us-east-1a/i-1',
      labels: {},
      taints: [],
      capacity: { cpu: '2', memory: '4Gi', pods: '20' },
    });
    await expect.poll(async () => text(await status('phase'))).toBe('Running');
    await admin().delete(RESOURCES.pods, target, { gracePeriodSeconds: 30 });
    await expect
      .poll(() => status('phase').catch((error: unknown) => property(error, 'code')))
      .toBe('404');
    over.abort();
    await kubelets;
  });
});
