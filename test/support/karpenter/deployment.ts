import { RESOURCES } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { listEach, property, text } from '../../../shared/kube/list.ts';

/** Where Karpenter's chart is installed. */
export const KARPENTER = { namespace: 'kube-system', name: 'karpenter' };
const LABELS = { 'app.kubernetes.io/name': 'karpenter', 'app.kubernetes.io/instance': 'karpenter' };
const SELECTOR = Object.entries(LABELS)
  .map(([key, value]) => `${key}=${value}`)
  .join(',');

/** Karpenter's Deployment as its chart makes it, as far as anybody looks at it. */
export function karpenterDeployment(
  version: string,
  replicas: number,
  env: Readonly<Record<string, string>> = {},
): object {
  const variables = { CLUSTER_NAME: 'demo', INTERRUPTION_QUEUE: 'demo', ...env };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...KARPENTER,
      labels: {
        ...LABELS,
        'app.kubernetes.io/version': version,
        'app.kubernetes.io/managed-by': 'Helm',
      },
    },
    spec: {
      replicas,
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          terminationGracePeriodSeconds: 1,
          // The chart keeps its pods off nodes of NodePools.
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  {
                    matchExpressions: [{ key: 'karpenter.sh/nodepool', operator: 'DoesNotExist' }],
                  },
                ],
              },
            },
          },
          tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
          containers: [
            {
              name: 'controller',
              image: `public.ecr.aws/karpenter/controller:${version}@sha256:0000000000000000000000000000000000000000000000000000000000000000`,
              resources: { requests: { cpu: '100m', memory: '128Mi' } },
              env: Object.entries(variables).map(([name, value]) => ({ name, value })),
            },
          ],
        },
      },
    },
  };
}

/** Names of pods of the Deployment whose containers run. */
export async function runningControllers(admin: KubeClient): Promise<readonly string[]> {
  let found: string[] = [];
  const object = (pod: unknown): void => {
    if (text(property(property(pod, 'status'), 'phase')) !== 'Running') return;
    if (property(property(pod, 'metadata'), 'deletionTimestamp') !== undefined) return;
    found.push(text(property(property(pod, 'metadata'), 'name')));
  };
  const start = (): void => {
    found = [];
  };
  await listEach(admin, { resource: RESOURCES.pods, labelSelector: SELECTOR }, { start, object });
  return found.sort();
}
