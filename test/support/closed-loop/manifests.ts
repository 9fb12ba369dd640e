/** Objects that the closed-loop scenarios apply. */

type Fields = Readonly<Record<string, unknown>>;

export const nodeClass = {
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

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** A pool of the class `default`; `spec` is what stands beside the template. */
export function nodePool(name: string, requirements: readonly Requirement[], spec: Fields = {}) {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: { ...spec, template: { spec: { nodeClassRef, requirements } } },
  };
}

/** A Deployment whose pods ask for `cpu` and are labelled `app: <name>`. */
export function deployment(name: string, replicas: number, cpu: string, spec: Fields = {}) {
  const labels = { app: name };
  const resources = { requests: { cpu, memory: '512Mi' } };
  const containers = [{ name: 'app', image: 'app', resources }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, ...spec } },
    },
  };
}

/** One pod a node, on nodes of the pool of the same name. */
export function apart(name: string, replicas: number): object {
  const labelSelector = { matchLabels: { app: name } };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  return deployment(name, replicas, '1', {
    nodeSelector: { 'karpenter.sh/nodepool': name },
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
  });
}
