/** Manifests that others have published, and how they are tried. */
export interface Trial {
  /** `owner/name` on GitHub. */
  readonly repository: string;
  /** A file or folder in it; with `/*` at the end each entry of the folder is a trial of its own. */
  readonly path: string;
  /** Entries of the folder that are no manifests. */
  readonly leaves?: RegExp;
  /** A file in the repository that is added: a workload for examples that have pools alone. */
  readonly beside?: string;
  /** The path has NodePools of its own. */
  readonly ownPools?: boolean;
  /** By entry: why its pods stay pending, which Karpenter would leave pending as well. */
  readonly pending?: Readonly<Record<string, string>>;
  /** By entry: what is refused, which Karpenter's CRDs refuse as well. */
  readonly refused?: Readonly<Record<string, string>>;
}

export const TRIALS: readonly Trial[] = [
  {
    repository: 'GoogleCloudPlatform/microservices-demo',
    path: 'release/kubernetes-manifests.yaml',
  },
  { repository: 'prometheus-operator/kube-prometheus', path: 'manifests' },
  { repository: 'argoproj/argo-cd', path: 'manifests/install.yaml' },
  { repository: 'argoproj/argo-cd', path: 'manifests/ha/install.yaml' },
  {
    repository: 'aws-samples/karpenter-blueprints',
    path: 'blueprints/*',
    pending: {
      stateful: 'the zone of a StorageClass is to be filled in',
      'reserved-capacity': 'capacity reservations, which the simulated account does not have',
    },
    refused: {
      'update-nodes-with-drift': 'ids of images are to be filled in: must be an id such as ami-',
    },
  },
  {
    repository: 'aws/karpenter-provider-aws',
    path: 'examples/v1/*',
    beside: 'examples/workloads/inflate.yaml',
    ownPools: true,
    pending: {
      'al2-custom-ami.yaml': 'images of the account by tag or name: AMINotFound',
      'custom-family.yaml': 'images of the account by tag or name: AMINotFound',
    },
    refused: {
      'windows-custom-userdata.yaml': 'nodeClassRef.group has a version',
    },
  },
];
