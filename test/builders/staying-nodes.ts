import type { UseCaseSettings } from '../../shared/app/settings.ts';
import { workloadOf } from '../../shared/core/disruption/undone-moves.ts';
import type { Reason } from '../../shared/core/explain/reason.ts';
import type { PodDisruptionBudget } from '../../shared/core/model/cluster.ts';
import {
  CAPACITY_TYPE,
  CONSOLIDATION_GUARD,
  DO_NOT_DISRUPT,
  HELD_MOVES,
  INSTANCE_TYPE,
  LIMITS_GUARD,
  NODE_POOL_HASH,
  NOMINATED_UNTIL,
  ON_DEMAND,
  PAUSE,
  RESERVED,
  RETURN_TO_FIRST_CHOICE,
  SPOT,
  UNDONE_MOVES,
  USAGE_GUARD,
} from '../../shared/core/model/labels.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { RequirementExpression } from '../../shared/core/model/requirement.ts';
import { DISRUPTED, type Toleration } from '../../shared/core/model/taint.ts';
import {
  nodeNameOf,
  type Standing,
  withClaim,
  withHosts,
  withNode,
  withObjects,
  withOthersProtected,
  withPods,
  withPools,
} from './standing.ts';

function withDisruption(at: Standing, change: Partial<NodePool['disruption']>): Standing {
  return withPools(at, ({ disruption }) => ({ disruption: { ...disruption, ...change } }));
}

/** The one disruption budget of the pools. */
function withBudgetOf(at: Standing, nodes: string): Standing {
  const budget = { nodes, reasons: undefined, schedule: undefined, durationMs: undefined };
  return withDisruption(at, { budgets: [budget] });
}

function withPoolNote(at: Standing, key: string, value: string): Standing {
  return withPools(at, ({ annotations }) => ({ annotations: { ...annotations, [key]: value } }));
}

function withoutPoolNote(at: Standing, key: string): Standing {
  return withPools(at, ({ annotations }) => ({ annotations: without(annotations, key) }));
}

function withBudget(at: Standing, name: string, disruptionsAllowed: number): Standing {
  const [pod] = at.state.objects.pods.filter(({ nodeName }) => nodeName === nodeNameOf(at));
  const budget: PodDisruptionBudget = {
    namespace: pod?.namespace ?? 'default',
    name,
    selector: { matchLabels: {}, matchExpressions: [] },
    disruptionsAllowed,
    maxUnavailable: undefined,
    minAvailable: undefined,
    unhealthyPodEvictionPolicy: 'IfHealthyBudget',
  };
  return withObjects(at, ({ podDisruptionBudgets }) => ({
    podDisruptionBudgets: [...podDisruptionBudgets, budget],
  }));
}

const HOUR_MS = 3_600_000;

const EVERYTHING: Toleration = {
  key: DISRUPTED.key,
  operator: 'Exists',
  value: '',
  effect: undefined,
};

const MANY_TYPES = { key: INSTANCE_TYPE, operator: 'Exists', values: [], minValues: 40 } as const;

function withRequirement(at: Standing, added: RequirementExpression): Standing {
  return withPools(at, ({ template }) => ({
    template: { ...template, requirements: [...template.requirements, added] },
  }));
}

function withoutRequirement(at: Standing, operator: RequirementExpression['operator']): Standing {
  const stays = (each: RequirementExpression) =>
    each.key !== INSTANCE_TYPE || each.operator !== operator;
  return withPools(at, ({ template }) => ({
    template: { ...template, requirements: template.requirements.filter(stays) },
  }));
}

/** The instance types that there are. */
function typesOf({ state }: Standing): readonly string[] {
  return state.objects.nodeClaims.map(({ labels }) => labels[INSTANCE_TYPE] ?? '');
}

/** The guard on consolidation without this part. */
function withoutGuard(at: Standing, part: 'saving' | 'share' | 'age'): Standing {
  return withPools(at, ({ annotations }) => {
    const parts = annotations[CONSOLIDATION_GUARD]?.split(',') ?? [];
    const left = parts.filter((each) => !each.startsWith(`${part}=`));
    const rest = without(annotations, CONSOLIDATION_GUARD);
    if (left.length === 0) return { annotations: rest };
    return { annotations: { ...rest, [CONSOLIDATION_GUARD]: left.join(',') } };
  });
}

