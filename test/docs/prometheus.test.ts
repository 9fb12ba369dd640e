import { beforeAll, describe, expect, it } from 'vitest';
import { ROWS } from '../../scripts/docs/dashboard/prometheus-rows.ts';
import { type MeasuredWorld, runSample } from '../support/prometheus/measured-world.ts';
import { lastValues, readWriteRequest } from '../support/prometheus/read-request.ts';
import { textOf } from '../support/repository.ts';

const PAGE = textOf('docs/tasks/prometheus.md');
/** Of histograms and summaries. */
const SUFFIX = /_(bucket|sum|count)$/;

function isDescribed(name: string): boolean {
  return [name, name.replace(SUFFIX, '')].some((each) => PAGE.includes(`\`${each}\``));
}

/** The sample world as an endpoint reads its bytes: what test/e2e asks Prometheus, without one. */
describe('what is written to Prometheus', () => {
  let measured: MeasuredWorld;
  const minutes: ReadonlyMap<string, number>[] = [];

  beforeAll(async () => {
    const address = new URL('http://127.0.0.1/api/v1/write');
    const post = async (_: URL, __: object, body: Uint8Array) => {
      minutes.push(lastValues(readWriteRequest(body)));
      return { status: 200, retryAfter: undefined, text: '' };
    };
    measured = await runSample({ address, post });
  });

  const sum = (values: ReadonlyMap<string, number> | undefined, name: string): number =>
    [...(values ?? [])].reduce(
      (all, [key, value]) => (key.startsWith(`${name}{`) ? all + value : all),
      0,
    );

  it('counts what the world has done', () => {
    const { world } = measured;
    expect(world.terminated).toBeGreaterThan(0);
    const last = minutes.at(-1);
    expect(sum(last, 'karpenter_nodeclaims_created_total')).toBe(world.launched);
    expect(sum(last, 'karpenter_nodes_terminated_total')).toBe(world.terminated);
    expect(sum(last, 'karpenter_nodes_lifetime_duration_seconds_count')).toBe(world.terminated);
    expect(sum(last, 'karpenter_cluster_state_node_count')).toBe(world.launched - world.terminated);
  });

  it('never has a counter that falls', () => {
    const counters = [...(minutes.at(-1)?.keys() ?? [])].filter((key) =>
      /^(?!karpenter_nodepools_cost)\w+(_total|_bucket|_sum|_duration_seconds_count)\{/.test(key),
    );
    expect(counters.length).toBeGreaterThan(50);
    for (const key of counters) {
      const values = minutes.flatMap((each) => each.get(key) ?? []);
      expect(values, key).toEqual(values.toSorted((a, b) => a - b));
    }
  });

  it('is what the page says there is', () => {
    const names = minutes.flatMap((each) => [...each.keys()].map((key) => key.split('{')[0] ?? ''));
    const unknown = [...new Set(names)].filter(
      (name) => !isDescribed(name) && !name.endsWith('_status_condition_current_status_seconds'),
    );
    expect(unknown).toEqual([]);
  });
});

describe('the dashboard for Grafana on Prometheus', () => {
  const queries = ROWS.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));

  it.each(queries)('asks for what the page has: $expr', ({ expr, legend }) => {
    const names = expr.match(/\b(?:karpenter|joiner|controller_runtime)_\w+/g) ?? [];
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !isDescribed(name))).toEqual([]);
    // Grouped by what a line is called by.
    const by = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ');
    const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    expect(named.filter((label) => by !== undefined && !by.includes(label))).toEqual([]);
  });
});
