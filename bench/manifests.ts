import type { Json } from '../shared/sim/json.ts';

/** A Deployment of one container with these requests and limits. */
export function deployment(name: string, replicas: number, resources: Json): Json {
  const labels = { app: name };
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

const DISCOVERY = [{ tags: { 'karpenter.sh/discovery': 'demo' } }];

/** The EC2NodeClass `default` of the simulated cluster. */
export const NODE_CLASS: Json = {
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'default' },
  spec: {
    role: 'node',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: DISCOVERY,
    securityGroupSelectorTerms: DISCOVERY,
  },
};