/** The NodePool allows these capacity types, and asks for the return of nodes so old. */
export function asksForReturn(
  at: Standing,
  capacityTypes: readonly string[] = [ON_DEMAND, SPOT],
  after = '0s',
): Standing {
  const allowed = { key: CAPACITY_TYPE, operator: 'In', values: capacityTypes } as const;
  return withPools(at, ({ template, annotations }) => {
    const others = template.requirements.filter(({ key }) => key !== CAPACITY_TYPE);
    return {
      annotations: { ...annotations, [RETURN_TO_FIRST_CHOICE]: `nodes=100%,after=${after}` },
      template: { ...template, requirements: [...others, allowed] },
    };
  });
}

/** The change, where the NodePool asks for the return of its nodes. */
function ofReturns(at: Standing, change: (at: Standing) => Standing): Standing {
  const { annotations = {} } = at.state.objects.nodePools[0] ?? {};
  return annotations[RETURN_TO_FIRST_CHOICE] === undefined ? at : change(at);
}

function withSettings(at: Standing, change: Partial<UseCaseSettings>): Standing {
  return { ...at, settings: { ...at.settings, ...change } };
}

function withConsolidation(
  at: Standing,
  change: Partial<UseCaseSettings['consolidation']>,
): Standing {
  return withSettings(at, { consolidation: { ...at.settings.consolidation, ...change } });
}

const without = <Key extends string>(all: Readonly<Record<string, string>>, key: Key) => {
  const { [key]: _, ...rest } = all;
  return rest;
};

