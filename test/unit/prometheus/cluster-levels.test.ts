import { describe, expect, it } from 'vitest';
import type { ClusterView } from '../../../shared/ports/metrics.ts';
import { clusterLevels } from '../../../shared/prometheus/cluster-levels.ts';
import { podDurations, startingPods } from '../../../shared/prometheus/pod-levels.ts';
import { EMPTY_VIEW } from '../../builders/cluster-view.ts';
import { claimOf, GI, nodeOf, podOf, poolOf, yes } from '../../builders/scheduling.ts';

const NOW_MS = 1_000_000;

const daemon = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' };
const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'uid-web-1' };

const VIEW: ClusterView = {
  ...EMPTY_VIEW,
  nodes: [
    nodeOf('n1', 4, 8, {
      createdAtMs: 400_000,
      allocatable: { cpu: 3_800, memory: 7 * GI, pods: 110 },
      labels: { 'karpenter.sh/capacity-type': 'spot' },
    }),
    // Of a managed node group.
    { ...nodeOf('n2', 2, 8), labels: {} },
  ],
  nodeClaims: [
    claimOf('general-1', { providerId: 'aws:///zone-a/n1', conditions: yes('Launched') }),
  ],
  nodePools: [
    poolOf('general', {
      limits: { cpu: 100_000, memory: 200 * GI },
      conditions: [
        { type: 'Ready', status: 'False', reason: 'NoClass', message: '', lastTransitionAtMs: 0 },
      ],
    }),
  ],
  usage: new Map([['general', { cpu: 4_000, nodes: 1 }]]),
  pods: [
    podOf('web', { cpu: 500, limits: { cpu: 1_000 } }, { nodeName: 'n1', controller }),
    podOf('agent', { cpu: 100, memory: GI / 2 }, { nodeName: 'n1', controller: daemon }),
    podOf('done', { cpu: 2_000 }, { nodeName: 'n1', phase: 'Succeeded' }),
    podOf('waits', {}, { ready: false, createdAtMs: 970_000 }),
    podOf('starts', {}, { ready: false, nodeName: 'n2', createdAtMs: 990_000, phase: 'Pending' }),
  ],
};

function values(view: ClusterView, perPod = true): ReadonlyMap<string, number> {
  const starting = startingPods(view, new Set(), undefined);
  const levels = clusterLevels(view, { nowMs: NOW_MS, version: '1.2.3', perPod, starting });
  const shown = levels.map(({ name, labels, value }) => {
    const text = Object.entries(labels)
      .filter(([, each]) => each !== '')
      .map(([label, each]) => `${label}=${each}`)
      .join(' ');
    return [`${name.replace('karpenter_', '')} ${text}`.trim(), value] as const;
  });
  // No two levels are of the same series: Prometheus refuses the second.
  expect(new Set(shown.map(([key]) => key)).size).toBe(shown.length);
  return new Map(shown);
}

describe('levels of nodes', () => {
  const all = values(VIEW);
  const of = (name: string, node: string, resource: string): number | undefined =>
    [...all].find(
      ([key]) =>
        key.startsWith(`${name} `) &&
        key.includes(`node_name=${node} `) &&
        key.endsWith(`resource_type=${resource}`),
    )?.[1];

  it.each([
    ['nodes_allocatable', 'n1', 'cpu', 3.8],
    ['nodes_allocatable', 'n1', 'memory', 7 * GI],
    ['nodes_system_overhead', 'n1', 'memory', GI],
    ['nodes_total_pod_requests', 'n1', 'cpu', 0.5],
    ['nodes_total_pod_requests', 'n1', 'pods', 1],
    ['nodes_total_pod_limits', 'n1', 'cpu', 1],
    ['nodes_total_daemon_requests', 'n1', 'cpu', 0.1],
    ['nodes_total_daemon_requests', 'n1', 'memory', GI / 2],
    // Sums of both find a value on every node.
    ['nodes_total_daemon_requests', 'n2', 'cpu', 0],
    ['nodes_total_daemon_requests', 'n2', 'pods', 0],
    ['nodes_total_pod_limits', 'n2', 'cpu', undefined],
  ])('%s of %s: %s', (name, node, resource, value) => {
    expect(of(name, node, resource)).toBe(value);
  });

  it('have the labels of Karpenter, N/A where a node does not say', () => {
    const keys = [...all.keys()].filter((key) => key.startsWith('nodes_current_lifetime_seconds'));
    expect(keys).toEqual([
      'nodes_current_lifetime_seconds nodepool=general zone=zone-a region=N/A arch=amd64 ' +
        'os=linux capacity_type=spot instance_type=N/A instance_category=N/A ' +
        'instance_family=N/A instance_generation=N/A instance_size=N/A instance_cpu=N/A ' +
        'instance_memory=N/A node_name=n1 managed=true',
      'nodes_current_lifetime_seconds nodepool=N/A zone=N/A region=N/A arch=N/A os=N/A ' +
        'capacity_type=N/A instance_type=N/A instance_category=N/A instance_family=N/A ' +
        'instance_generation=N/A instance_size=N/A instance_cpu=N/A instance_memory=N/A ' +
        'node_name=n2 managed=false',
    ]);
    expect(keys.map((key) => all.get(key))).toEqual([600, 1_000]);
  });
});

