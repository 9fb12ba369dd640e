import { describe, expect, it } from 'vitest';
import { type Living, lifeOf } from '../../../shared/core/lifecycle/node-life.ts';
import type { Condition, PodDisruptionBudget } from '../../../shared/core/model/cluster.ts';
import { aNode, aNodeClaim, aPod } from '../launch/builders.ts';

function condition(type: string, status: Condition['status'], message = ''): Condition {
  return { type, status, reason: 'Because', message, lastTransitionAtMs: 0 };
}

const READY = condition('Ready', 'True');
const REGISTERED = condition('Registered', 'True');
const INITIALIZED = condition('Initialized', 'True');
const JOINED = [condition('Launched', 'True'), REGISTERED, INITIALIZED];
const ID = 'aws:///a/i-1';

const node = aNode({ name: 'n', providerId: ID, conditions: [READY], taints: [] });
const claim = aNodeClaim({ providerId: ID, conditions: JOINED });
const web = aPod({ name: 'web', nodeName: 'n' });
const disrupted = { key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' } as const;

const budget: PodDisruptionBudget = {
  namespace: web.namespace,
  name: 'web',
  selector: { matchLabels: {}, matchExpressions: [] },
  disruptionsAllowed: 0,
  maxUnavailable: 0,
  minAvailable: undefined,
  unhealthyPodEvictionPolicy: 'IfHealthyBudget',
};

/** What is shown of a node that is like this. */
function shown(
  change: Partial<Living>,
  budgets: readonly PodDisruptionBudget[] = [],
): readonly [string, string] {
  const { state, detail } = lifeOf({ node, claim, pods: [web], ...change }, budgets, 1000);
  return [state, detail];
}

const waiting = aNodeClaim({
  providerId: undefined,
  conditions: [condition('Launched', 'Unknown', 'InsufficientInstanceCapacity: none left')],
});
const closed = aNodeClaim({
  providerId: ID,
  conditions: [condition('Launched', 'True'), condition('Registered', 'Unknown', 'not Ready yet')],
});
const booting = aNodeClaim({
  providerId: ID,
  conditions: [REGISTERED, condition('Initialized', 'Unknown', 'Startup taint x exists')],
});
const drifted = aNodeClaim({
  providerId: ID,
  conditions: [...JOINED, condition('Drifted', 'True', 'AMI')],
});
const warned = aNodeClaim({
  providerId: ID,
  conditions: JOINED,
  annotations: { 'joiner.dev/interrupted': 'spot_interrupted' },
});
const leaving = aNodeClaim({ providerId: ID, conditions: JOINED, deletedAtMs: 500 });
const ending = aNodeClaim({
  providerId: ID,
  deletedAtMs: 500,
  conditions: [condition('InstanceTerminating', 'True')],
});

describe('a node', () => {
  it.each<[Partial<Living>, string, string]>([
    [{ claim: waiting, node: undefined }, 'Launching', 'InsufficientInstanceCapacity: none left'],
    [{ node: undefined, pods: [] }, 'Joining', ''],
    [{ claim: closed }, 'Registering', 'not Ready yet'],
    [{ claim: booting }, 'Initializing', 'Startup taint x exists'],
    [{}, 'Ready', ''],
    [{ pods: [] }, 'Empty', ''],
    [{ node: { ...node, conditions: [condition('Ready', 'False')] } }, 'NotReady', ''],
    [{ claim: drifted }, 'Drifted', 'AMI'],
    [{ claim: warned }, 'Warned', 'spot_interrupted'],
    [{ node: { ...node, taints: [disrupted] } }, 'Replacing', 'its replacement is not ready yet'],
    [{ claim: leaving }, 'Draining', '1 pod left'],
    [{ claim: ending }, 'Terminating', ''],
    [{ claim: leaving, node: undefined }, 'Terminating', ''],
    [{ claim: undefined, pods: [] }, 'Ready', ''],
  ])('%# is %s: %s', (change, state, detail) => {
    expect(shown(change)).toEqual([state, detail]);
  });

  it('that drains says what blocks it', () => {
    const message = `PodDisruptionBudget ${budget.namespace}/web does not allow the eviction of Pod`;
    expect(shown({ claim: leaving }, [budget])[1]).toContain(message);
  });
});
