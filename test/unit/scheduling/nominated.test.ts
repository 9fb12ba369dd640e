import { describe, expect, it } from 'vitest';
import { sentence } from '../../../shared/core/explain/reason.ts';
import { HOSTNAME, PLANNED_PODS } from '../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import type { ClusterSnapshot } from '../../../shared/core/model/snapshot.ts';
import { ofApp, termOver } from '../../builders/affinity.ts';
import { claimOf, daemonSetOf, nodeOf, planOf, podOf } from '../../builders/scheduling.ts';

/** Keeps pods of `web` from nodes with others of them. */
const APART = termOver(HOSTNAME, ofApp('web'));

const node = nodeOf('n', 2, 8);
const [providerId, nodeName, conditions] = ['aws:///zone-a/n', 'n', []];
const planned = claimOf('c', {
  providerId,
  nodeName,
  conditions,
  annotations: { [PLANNED_PODS]: 'uid-other,uid-a' },
});

/** Where the pod `a`, nominated to the node `n`, goes by the plan. */
function placeOf(
  rest: Partial<Omit<ClusterSnapshot, 'instanceTypes' | 'pods'>>,
  others: readonly Pod[] = [],
  priority = 0,
  preempts = true,
): string {
  const pod = podOf('a', { priority, preempts }, { nominatedNodeName: 'n' });
  const plan = planOf({ pods: [pod, ...others], ...rest });
  const isIn = (pods: readonly string[]) => pods.includes('default/a');
  const existing = plan.existing.find(({ pods }) => isIn(pods));
  if (existing !== undefined) return existing.node;
  if (plan.newNodeClaims.some(({ pods }) => isIn(pods))) return 'a new node';
  const why = plan.ignored.get('default/a');
  return why === undefined ? 'nowhere' : sentence(why);
}

function onNode(cpu: number, priority: number, rest: Partial<Pod> = {}): Pod {
  return podOf('b', { cpu, priority }, { nodeName: 'n', ...rest });
}

describe('a pod that is nominated to a node', () => {
  it.each<[string, Parameters<typeof placeOf>, string]>([
    ['that is there counts on it', [{ nodes: [node] }], 'n'],
    ['that it was planned for counts on it', [{ nodes: [node], nodeClaims: [planned] }], 'n'],
    ['that is gone needs another', [{ nodes: [nodeOf('other', 0, 0)] }], 'a new node'],
    [
      'that goes away needs another',
      [{ nodes: [nodeOf('n', 2, 8, { deletedAtMs: 1 })] }],
      'a new node',
    ],
    [
      'whose claim goes away needs another',
      [{ nodes: [node], nodeClaims: [{ ...planned, deletedAtMs: 1 }] }],
      'a new node',
    ],
    ['that others have filled needs another', [{ nodes: [node] }, [onNode(2000, 0)]], 'a new node'],
    [
      'that others have filled, though it was planned for it, needs another',
      [{ nodes: [node], nodeClaims: [planned] }, [onNode(2000, 0)], 1],
      'a new node',
    ],
    [
      'whose pods matter less waits for a preemption',
      [{ nodes: [node] }, [onNode(2000, 0)], 1],
      'waiting for a preemption',
    ],
    [
      'whose pods that matter less are on their way out waits for them',
      [{ nodes: [node], nodeClaims: [planned] }, [onNode(2000, 0, { deletedAtMs: 1 })], 1],
      'waiting for a preemption',
    ],
    [
      'whose pods matter less, and that never preempts, needs another',
      [{ nodes: [node] }, [onNode(2000, 0)], 1, false],
      'a new node',
    ],
    [
      'where pods that matter less have ended counts on it',
      [{ nodes: [node] }, [onNode(2000, 0, { phase: 'Succeeded' })], 1],
      'n',
    ],
  ])('%s', (_, args, expected) => {
    expect(placeOf(...args)).toBe(expected);
  });

  it('leaves no room there for another one', () => {
    const pods = [
      podOf('a', { cpu: 1500 }, { nominatedNodeName: 'n' }),
      podOf('later', { cpu: 1500 }, { createdAtMs: 1 }),
    ];
    const plan = planOf({ pods, nodes: [node], nodeClaims: [planned] });
    expect(plan.existing.flatMap((each) => each.pods)).toHaveLength(1);
    expect(plan.newNodeClaims.flatMap((each) => each.pods)).toHaveLength(1);
  });

  it.each([
    ['the rest of the node', 3500, 1500, 'a new node'],
    ['no more than those that go', 2000, 1500, 'n'],
    ['the rest of the node, from one that needs less than is left', 3500, 500, 'n'],
  ])('keeps for itself while others go: %s', (_, cpu, wanted, expected) => {
    const pods = [
      podOf('victim', { cpu: 2000 }, { nodeName: 'n', deletedAtMs: 3_600_000 }),
      podOf('a', { cpu, priority: 1 }, { nominatedNodeName: 'n' }),
      podOf('later', { cpu: wanted }, { createdAtMs: 1 }),
    ];
    const plan = planOf({ pods, nodes: [nodeOf('n', 4, 16)] });
    const place = plan.existing.find((each) => each.pods.includes('default/later'))?.node;
    expect(place ?? 'a new node').toBe(expected);
  });

  it('keeps nothing twice where it is of a DaemonSet, whose room is kept anyway', () => {
    const controller = { kind: 'DaemonSet', name: 'd', uid: 'd' };
    const pods = [
      podOf('victim', { cpu: 1000 }, { nodeName: 'n', deletedAtMs: 3_600_000 }),
      podOf('a', { cpu: 1500, priority: 1 }, { nominatedNodeName: 'n', controller }),
      podOf('later', { cpu: 1000 }, { createdAtMs: 1 }),
    ];
    const daemonSets = [daemonSetOf('d', podOf('a', { cpu: 1500 }).spec)];
    const plan = planOf({ pods, nodes: [nodeOf('n', 4, 16)], daemonSets });
    expect(plan.existing).toEqual([{ node: 'n', pods: ['default/later'] }]);
  });

  it.each<[string, Partial<PodSpec>]>([
    ['its host port', { hostPorts: [{ ip: '0.0.0.0', port: 80, protocol: 'TCP' }] }],
    ['the node', { podAntiAffinity: [APART] }],
  ])('keeps %s from others before it has its place', (_, spec) => {
    const pods = [
      podOf('victim', { cpu: 2000 }, { nodeName: 'n', deletedAtMs: 3_600_000, labels: {} }),
      podOf('a', { ...spec, priority: 1 }, { nominatedNodeName: 'n' }),
      podOf('later', spec, { createdAtMs: 1 }),
    ];
    const plan = planOf({ pods, nodes: [nodeOf('n', 4, 16)] });
    expect(plan.newNodeClaims.map((each) => each.pods)).toEqual([['default/later']]);
  });
});
