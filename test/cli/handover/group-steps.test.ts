import { describe, expect, it } from 'vitest';
import { groupNext, groupSteps, groupStepsBack } from '../../../cli/handover/group-steps.ts';
import { nodeOf, podOf, poolOf } from '../../builders/scheduling.ts';
import { clusterState } from './state.ts';

const AUTOSCALER = { namespace: 'kube-system', name: 'cluster-autoscaler', replicas: 1 };
const STOPPED = { ...AUTOSCALER, replicas: 0 };
const CORDONED = [
  { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' },
] as const;

const ofWeb = { 'eks.amazonaws.com/nodegroup': 'web' };
const ofBatch = { 'alpha.eksctl.io/nodegroup-name': 'batch' };
const open = [
  nodeOf('a', 4, 8, { labels: ofWeb }),
  nodeOf('b', 4, 8, { labels: ofBatch }),
  nodeOf('d', 4, 8),
];
const closed = open.map((node) => ({ ...node, taints: CORDONED }));
const owner = (kind: string) => ({ kind, name: 'any', uid: 'any', apiVersion: 'apps/v1' });
const pods = [
  podOf('api', {}, { nodeName: 'a', controller: owner('ReplicaSet') }),
  podOf('agent', {}, { nodeName: 'a', controller: owner('DaemonSet') }),
  podOf('static', {}, { nodeName: 'a', isMirror: true }),
  podOf('done', {}, { nodeName: 'b', phase: 'Succeeded' }),
  podOf('elsewhere', {}, { nodeName: 'd' }),
];

type Objects = Parameters<typeof clusterState>[0];
const at = (autoscaler: typeof AUTOSCALER, objects: Objects) => ({
  autoscalers: [autoscaler],
  state: clusterState(objects),
  cluster: 'shop',
});
const told = (steps: ReturnType<typeof groupSteps>) =>
  steps.map(({ step, state, message }) => `${state} ${step}: ${message}`);

describe('the steps from node groups', () => {
  it('are all to do at first, each with its commands', () => {
    const steps = groupSteps(at(AUTOSCALER, { nodes: open, pods, nodePools: [] }));
    expect(told(steps)).toEqual([
      'to do pools: ',
      'to do autoscaler: Deployment kube-system/cluster-autoscaler has 1 replica',
      'to do cordon batch: 0 of 1 node cordoned',
      'done drain batch: 0 pods left that no DaemonSet owns',
      'to do scale batch: 1 node; after the drain',
      'to do cordon web: 0 of 1 node cordoned',
      'to do drain web: 1 pod left that no DaemonSet owns',
      'to do scale web: 1 node; after the drain',
    ]);
    expect(steps.flatMap(({ commands }) => commands)).toEqual([
      'aws eks describe-nodegroup --cluster-name shop --nodegroup-name web > web.json',
      'joiner convert -f web.json cluster.yaml > pools.yaml && kubectl apply -f pools.yaml',
      'kubectl -n kube-system scale deployment cluster-autoscaler --replicas 0',
      'kubectl cordon -l alpha.eksctl.io/nodegroup-name=batch',
      'kubectl drain -l alpha.eksctl.io/nodegroup-name=batch --ignore-daemonsets --delete-emptydir-data',
      'eksctl scale nodegroup --cluster shop --name batch --nodes 0 --nodes-min 0',
      'kubectl cordon -l eks.amazonaws.com/nodegroup=web',
      'kubectl drain -l eks.amazonaws.com/nodegroup=web --ignore-daemonsets --delete-emptydir-data',
      'aws eks update-nodegroup-config --cluster-name shop --nodegroup-name web --scaling-config minSize=0,desiredSize=0',
    ]);
    expect(groupNext(steps, false)).toEqual([
      'Next: pools. Then run the command again: it changes nothing itself.',
    ]);
  });

  it.each([
    ['NodePools', at(AUTOSCALER, { nodes: open, pods, nodePools: [poolOf('web')] }), 'autoscaler'],
    ['a stop', at(STOPPED, { nodes: open, pods, nodePools: [poolOf('web')] }), 'cordon batch'],
    ['cordons', at(STOPPED, { nodes: closed, pods, nodePools: [poolOf('web')] }), 'scale batch'],
    [
      'a group less',
      at(STOPPED, { nodes: closed.slice(0, 1), pods, nodePools: [poolOf('web')] }),
      'drain web',
    ],
    [
      'a drain',
      at(STOPPED, { nodes: closed.slice(0, 1), nodePools: [poolOf('web')] }),
      'scale web',
    ],
  ])('go on after %s', (_, position, next) => {
    const [line = ''] = groupNext(groupSteps(position), false);
    expect(line).toMatch(new RegExp(`^Next: ${next}\\.`));
  });

  it('do not take NodePools of EKS Auto Mode for those that take the place of groups', () => {
    const nodeClassRef = { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' };
    const pool = poolOf('system');
    const auto = { ...pool, template: { ...pool.template, nodeClassRef } };
    const [first] = groupSteps(at(AUTOSCALER, { nodes: open, pods, nodePools: [auto] }));
    expect(first).toMatchObject({ step: 'pools', state: 'to do' });
  });

  it('are none where no node of a group is left', () => {
    expect(groupSteps(at(STOPPED, { nodes: open.slice(2), pods }))).toEqual([]);
    expect(groupNext([], false)).toEqual([]);
  });
});

describe('the steps back', () => {
  it('are those that have something to undo', () => {
    const position = at(STOPPED, { nodes: closed, pods, nodePools: [poolOf('web')] });
    const steps = groupStepsBack(position);
    expect(told(steps)).toEqual([
      'to do uncordon batch: 1 of 1 node cordoned',
      'to do uncordon web: 1 of 1 node cordoned',
      'to do autoscaler: Deployment kube-system/cluster-autoscaler has 0 replicas',
      'to do pools: delete those that took the place of the groups; there are web',
    ]);
    expect(steps.at(-1)?.commands).toEqual(['kubectl delete nodepool NAME']);
    expect(groupNext(steps, true)).toEqual([
      'If groups were scaled down, scale them up first.',
      'Next: uncordon batch. Then run the command again: it changes nothing itself.',
    ]);
  });

  it('are none where there is neither a group nor an autoscaler', () => {
    const state = clusterState({ nodes: open.slice(2), nodePools: [poolOf('prod')] });
    expect(groupStepsBack({ autoscalers: [], state, cluster: 'shop' })).toEqual([]);
  });

  it('are done where nothing was begun', () => {
    const steps = groupStepsBack(at(AUTOSCALER, { nodes: open, nodePools: [] }));
    expect(steps.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
    expect(groupNext(steps, true)).toEqual([]);
  });
});