describe('levels of the cluster', () => {
  const all = values(VIEW);

  it.each([
    ['build_info version=1.2.3', 1],
    ['cluster_state_synced', 1],
    ['cluster_state_node_count', 2],
    ['cluster_utilization_percent resource_type=cpu', (100 * 1_600) / 5_800],
    ['nodepools_limit nodepool=general resource_type=cpu', 100],
    ['nodepools_limit nodepool=general resource_type=memory', 200 * GI],
    ['nodepools_usage nodepool=general resource_type=cpu', 4],
    ['nodepools_usage nodepool=general resource_type=nodes', 1],
    ['nodepools_allowed_disruptions nodepool=general reason=Drifted', 0],
    ['nodepools_nodes_consuming_budgets nodepool=general', 0],
    [
      'operator_nodepool_status_condition_count name=general type=Ready status=False reason=NoClass',
      1,
    ],
    [
      'operator_nodepool_status_condition_current_status_seconds ' +
        'name=general type=Ready status=False reason=NoClass',
      1_000,
    ],
  ])('%s', (key, value) => {
    expect(all.get(key)).toBe(value);
  });

  it('are what there is where nothing is', () => {
    expect([...values(EMPTY_VIEW)]).toEqual([
      ['build_info version=1.2.3', 1],
      ['cluster_state_synced', 1],
      ['cluster_state_node_count', 0],
    ]);
  });

  it('know the budgets that hold', () => {
    const claim = { providerId: 'aws:///zone-a/n1', conditions: yes('Initialized') };
    const budgets = [
      { nodes: '1', schedule: undefined, durationMs: undefined, reasons: undefined },
    ];
    const disruption = { ...poolOf('x').disruption, budgets };
    const view = {
      ...VIEW,
      nodeClaims: [claimOf('a', claim), claimOf('b', { ...claim, deletedAtMs: 1 })],
      nodePools: [poolOf('general', { disruption })],
    };
    const n1 = nodeOf('n1', 4, 8, { conditions: yes('Ready') });
    const busy = values({ ...view, nodes: [n1] });
    expect(busy.get('nodepools_allowed_disruptions nodepool=general reason=Empty')).toBe(0);
    expect(busy.get('nodepools_nodes_consuming_budgets nodepool=general')).toBe(1);
    const free = values({ ...view, nodes: [n1], nodeClaims: view.nodeClaims.slice(0, 1) });
    expect(free.get('nodepools_allowed_disruptions nodepool=general reason=Empty')).toBe(1);
  });
});

describe('levels of pods', () => {
  it('have where a pod is and how it is', () => {
    expect([...values(VIEW).keys()].filter((key) => key.startsWith('pods_'))).toEqual([
      'pods_state nodepool=general zone=zone-a arch=amd64 capacity_type=spot instance_type=N/A ' +
        'namespace=default name=web owner=ReplicaSet/web-1 node=n1 scheduled=true managed=true ' +
        'phase=Running ready=true',
      expect.stringContaining('owner=DaemonSet/agent'),
      expect.stringContaining('phase=Succeeded'),
      'pods_state nodepool=N/A zone=N/A arch=N/A capacity_type=N/A instance_type=N/A ' +
        'namespace=default name=waits scheduled=false managed=false phase=Pending ready=false',
      'pods_unstarted_time_seconds namespace=default name=waits',
      'pods_unbound_time_seconds namespace=default name=waits',
      'pods_provisioning_unbound_time_seconds namespace=default name=waits',
      expect.stringContaining('name=starts'),
      'pods_unstarted_time_seconds namespace=default name=starts',
    ]);
    expect(values(VIEW).get('pods_unbound_time_seconds namespace=default name=waits')).toBe(30);
  });

  it('are left out where nobody asks for them', () => {
    expect([...values(VIEW, false).keys()].filter((key) => key.startsWith('pods_'))).toEqual([]);
  });
});

describe('durations of pods', () => {
  const SINCE_MS = 900_000;
  const pod = (name: string, createdAtMs: number) =>
    podOf(name, {}, { createdAtMs, nodeName: 'n' });

  it.each([
    ['bound and started since', pod('a', 800_000), 910_000, 950_000, ['bound 110', 'startup 150']],
    ['made since', pod('b', 905_000), 906_000, 907_000, ['bound 1', 'startup 2']],
    ['bound before, started since', pod('a', 800_000), 850_000, 950_000, ['startup 150']],
    ['ready again', pod('c', 100_000), 110_000, 950_000, []],
    ['not ready yet', pod('a', 800_000), 910_000, undefined, ['bound 110']],
    ['neither', pod('a', 800_000), undefined, undefined, []],
  ])('%s', (_, each, boundAtMs, readyAtMs, expected) => {
    const podTimes = new Map([[each.uid, { boundAtMs, readyAtMs }]]);
    const view = { ...EMPTY_VIEW, pods: [each], podTimes };
    const measured = podDurations(view, new Set(['uid-a']), SINCE_MS);
    expect(
      measured.map(([name, , value]) => `${/pods_(\w+)_duration/.exec(name)?.[1]} ${value}`),
    ).toEqual(expected);
  });

  it('are of pods that were starting, at most 5,000 of them', () => {
    expect([...startingPods(VIEW, new Set(), undefined)]).toEqual(['uid-waits', 'uid-starts']);
    const pods = Array.from({ length: 5_001 }, (_, at) => podOf(`p${at}`, {}, { ready: false }));
    expect(startingPods({ ...EMPTY_VIEW, pods }, new Set(), undefined).size).toBe(5_000);
  });
});
