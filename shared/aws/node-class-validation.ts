import type { ClusterFacts } from '../core/launch/cluster-facts.ts';
import { launchTags } from '../core/launch/launch-request.ts';
import { nodeClassProblems } from '../core/launch/node-class-problems.ts';
import { NODE_POOL } from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { FleetRequest } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';

/** A fleet as `provision` would send it, but for what it may be launched as. */
function sampleFleet(nodeClass: NodeClass, cluster: string): FleetRequest {
  const name = 'validation';
  return {
    clientToken: name,
    claims: [],
    nodePool: name,
    nodeClass,
    capacityType: 'on-demand',
    reservationType: undefined,
    strategy: 'lowest-price',
    overrides: [],
    tags: launchTags(nodeClass, name, cluster, name),
    nodeLabels: { [NODE_POOL]: name },
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
    const { images, subnets, securityGroups } = nodeClass.status;
    const [image] = images;
    // Not resolved yet.
    if (image === undefined || subnets.length === 0 || securityGroups.length === 0) return;
    const { templateData } = await import('./template-data.ts');
    const variant = { imageId: image.id, podsMax: 110, efaCards: [], reservationId: undefined };
    templateData(sampleFleet(nodeClass, cluster.name), variant, cluster);
  }
}