/** What keeps a node, by a name. */
export const HINDRANCES: Readonly<Record<string, (at: Standing) => Standing>> = {
  'node annotated': (at) =>
    withNode(at, ({ annotations }) => ({
      annotations: { ...annotations, [DO_NOT_DISRUPT]: 'true' },
    })),
  'node nominated': (at) =>
    withNode(at, ({ annotations }) => {
      const until = new Date(at.nowMs + HOUR_MS).toISOString();
      return { annotations: { ...annotations, [NOMINATED_UNTIL]: until } };
    }),
  'pod annotated': (at) =>
    withPods(at, ({ annotations }) => ({
      annotations: { ...annotations, [DO_NOT_DISRUPT]: 'true' },
    })),
  'budget of pods used up': (at) => withBudget(at, 'first', 0),
  'two budgets of pods': (at) => withBudget(withBudget(at, 'second', 3), 'third', 3),
  'pod tolerates everything': (at) =>
    withPods(at, ({ spec }) => ({
      spec: {
        ...spec,
        tolerations: [EVERYTHING],
      },
    })),
  'only empty nodes': (at) => withDisruption(at, { consolidationPolicy: 'WhenEmpty' }),
  balanced: (at) => withDisruption(at, { consolidationPolicy: 'Balanced' }),
  never: (at) => withDisruption(at, { consolidateAfter: 'Never' }),
  'not for a day': (at) => withDisruption(at, { consolidateAfter: 24 * HOUR_MS }),
  'no budget': (at) => withBudgetOf(at, '0'),
  'pool old enough in a day': (at) => withPoolNote(at, CONSOLIDATION_GUARD, 'age=24h'),
  'pool wants to save much': (at) => withPoolNote(at, CONSOLIDATION_GUARD, 'saving=50'),
  'pool wants to save all': (at) => withPoolNote(at, CONSOLIDATION_GUARD, 'share=0.9,saving=9'),
  'pool with a faulty guard': (at) => withPoolNote(at, CONSOLIDATION_GUARD, 'sometimes'),
  'pool with guarded limits': (at) =>
    withPods(withPoolNote(at, LIMITS_GUARD, 'cpu=1'), ({ spec }) => ({
      spec: { ...spec, limits: { cpu: 64_000 } },
    })),
  'pool with guarded usage': (at) => withPoolNote(at, USAGE_GUARD, 'cpu=0.01'),
  'evictions dear': (at) => withConsolidation(at, { evictionPrice: 0.4 }),
  'short horizon': (at) => withConsolidation(at, { horizonMs: 60_000 }),
  'no terminations': (at) => withSettings(at, { terminationsPerMinuteMax: 0 }),
  static: (at) => withPools(at, () => ({ replicas: at.state.objects.nodes.length })),
  'pool wants many types': (at) => withRequirement(at, MANY_TYPES),
  'pool of few types': (at) =>
    withRequirement(at, {
      key: INSTANCE_TYPE,
      operator: 'In',
      values: ['c7g.large', ...typesOf(at)],
    }),
  'pod of a node that is nowhere else': (at) =>
    withPods(at, ({ spec }) => ({ spec: { ...spec, nodeSelector: { disk: 'fast' } } })),
  'hosts full': (at) => withHosts(at, 0),
  drifted: (at) =>
    withClaim(at, ({ annotations }) => ({
      annotations: { ...annotations, [NODE_POOL_HASH]: 'of-yesterday' },
    })),
  'last move held': (at) =>
    withClaim(at, ({ annotations }) => {
      const until = new Date(at.nowMs + HOUR_MS).toISOString();
      return { annotations: { ...annotations, [HELD_MOVES]: JSON.stringify({ count: 1, until }) } };
    }),
  'last move undone': (at) => {
    const until = new Date(at.nowMs + HOUR_MS).toISOString();
    const names = new Set(at.state.objects.pods.map(workloadOf));
    const moves = [...names].map((name = '') => [name, { count: 1, until }]);
    return withPoolNote(at, UNDONE_MOVES, JSON.stringify(Object.fromEntries(moves)));
  },
  'pool paused soon': (at) => {
    const from = new Date(at.nowMs + 5 * 60_000);
    const schedule = `${from.getUTCMinutes()} ${from.getUTCHours()} * * *`;
    return withPoolNote(at, PAUSE, `disrupt from ${schedule} for 1h`);
  },
  'another is empty': (at) => {
    const own = nodeNameOf(at);
    const other = at.state.objects.nodes.find(({ name }) => name !== own);
    return withObjects(at, ({ nodes, pods }) => ({
      nodes: nodes.map((node) => (node === other ? { ...node, annotations: {} } : node)),
      pods: pods.map((pod) =>
        pod.nodeName === other?.name ? { ...pod, phase: 'Succeeded' as const } : pod,
      ),
    }));
  },
  'pool paused': (at) => withPoolNote(at, PAUSE, 'disrupt from @daily for 24h'),
  'no return for a day': (at) =>
    ofReturns(at, (each) => asksForReturn(each, [ON_DEMAND, SPOT], '24h')),
  'no reservation to return to': (at) =>
    ofReturns(at, (each) => asksForReturn(each, [ON_DEMAND, RESERVED])),
  'limits reached': (at) => withPools(at, () => ({ limits: { nodes: 1 } })),
  'limits for these nodes': (at) => withPools(at, () => ({ limits: { nodes: 3 } })),
};

type Remove = (at: Standing, why: Reason) => Standing;

/** Evictions cost nothing. */
const FREE = { evictionPrice: 0, horizonMs: 1e12 };

