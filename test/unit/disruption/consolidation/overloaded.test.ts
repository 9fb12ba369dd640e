import { describe, expect, it } from 'vitest';
import { overloaded } from '../../../../shared/core/disruption/consolidation/overloaded.ts';
import type { MeteredUsage } from '../../../../shared/core/disruption/consolidation/usage-guard.ts';
import { withLeaving } from '../../../../shared/core/disruption/simulation.ts';
import { LIMITS_GUARD, USAGE_GUARD } from '../../../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../../../shared/core/model/pod.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import type { Resources } from '../../../../shared/core/model/resources.ts';
import { type Cluster, clusterOf } from '../../../builders/consolidation.ts';
import { cpuPod, moved, ON_DEMAND, tried, used } from '../../../builders/moves.ts';
import { poolOf } from '../../../builders/scheduling.ts';

const guarded = (annotations: Readonly<Record<string, string>>, name = 'general'): NodePool =>
  poolOf(name, { annotations });

const metered = (...samples: readonly (readonly [Pod, Resources])[]): MeteredUsage => ({
  kind: 'metered',
  pods: new Map(samples.map(([pod, usage]) => [podKey(pod), usage])),
});

const limited = (name: string): Pod => cpuPod(name, 500, { limits: { cpu: 900 } });
const [p, q, r] = [limited('p'), limited('q'), limited('r')] as const;

/** Two pods of `a` go to `b`, where one is already. */
function two(pool: NodePool): Cluster {
  const nodes = [used('a', 'm.large', p, q), used('b', 'm.large', r)];
  return clusterOf(nodes, { types: ON_DEMAND, pools: [pool] });
}

const onB = new Map([p, q].map((pod) => [podKey(pod), 'b']));

function codes(pool: NodePool, usage?: MeteredUsage, places = onB): readonly string[] {
  const { snapshot } = two(pool);
  const without = withLeaving(snapshot, 'a');
  return overloaded({ snapshot: without, usage }, places, []).map(({ code }) => code);
}

describe('a node that takes pods in', () => {
  const busy = metered([p, { cpu: 100 }], [q, { cpu: 100 }], [r, { cpu: 1500 }]);

  it('bears them without a guard', () => {
    expect(codes(poolOf('general'), busy)).toEqual([]);
  });

  it('bears what is there and comes together, by each guard', () => {
    expect(codes(guarded({ [USAGE_GUARD]: 'cpu=0.85' }), busy)).toEqual([]);
    expect(codes(guarded({ [USAGE_GUARD]: 'cpu=0.84' }), busy)).toEqual(['guard-usage']);
    expect(codes(guarded({ [LIMITS_GUARD]: 'cpu=1' }), busy)).toEqual(['guard-limits']);
    const both = { [LIMITS_GUARD]: 'cpu=1', [USAGE_GUARD]: 'cpu=0.84' };
    expect(codes(guarded(both), busy)).toEqual(['guard-limits', 'guard-usage']);
  });

  it('takes none in where nobody knows what pods use', () => {
    const pool = guarded({ [USAGE_GUARD]: 'cpu=1' });
    const missing = { kind: 'missing', why: 'metrics.k8s.io is not served' } as const;
    expect(codes(pool, missing)).toEqual(['guard-usage-unknown']);
  });

  it('is the only one that is asked', () => {
    expect(codes(guarded({ [USAGE_GUARD]: 'cpu=0.1' }), busy, new Map())).toEqual([]);
  });

  it('keeps both guards that cannot be read apart', () => {
    const both = guarded({ [LIMITS_GUARD]: 'much', [USAGE_GUARD]: 'much' });
    expect(codes(both, busy)).toEqual(['guard-unreadable', 'guard-unreadable']);
  });
});

describe('a move by usage', () => {
  const pool = guarded({ [USAGE_GUARD]: 'cpu=0.8' });
  const cluster = two(pool);

  it('is refused while the pods use too much, and made once they use less', () => {
    const loud = metered([r, { cpu: 601 }]);
    expect(tried({ cluster, usage: loud }).found).toMatchObject({
      kind: 'refusal',
      reasons: [{ code: 'guard-usage', parameters: { node: 'b', percent: '81', allowed: '80' } }],
    });
    expect(moved({ cluster, usage: metered([r, { cpu: 600 }]) }).replacements).toEqual([]);
  });

  it('is refused for a node that is launched, whatever that is', () => {
    const large = clusterOf([used('a', 'm.4xlarge', p, q)], { types: ON_DEMAND, pools: [pool] });
    const by = (cpu: number) => tried({ cluster: large, usage: metered([p, { cpu }]) }).found;
    expect(by(1100).kind).toBe('move');
    expect(by(1101)).toMatchObject({
      reasons: [{ code: 'guard-usage', parameters: { node: 'a new m.large' } }],
    });
  });
});
