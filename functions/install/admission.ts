import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { property } from '../../shared/kube/list.ts';
import { InstallFault } from './manifest.ts';

const POLL_MS = 500;
/** Access entries take effect some time after they were made. */
const POLLS_MAX = 180;

/**
 * Whether the installer is the cluster's admin. Where the stack has lent it that it is waited for;
 * otherwise only until the cluster knows it at all.
 */
export async function isAdmin(client: KubeClient, isLent: boolean): Promise<boolean> {
  for (let polls = 0; ; polls += 1) {
    try {
      if (await mayEscalate(client)) return true;
      if (!isLent || polls >= POLLS_MAX) return false;
    } catch (error) {
      const isRefused = isKubeFault(error, 'unauthorised') || isKubeFault(error, 'forbidden');
      if (!isRefused) throw error;
      if (polls >= POLLS_MAX) {
        throw new InstallFault(
          `the cluster does not let the installer in: ${error.message}. Does its role have an ` +
            'access entry?',
          { cause: error },
        );
      }
    }
    await client.timing.sleep(POLL_MS);
  }
}

/** Whoever may write rights that he does not hold is the admin. */
async function mayEscalate(client: KubeClient): Promise<boolean> {
  const group = 'rbac.authorization.k8s.io';
  const resourceAttributes = { group, resource: 'clusterroles', verb: 'escalate' };
  const review = await client.json({
    asked: { verb: 'create', resource: 'selfsubjectaccessreviews' },
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    },
  });
  return property(property(review, 'status'), 'allowed') === true;
}
