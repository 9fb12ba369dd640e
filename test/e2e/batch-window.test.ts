import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { batchWindow } from '../../shared/kube/batch-window.ts';
import { ensureNamespace } from '../contract/kube-objects.ts';
import { clientOf, describeWithControlPlane } from '../support/control-plane/suite.ts';

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };

/** Wide apart, so that a slow machine does not blur which limit ended the window. */
const IDLE_MS = 300;
const MAX_MS = 6000;

await describeWithControlPlane(
  'the batch window on a real control plane',
  ({ admin, plane }) => {
    it('closes soon where no pod comes, and stays open while an owner still makes pods', async () => {
      await ensureNamespace(admin(), 'default');
      const client = clientOf(plane(), 'joiner-provision');
      const measure = async (): Promise<number> => {
        const before = Date.now();
        await batchWindow(client, { idleMs: IDLE_MS, maxMs: MAX_MS });
        return Date.now() - before;
      };
      expect(await measure()).toBeLessThan(MAX_MS / 2);
      const spec = { replicas: 2, selector: { matchLabels: labels }, template };
      const made: unknown = await admin().create(
        RESOURCES.replicaSets,
        { metadata: { name: 'web' }, spec },
        'default',
      );
      const { uid } = (made as { metadata: { uid: string } }).metadata;
      const owner = {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web',
        uid,
        controller: true,
      };
      const metadata = { name: 'web-0', labels, ownerReferences: [owner] };
      await admin().create(RESOURCES.pods, { metadata, spec: template.spec }, 'default');
      // Nobody makes the second pod here: only the maximum ends the window.
      expect(await measure()).toBeGreaterThanOrEqual(MAX_MS);
      await client.close();
    });
  },
  () => ({ controllers: false }),
);
