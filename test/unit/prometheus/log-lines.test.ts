import { describe, expect, it } from 'vitest';
import { isDelivery, measuredLines } from '../../../shared/prometheus/log-lines.ts';
import { deliveryOf, measurementLine, reportLine } from '../../support/prometheus/deliveries.ts';

const AT_MS = Date.parse('2026-01-01T00:00:00Z');
const functionOf = (group: string): string | undefined => /joiner-demo-(\w+)$/.exec(group)?.[1];

describe('a delivery', () => {
  it('has measurements with their labels, and the controller where Karpenter has it', () => {
    const line = measurementLine('a', AT_MS, [
      ['karpenter_nodes_created_total', { nodepool: 'general', zone: 'zone-a' }, 1],
      ['karpenter_scheduler_scheduling_duration_seconds', {}, 0.25],
      ['joiner_wake_lag_seconds', {}, 1],
    ]);
    const read = measuredLines(deliveryOf('demo', 'provision', [line]), functionOf);
    expect(read.lines).toEqual([
      {
        id: 'a',
        atMs: AT_MS,
        measurements: [
          ['karpenter_nodes_created_total', { nodepool: 'general', zone: 'zone-a' }, 1],
          ['karpenter_scheduler_scheduling_duration_seconds', { controller: 'provision' }, 0.25],
          ['joiner_wake_lag_seconds', { controller: 'provision' }, 1],
        ],
      },
    ]);
  });

  it('has nothing twice: what the cluster itself is asked for is left out', () => {
    const line = measurementLine('a', AT_MS, [
      ['karpenter_cluster_state_node_count', {}, 3],
      ['karpenter_cluster_utilization_percent_cpu', {}, 50],
      ['karpenter_pods_provisioning_unbound_time_seconds', {}, 10],
      ['karpenter_nodepools_cost_total', {}, 3],
      ['karpenter_nodepools_cost_total', { nodepool: 'general' }, 3],
      ['karpenter_voluntary_disruption_eligible_nodes', {}, 1],
    ]);
    const { lines } = measuredLines(deliveryOf('demo', 'provision', [line]), functionOf);
    expect(lines[0]?.measurements).toEqual([
      ['karpenter_nodepools_cost_total', { nodepool: 'general' }, 3],
      ['karpenter_voluntary_disruption_eligible_nodes', { reason: 'drifted' }, 1],
    ]);
  });

  it.each([
    ['success', 'success', 0],
    ['error', 'error', 1],
    ['timeout', 'error', 1],
  ])('has a run of status %s as a reconcile: %s', (status, result, errors) => {
    const line = reportLine('a', AT_MS, 1500, status);
    const { lines } = measuredLines(deliveryOf('demo', 'disrupt', [line]), functionOf);
    const controller = 'disrupt';
    expect(lines[0]?.measurements).toEqual([
      ['controller_runtime_reconcile_total', { controller, result }, 1],
      ['controller_runtime_reconcile_errors_total', { controller }, errors],
      ['controller_runtime_reconcile_time_seconds', { controller }, 1.5],
    ]);
  });

  it.each([
    'REPORT RequestId: 1',
    '{}',
    '{"kind":"joiner-measurements","measurements":[["a",{"a-b":"c"},1]]}',
    '{"kind":"joiner-measurements","measurements":[["a",{},"1"]]}',
    'null',
  ])('leaves out a line that measures nothing: %s', (message) => {
    const good = reportLine('b', AT_MS, 1);
    const lines = [{ id: 'a', timestamp: AT_MS, message }, good];
    const read = measuredLines(deliveryOf('demo', 'disrupt', lines), functionOf);
    expect(read).toMatchObject({ lines: [{ id: 'b' }], faulty: 1 });
  });

  it('that only asks whether anybody is there has no lines', () => {
    const asked = deliveryOf('demo', 'disrupt', [], 'CONTROL_MESSAGE');
    expect(measuredLines(asked, functionOf)).toEqual({ lines: [], faulty: 0 });
  });

  it('of another log is refused', () => {
    const foreign = deliveryOf('other', 'disrupt', [reportLine('a', AT_MS, 1)]);
    expect(() => measuredLines(foreign, functionOf)).toThrow(
      '/aws/lambda/joiner-other-disrupt is not a log of this cluster',
    );
  });

  it('is told from a tick', () => {
    expect(isDelivery(deliveryOf('demo', 'disrupt', []))).toBe(true);
    expect(isDelivery({ source: 'joiner', detail: { kind: 'tick' } })).toBe(false);
    expect(isDelivery(undefined)).toBe(false);
  });
});
