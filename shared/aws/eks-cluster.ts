import { DescribeClusterCommand, type EKSClient } from '@aws-sdk/client-eks';
import type { ClusterFacts } from '../core/launch/cluster-facts.ts';
import { PortError } from '../ports/fault.ts';
import type { Calls } from './calls.ts';

/**
 * The cluster as EKS describes it. A cluster that is still being made has no endpoint and is a
 * fault. https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html
 */
export async function describeCluster(
  eks: EKSClient,
  calls: Calls,
  name: string,
): Promise<ClusterFacts> {
  const command = new DescribeClusterCommand({ name });
  const { cluster } = await calls
    .run('eks:DescribeCluster', () => eks.send(command))
    .catch(async (error: unknown) => {
      if (!(error instanceof PortError) || error.kind !== 'not-found') throw error;
      const region = await eks.config.region();
      const message = `there is no EKS cluster ${name} in ${region}: ${error.message}`;
      throw new PortError('not-found', 'ClusterNotFound', message, { cause: error });
    });
  const network = cluster?.kubernetesNetworkConfig;
  const ipFamily = network?.ipFamily === 'ipv6' ? 'ipv6' : 'ipv4';
  const serviceCidr = ipFamily === 'ipv6' ? network?.serviceIpv6Cidr : network?.serviceIpv4Cidr;
  const { endpoint, version } = cluster ?? {};
  const certificateAuthority = cluster?.certificateAuthority?.data;
  if (
    endpoint === undefined ||
    version === undefined ||
    certificateAuthority === undefined ||
    serviceCidr === undefined
  ) {
    const message = `cluster ${name} is ${cluster?.status ?? 'unknown'}: not ready to be joined`;
    throw new PortError('not-found', 'ClusterNotReady', message);
  }
  return {
    name,
    endpoint,
    certificateAuthority,
    serviceCidr,
    ipFamily,
    kubernetesVersion: version,
    zonalShiftArn: cluster?.zonalShiftConfig?.enabled === true ? cluster.arn : undefined,
  };
}

/** How long old facts are taken before EKS is asked again. */
const STALE_MS = 30_000;

/** What says nothing about the cluster, odd refusals included. */
function isUnasked(error: unknown): boolean {
  return error instanceof PortError && (error.kind === 'throttled' || error.kind === 'unknown');
}

/**
 * The description kept for a while: it changes with upgrades only. Where EKS cannot be asked, what
 * it said before is the answer; that the cluster is gone, or may not be described, is a fault.
 */
export function cachedCluster(
  describe: () => Promise<ClusterFacts>,
  nowMs: () => number,
  keepMs = 300_000,
): () => Promise<ClusterFacts> {
  let kept: { readonly facts: Promise<ClusterFacts>; readonly untilMs: number } | undefined;
  return () => {
    const before = kept;
    if (before !== undefined && nowMs() < before.untilMs) return before.facts;
    const facts = describe().catch((error: unknown) => {
      kept = undefined;
      if (before === undefined || !isUnasked(error)) throw error;
      kept = { facts: before.facts, untilMs: nowMs() + STALE_MS };
      return before.facts;
    });
    kept = { facts, untilMs: nowMs() + keepMs };
    return facts;
  };
}
