import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROWS } from '../../scripts/docs/dashboard/prometheus-rows.ts';
import { fetchPost } from '../../shared/prometheus/post.ts';
import dashboards from '../support/prometheus/karpenter-dashboards.json' with { type: 'json' };
import {
  type MeasuredWorld,
  runSample,
  SAMPLE_MINUTES,
} from '../support/prometheus/measured-world.ts';
import {
  type Prometheus,
  prometheusVersion,
  startPrometheus,
} from '../support/prometheus/server.ts';

/** What Karpenter's dashboards ask for and Joiner has not, each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  node_time_seconds: 'of node-exporter, with Karpenter, too',
  karpenter_allocation_controller_bind_duration_seconds_bucket: 'removed from Karpenter',
  karpenter_allocation_controller_binpacking_duration_seconds_bucket: 'removed from Karpenter',
  karpenter_allocation_controller_scheduling_duration_seconds_bucket: 'removed from Karpenter',
};

/** What nothing in the sample world causes, and the age of prices, which `catalog` measures. */
const UNSEEN = [
  'karpenter_cloudprovider_instance_launch_failures_total',
  'joiner_throttled_calls_total',
  'joiner_price_age_seconds',
  'joiner_remote_write_failed_samples_total',
];

const version = prometheusVersion();

// Without the program nothing can be asked; JOINER_REQUIRE_PROMETHEUS=1 makes a failure of that.
describe.skipIf(version === undefined && process.env['JOINER_REQUIRE_PROMETHEUS'] === undefined)(
  `a real Prometheus ${version ?? ''}`,
  () => {
    let prometheus: Prometheus;
    let measured: MeasuredWorld;

    beforeAll(async () => {
      prometheus = await startPrometheus();
      const endpoint = { address: prometheus.writeEndpoint, post: fetchPost(() => undefined) };
      measured = await runSample(endpoint);
    });

    afterAll(async () => {
      await prometheus?.stop();
    });

    /** Values every minute, of the whole world. */
    const ask = (query: string) => prometheus.range(query, measured.startMs, measured.endMs);
    const last = async (query: string): Promise<number> => {
      const [series] = await ask(query);
      return Number(series?.values.at(-1)?.[1]);
    };

    it('takes all samples', () => {
      expect(measured.faults).toEqual([]);
      expect(measured.written).toBeGreaterThan(1_000);
    });

    it('counts what the world has done', async () => {
      const { world } = measured;
      expect(world.launched).toBeGreaterThan(3);
      expect(world.terminated).toBeGreaterThan(0);
      // From the first sample on: a counter begins with 0.
      expect(await last('sum(karpenter_nodeclaims_created_total)')).toBe(world.launched);
      expect(await last('sum(karpenter_nodeclaims_terminated_total)')).toBe(world.terminated);
      expect(await last('sum(karpenter_nodes_terminated_total)')).toBe(world.terminated);
      expect(await last('sum(karpenter_cluster_state_node_count)')).toBe(
        world.launched - world.terminated,
      );
      const increase = `sum(increase(karpenter_nodes_terminated_total[${SAMPLE_MINUTES}m]))`;
      expect(await last(increase)).toBeGreaterThan(0);
    });

    it('knows that a node is gone in the minute in which it goes', async () => {
      const counts = await ask('count(karpenter_nodes_current_lifetime_seconds)');
      const nodes = await ask('karpenter_cluster_state_node_count');
      const byTime = (each: typeof counts) => new Map(each.flatMap(({ values }) => values));
      const [had, counted] = [byTime(nodes), byTime(counts)];
      expect(new Set(had.values()).size).toBeGreaterThan(2);
      for (const [seconds, value] of counted)
        expect([seconds, value]).toEqual([seconds, had.get(seconds)]);
    });

    it('answers every query of Karpenter’s dashboards that has a counterpart', async () => {
      const answers = await Promise.all(
        dashboards.queries.map(async ({ dashboard, query }) => {
          const asked = await withVariables(query, prometheus, measured);
          const found = await resultOf(asked, prometheus, measured);
          return { dashboard, query, isAnswered: found > 0 };
        }),
      );
      const missing = answers.filter(({ isAnswered }) => !isAnswered).map(({ query }) => query);
      const excused = (query: string): boolean =>
        Object.keys(WITHOUT).some((name) => query.includes(name));
      expect(missing.filter((query) => !excused(query))).toEqual([]);
      // An excuse for what is answered after all is none.
      expect(answers.filter(({ isAnswered, query }) => isAnswered && excused(query))).toEqual([]);
      const answered = answers.length - missing.length;
      expect(`${answered} of ${answers.length}`).toBe('46 of 51');
    });

    it('answers every query of the dashboard of its own', async () => {
      const queries = ROWS.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));
      const answers = await Promise.all(
        queries.map(async ({ expr }) => {
          const asked = expr.replaceAll('$__rate_interval', '5m').replaceAll('$cluster', 'demo');
          return { expr, values: await resultOf(asked, prometheus, measured) };
        }),
      );
      const missing = answers.filter(({ values }) => values === 0).map(({ expr }) => expr);
      const excused = (expr: string): boolean => UNSEEN.some((name) => expr.includes(name));
      expect(missing.filter((expr) => !excused(expr))).toEqual([]);
      expect(answers.filter(({ expr, values }) => values > 0 && excused(expr))).toEqual([]);
    });

    it('has nothing of which the name or a label is not Prometheus’s', async () => {
      const names = await prometheus.labelValues(
        '{cluster="demo"}',
        '__name__',
        measured.startMs,
        measured.endMs,
      );
      expect(names.length).toBeGreaterThan(50);
      expect(
        names.filter(
          (name) => !/^(karpenter|joiner|operator|controller_runtime|workqueue)_/.test(name),
        ),
      ).toEqual([]);
    });
  },
);

const VALUES = /^label_values\((.*), ?(\w+)\)$/s;

/** Values that it has in all minutes, or of the label. */
async function resultOf(
  query: string,
  prometheus: Prometheus,
  { startMs, endMs }: MeasuredWorld,
): Promise<number> {
  const [, metric, label] = VALUES.exec(query) ?? [];
  if (metric !== undefined && label !== undefined) {
    return (await prometheus.labelValues(metric, label, startMs, endMs)).length;
  }
  const series = await prometheus.range(query, startMs, endMs);
  return series.flatMap(({ values }) => values).filter(([, value]) => value !== 'NaN').length;
}

/** As Grafana puts them in: all values of the label, or the one that is chosen. */
async function withVariables(
  query: string,
  prometheus: Prometheus,
  { startMs, endMs }: MeasuredWorld,
): Promise<string> {
  let asked = query
    .replaceAll('$__rate_interval', '5m')
    .replaceAll('$__interval', '5m')
    .replaceAll('$trailing', '10m')
    .replaceAll('$distribution_filter', 'nodepool')
    // The one function that takes from a queue.
    .replaceAll('$controller', query.includes('workqueue') ? 'interrupt' : 'disrupt')
    .replaceAll('$provisioner', 'default');
  for (const label of ['nodepool', 'zone', 'arch', 'capacity_type', 'instance_type']) {
    if (!asked.includes(`$${label}`)) continue;
    const values = await prometheus.labelValues(
      'karpenter_nodes_allocatable',
      label,
      startMs,
      endMs,
    );
    asked = asked.replaceAll(`$${label}`, `(${values.join('|')})`);
  }
  // What is left is `$1` of a replacement.
  expect(asked.replaceAll('"$1"', '')).not.toContain('$');
  return asked;
}
