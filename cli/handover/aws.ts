import type { ClusterState } from '../../shared/ports.ts';
import type { ClusterOptions } from '../connect.ts';
import { checkAccount } from '../doctor/check-account.ts';
import { checkCluster, isKnown } from '../doctor/check-cluster.ts';
import { checkNetwork } from '../doctor/check-network.ts';
import { checkStack } from '../doctor/check-stack.ts';
import { awsOf, gather } from '../doctor/gather.ts';
import { type Line, warn } from '../doctor/line.ts';
import { LOG_IN } from '../log-in.ts';
import { accountFacts } from './account.ts';
import { checkAccountOf } from './check-account.ts';

/** Which cluster AWS is asked about. */
export interface AskedOfAws {
  readonly cluster: string;
  readonly region: string;
  readonly karpenterQueue: string | undefined;
  readonly kubernetes: ClusterOptions;
}

/** What the command itself has said of the cluster before. */
const SAID: ReadonlySet<string> = new Set(['karpenter', 'pauses', 'kubernetes']);

/** The checks of `joiner doctor`, and what AWS says of a take-over. */
export async function checkAws(
  { cluster, region, karpenterQueue, kubernetes }: AskedOfAws,
  state: ClusterState,
): Promise<readonly Line[]> {
  const facts = await gather({
    cluster,
    region,
    isInside: false,
    subnets: [],
    classes: [],
    pools: [],
    kubeconfig: kubernetes,
  });
  if (!isKnown(facts)) return [warn('aws', 'not asked: AWS does not know the caller', LOG_IN)];
  const { access } = awsOf(region);
  const account = await accountFacts(access, facts, karpenterQueue);
  return [
    ...[
      ...checkCluster(facts),
      ...checkNetwork(facts),
      ...checkAccount(facts),
      ...checkStack(facts),
    ].filter(({ check }) => !SAID.has(check)),
    ...checkAccountOf(state, account, facts),
  ];
}
