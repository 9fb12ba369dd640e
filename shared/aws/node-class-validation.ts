import type { ClusterFacts } from '../core/launch/cluster-facts.ts';
import { launchTags } from '../core/launch/launch-request.ts';
import { sha256 } from '../core/launch/sha256.ts';
import { ARCH, NODE_POOL } from '../core/model/labels.ts';
import type { Image, NodeClass } from '../core/model/node-class.ts';
import type { FleetRequest } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import { nodeClassProblems } from './node-class-problems.ts';

/** Small, and so old that few zones do without them. */
const SAMPLE_TYPES: Readonly<Record<string, string>> = { amd64: 'm5.large', arm64: 'm6g.large' };

function sampleType({ requirements }: Image): string {
  const arch = requirements.find((each) => each.key === ARCH)?.values[0] ?? 'amd64';
  return SAMPLE_TYPES[arch] ?? 'm5.large';
}

/** A fleet of one line as `provision` would send it; undefined: the class is not resolved yet. */
function sampleFleet(nodeClass: NodeClass, cluster: string): FleetRequest | undefined {
  const { images, subnets, securityGroups } = nodeClass.status;
  const [image] = images;
  const [subnet] = subnets;
  if (image === undefined || subnet === undefined || securityGroups.length === 0) return undefined;
  const instanceType = sampleType(image);
  const { zone, id: subnetId } = subnet;
  const clientToken = sha256(`validation/${nodeClass.uid}`);
  const line = { instanceType, zone, subnetId, imageId: image.id, reservationId: undefined };
  return {
    clientToken,
    claims: [{ name: 'validation', uid: nodeClass.uid }],
    nodePool: 'validation',
    nodeClass,
    capacityType: 'on-demand',
    reservationType: undefined,
    strategy: 'lowest-price',
    overrides: [{ ...line, priority: 1 }],
    tags: launchTags(nodeClass, 'validation', cluster, clientToken),
    nodeLabels: { [NODE_POOL]: 'validation' },
    taints: [],
    podsMax: {},
    requests: {},
    sendContext: true,
  };
}

/**
 * Whether nodes of a class can be described to EC2: its kubelet settings, and its user data merged
 * with ours. The answer is the class's condition ValidationSucceeded.
 */
export class NodeClassValidation {
  private readonly cluster: () => Promise<ClusterFacts>;

  constructor(cluster: () => Promise<ClusterFacts>) {
    this.cluster = cluster;
  }

  /** Throws a {@link PortError} whose code is the condition's reason. */
  async check(nodeClass: NodeClass): Promise<void> {
    const [problem] = nodeClassProblems(nodeClass);
    if (problem !== undefined) throw new PortError('invalid', problem.reason, problem.message);
    const cluster = await this.cluster();
    const sample = sampleFleet(nodeClass, cluster.name);
    if (sample === undefined) return;
    const { templateData } = await import('./template-data.ts');
    const imageId = sample.overrides[0]?.imageId ?? '';
    const variant = { imageId, podsMax: 110, efaInterfaces: 0, reservationId: undefined };
    templateData(sample, variant, cluster);
  }
}