/** By code: the cluster without what the reason names, and with everything else. */
export const WITHOUT: Readonly<Record<string, Remove>> = {
  'other-nodes-first': (at, why) => {
    const first = why.code === 'other-nodes-first' ? why.parameters.nodeClaims : [];
    return withObjects(at, ({ nodes, nodeClaims }) => {
      const going = nodeClaims.filter(({ name }) => first.includes(name));
      const ids = new Set(going.map(({ providerId }) => providerId));
      return {
        nodes: nodes.map((node) =>
          ids.has(node.providerId) ? { ...node, annotations: { [DO_NOT_DISRUPT]: 'true' } } : node,
        ),
      };
    });
  },
  'node-protected': (at) =>
    withNode(at, ({ annotations }) => ({ annotations: without(annotations, DO_NOT_DISRUPT) })),
  'node-nominated': (at) =>
    withNode(at, ({ annotations }) => ({ annotations: without(annotations, NOMINATED_UNTIL) })),
  'pod-protected': (at, why) =>
    withPods(
      at,
      ({ annotations }) => ({ annotations: without(annotations, DO_NOT_DISRUPT) }),
      why.code === 'pod-protected' ? why.parameters.pod : '',
    ),
  'pod-with-several-budgets': (at) =>
    withObjects(at, ({ podDisruptionBudgets }) => ({
      podDisruptionBudgets: podDisruptionBudgets.slice(0, 1),
    })),
  'eviction-not-allowed': (at, why) =>
    withObjects(at, ({ podDisruptionBudgets }) => ({
      podDisruptionBudgets: podDisruptionBudgets.map((each) =>
        why.code === 'eviction-not-allowed' &&
        `${each.namespace}/${each.name}` === why.parameters.budget
          ? { ...each, disruptionsAllowed: 9 }
          : each,
      ),
    })),
  'pod-never-evicted': (at, why) =>
    withPods(
      at,
      ({ spec }) => ({ spec: { ...spec, tolerations: [] } }),
      why.code === 'pod-never-evicted' ? why.parameters.pod : '',
    ),
  'policy-when-empty': (at) =>
    withDisruption(at, { consolidationPolicy: 'WhenEmptyOrUnderutilized' }),
  'policy-balanced': (at) =>
    withDisruption(at, { consolidationPolicy: 'WhenEmptyOrUnderutilized' }),
  'consolidate-after-never': (at) => withDisruption(at, { consolidateAfter: 0 }),
  'pods-changed-recently': (at) => withDisruption(at, { consolidateAfter: 0 }),
  'disruptions-paused-by-pool': (at) => withoutPoolNote(at, PAUSE),
  'fallback-too-young': (at) => asksForReturn(at),
  'first-choice-unavailable': (at) => asksForReturn(at),
  'move-would-be-undone': (at) => withoutPoolNote(at, RETURN_TO_FIRST_CHOICE),
  'host-would-return': (at) => withoutPoolNote(at, RETURN_TO_FIRST_CHOICE),
  'move-held-before': (at) =>
    withClaim(at, ({ annotations }) => ({ annotations: without(annotations, HELD_MOVES) })),
  'move-undone-before': (at) => withoutPoolNote(at, UNDONE_MOVES),
  'pause-begins-soon': (at) => withoutPoolNote(at, PAUSE),
  // The others stay as they are: the pods of the node keep their room there.
  'fallback-not-needed': (at) =>
    withOthersProtected(
      withDisruption(at, {
        consolidationPolicy: 'WhenEmptyOrUnderutilized',
        consolidateAfter: 0,
      }),
    ),
  'budget-blocks': (at) => withBudgetOf(at, '100%'),
  'budgets-used-up': (at) => withBudgetOf(at, '100%'),
  'guard-unreadable': (at) => withoutPoolNote(at, CONSOLIDATION_GUARD),
  'guard-age': (at) => withoutGuard(at, 'age'),
  'guard-saving': (at) => withoutGuard(at, 'saving'),
  'guard-share': (at) => withoutGuard(at, 'share'),
  'guard-limits': (at) => withoutPoolNote(at, LIMITS_GUARD),
  'guard-usage': (at) => withoutPoolNote(at, USAGE_GUARD),
  'pods-not-cheaper': (at) => withHosts(at, 64_000),
  'saving-too-small': (at) => withConsolidation(at, FREE),
  'move-does-not-pay': (at) => withConsolidation(at, FREE),
  'pod-would-wait': (at, why) => {
    const { pod, why: said } =
      why.code === 'pod-would-wait' ? why.parameters : { pod: '', why: '' };
    if (said.includes('NodePool limits')) return withPools(at, () => ({ limits: {} }));
    if (said.includes('minValues')) return withoutRequirement(at, 'Exists');
    return withPods(at, ({ spec }) => ({ spec: { ...spec, nodeSelector: {} } }), pod);
  },
  'limits-for-both': (at) => withPools(at, () => ({ limits: {} })),
  'static-limit-reached': (at) => withPools(at, () => ({ limits: {} })),
  'spot-to-spot-off': (at) => withConsolidation(at, { spotToSpot: true }),
  'spot-types-too-few': (at) => withoutRequirement(at, 'In'),
  'cheaper-types-too-few': (at) => withoutRequirement(at, 'Exists'),
  'terminations-capped': (at) => withSettings(at, { terminationsPerMinuteMax: 50 }),
  'nodepool-static-stays': (at) => withPools(at, () => ({ replicas: undefined })),
};
