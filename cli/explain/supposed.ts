import type { UseCaseSettings } from '../../shared/app/settings.ts';
import { budgetsOf } from '../../shared/core/disruption/candidates.ts';
import type { Reason, ReasonCode, ReasonOf } from '../../shared/core/explain/reason.ts';
import {
  CONSOLIDATION_GUARD,
  DISRUPTED_TAINT_KEY,
  DO_NOT_DISRUPT,
  HELD_MOVES,
  INSTANCE_TYPE,
  LIMITS_GUARD,
  NODE_POOL,
  NOMINATED_UNTIL,
  PAUSE,
  RETURN_TO_FIRST_CHOICE,
  UNDONE_MOVES,
  USAGE_GUARD,
} from '../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import { addResources, NO_RESOURCES } from '../../shared/core/model/resources.ts';
import type { ClusterState } from '../../shared/ports.ts';

/** A cluster, the settings that Joiner decides by, and the NodeClaim that is asked about. */
export interface Subject {
  readonly state: ClusterState;
  readonly settings: UseCaseSettings;
  /** Its name. */
  readonly claim: string;
}

type Objects = ClusterState['objects'];
type Annotations = Readonly<Record<string, string>>;

function withObjects(at: Subject, change: (objects: Objects) => Partial<Objects>): Subject {
  const { objects } = at.state;
  return { ...at, state: { ...at.state, objects: { ...objects, ...change(objects) } } };
}

function claimOf({ state, claim }: Subject): Objects['nodeClaims'][number] | undefined {
  return state.objects.nodeClaims.find(({ name }) => name === claim);
}

function without(annotations: Annotations, key: string): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== key));
}

/** Changes the NodePool of the node. */
function withPools(at: Subject, change: (pool: NodePool) => Partial<NodePool>): Subject {
  return withObjects(at, ({ nodePools }) => ({
    nodePools: nodePools.map((pool) => ({ ...pool, ...change(pool) })),
  }));
}

function withPool(at: Subject, change: (pool: NodePool) => Partial<NodePool>): Subject {
  const own = claimOf(at)?.labels[NODE_POOL];
  return withPools(at, (pool) => (pool.name === own ? change(pool) : {}));
}

function withDisruption(at: Subject, change: Partial<NodePool['disruption']>): Subject {
  return withPool(at, ({ disruption }) => ({ disruption: { ...disruption, ...change } }));
}

function withoutPoolAnnotation(at: Subject, key: string): Subject {
  return withPool(at, ({ annotations }) => ({ annotations: without(annotations, key) }));
}

/** An annotation of `key=value,…` of the NodePool, without the entries of the key. */
function withoutEntry(at: Subject, annotation: string, key: string): Subject {
  return withPool(at, ({ annotations }) => {
    const entries = annotations[annotation]?.split(',') ?? [];
    const left = entries.filter((each) => each.split('=')[0]?.trim() !== key);
    const rest = without(annotations, annotation);
    return { annotations: left.length === 0 ? rest : { ...rest, [annotation]: left.join(',') } };
  });
}

/** The Node and its NodeClaim without an annotation. */
function withoutNodeAnnotation(at: Subject, key: string): Subject {
  const own = claimOf(at);
  const strip = <Kind extends { readonly annotations: Annotations }>(each: Kind): Kind => ({
    ...each,
    annotations: without(each.annotations, key),
  });
  return withObjects(at, ({ nodes, nodeClaims }) => ({
    nodes: nodes.map((node) => (node.providerId === own?.providerId ? strip(node) : node)),
    nodeClaims: nodeClaims.map((each) => (each === own ? strip(each) : each)),
  }));
}

/** All other nodes are excluded from disruption. */
function withOthersProtected(at: Subject): Subject {
  const own = claimOf(at);
  return withObjects(at, ({ nodes }) => ({
    nodes: nodes.map((node) =>
      node.providerId === own?.providerId
        ? node
        : { ...node, annotations: { ...node.annotations, [DO_NOT_DISRUPT]: 'true' } },
    ),
  }));
}

function withPod(at: Subject, key: string, change: (pod: Pod) => Partial<Pod>): Subject {
  return withObjects(at, ({ pods }) => ({
    pods: pods.map((pod) => (podKey(pod) === key ? { ...pod, ...change(pod) } : pod)),
  }));
}

/** Of the PodDisruptionBudgets that select the pod the first by name alone. */
function withOneBudget(at: Subject, key: string): Subject {
  return withObjects(at, ({ pods, podDisruptionBudgets: all }) => {
    const pod = pods.find((each) => podKey(each) === key);
    const own = pod === undefined ? [] : budgetsOf(pod, all);
    const [, ...others] = own.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return { podDisruptionBudgets: all.filter((each) => !others.includes(each)) };
  });
}

/** Room on each of the other nodes for all pods of this one, whatever runs there. */
function withRoom(at: Subject): Subject {
  const { nodes, pods } = at.state.objects;
  const own = nodes.find(({ providerId }) => providerId === claimOf(at)?.providerId);
  const byNode = Map.groupBy(pods, ({ nodeName }) => nodeName);
  const requestedOn = (name: string | undefined) =>
    (name === undefined ? [] : (byNode.get(name) ?? [])).reduce(
      (sum, { spec }) => addResources(sum, spec.requests),
      NO_RESOURCES,
    );
  const moving = requestedOn(own?.name);
  return withObjects(at, () => ({
    nodes: nodes.map((node) => {
      if (node === own) return node;
      const needed = addResources(requestedOn(node.name), moving);
      return { ...node, allocatable: addResources(node.allocatable, needed) };
    }),
  }));
}

type Requirement = NodePool['template']['requirements'][number];

function withRequirements(
  at: Subject,
  change: (requirements: readonly Requirement[]) => readonly Requirement[],
): Subject {
  return withPool(at, ({ template }) => ({
    template: { ...template, requirements: change(template.requirements) },
  }));
}

function withoutMinValues(at: Subject): Subject {
  return withRequirements(at, (all) => all.map(({ minValues: _, ...each }) => each));
}

/** Requirements on what instances are, which restrict the instance types. */
const OF_INSTANCES = /^karpenter\.k8s\.aws\/instance-/;

function withAllTypes(at: Subject): Subject {
  const restricts = ({ key }: Requirement) => key === INSTANCE_TYPE || OF_INSTANCES.test(key);
  return withRequirements(at, (all) => all.filter((each) => !restricts(each)));
}

/** Moves are free, so that all that they save repays them. */
function withFreeMoves(at: Subject): Subject {
  const { consolidation } = at.settings;
  const free = { ...consolidation, evictionPrice: 0, horizonMs: Number.MAX_SAFE_INTEGER };
  const own = withoutEntry(at, CONSOLIDATION_GUARD, 'horizon');
  return { ...own, settings: { ...own.settings, consolidation: free } };
}

function withoutLimits(at: Subject): Subject {
  return withPools(at, () => ({ limits: {} }));
}

/** No node returns to what is tried first. */
function withoutReturns(at: Subject): Subject {
  return withPools(at, ({ annotations }) => ({
    annotations: without(annotations, RETURN_TO_FIRST_CHOICE),
  }));
}

/** The pod runs anywhere. */
function withUndemanding(at: Subject, key: string): Subject {
  return withPod(at, key, ({ spec }) => ({
    spec: {
      ...spec,
      nodeSelector: {},
      requiredNodeAffinity: undefined,
      podAffinity: [],
      podAntiAffinity: [],
      topologySpread: [],
    },
  }));
}

const ALL_NODES = [
  { nodes: '100%', schedule: undefined, durationMs: undefined, reasons: undefined },
] as const;

type Supposition<Code extends ReasonCode> = (
  at: Subject,
  parameters: ReasonOf<Code>['parameters'],
) => Subject;

const anyPolicy = (at: Subject) =>
  withDisruption(at, { consolidationPolicy: 'WhenEmptyOrUnderutilized' });
const anyNodes = (at: Subject) => withDisruption(at, { budgets: ALL_NODES });
const soon = (at: Subject) => withDisruption(at, { consolidateAfter: 0 });

/**
 * By code: the cluster without what the reason names, and with everything else. Where a sentence
 * leaves several things open they are tried one after the other.
 */
const SUPPOSED: { readonly [Code in ReasonCode]?: readonly Supposition<Code>[] } = {
  'node-protected': [(at) => withoutNodeAnnotation(at, DO_NOT_DISRUPT)],
  'node-nominated': [(at) => withoutNodeAnnotation(at, NOMINATED_UNTIL)],
  'pod-protected': [
    (at, { pod }) =>
      withPod(at, pod, ({ annotations }) => ({
        annotations: without(annotations, DO_NOT_DISRUPT),
      })),
  ],
  'pod-with-several-budgets': [(at, { pod }) => withOneBudget(at, pod)],
  'eviction-not-allowed': [
    (at, { budget }) =>
      withObjects(at, ({ podDisruptionBudgets, pods }) => ({
        podDisruptionBudgets: podDisruptionBudgets.map((each) =>
          `${each.namespace}/${each.name}` === budget
            ? { ...each, disruptionsAllowed: pods.length }
            : each,
        ),
      })),
  ],
  'pod-never-evicted': [
    (at, { pod }) =>
      withPod(at, pod, ({ spec }) => ({
        spec: {
          ...spec,
          tolerations: spec.tolerations.filter(
            ({ key }) => key !== '' && key !== DISRUPTED_TAINT_KEY,
          ),
        },
      })),
  ],
  'policy-when-empty': [anyPolicy],
  'policy-balanced': [anyPolicy],
  'consolidate-after-never': [soon],
  'pods-changed-recently': [soon],
  'disruptions-paused-by-pool': [(at) => withoutPoolAnnotation(at, PAUSE)],
  'fallback-too-young': [(at) => withoutEntry(at, RETURN_TO_FIRST_CHOICE, 'after')],
  'move-would-be-undone': [withoutReturns],
  'host-would-return': [withoutReturns],
  'move-held-before': [(at) => withoutNodeAnnotation(at, HELD_MOVES)],
  'move-undone-before': [(at) => withoutPoolAnnotation(at, UNDONE_MOVES)],
  'pause-begins-soon': [(at) => withoutPoolAnnotation(at, PAUSE)],
  // The other nodes stay as they are, and the room on them.
  'fallback-not-needed': [(at) => withOthersProtected(soon(anyPolicy(at)))],
  'budget-blocks': [anyNodes],
  'budgets-used-up': [anyNodes],
  'guard-unreadable': [(at, { annotation }) => withoutPoolAnnotation(at, annotation)],
  'guard-age': [(at) => withoutEntry(at, CONSOLIDATION_GUARD, 'age')],
  'guard-saving': [(at) => withoutEntry(at, CONSOLIDATION_GUARD, 'saving')],
  'guard-share': [(at) => withoutEntry(at, CONSOLIDATION_GUARD, 'share')],
  'guard-limits': [(at) => withoutPoolAnnotation(at, LIMITS_GUARD)],
  'guard-usage': [(at) => withoutPoolAnnotation(at, USAGE_GUARD)],
  'guard-usage-unknown': [(at) => withoutPoolAnnotation(at, USAGE_GUARD)],
  'pods-not-cheaper': [withRoom],
  'saving-too-small': [withFreeMoves],
  'move-does-not-pay': [withFreeMoves],
  'pod-would-wait': [withoutLimits, withoutMinValues, (at, { pod }) => withUndemanding(at, pod)],
  'limits-for-both': [withoutLimits],
  'static-limit-reached': [withoutLimits],
  'spot-to-spot-off': [
    (at) => {
      const consolidation = { ...at.settings.consolidation, spotToSpot: true };
      return { ...at, settings: { ...at.settings, consolidation } };
    },
  ],
  'spot-types-too-few': [withAllTypes],
  'cheaper-types-too-few': [withoutMinValues],
  'terminations-capped': [
    (at) => ({
      ...at,
      settings: { ...at.settings, terminationsPerMinuteMax: at.state.objects.nodes.length },
    }),
  ],
  'other-nodes-first': [withOthersProtected],
  'nodepool-static-stays': [(at) => withPool(at, () => ({ replicas: undefined }))],
};

/** The cluster without what any of the reasons names, in each way that it can be meant. */
export function supposedAway(at: Subject, reasons: readonly Reason[]): readonly Subject[] {
  const ways = reasons.map(waysOf);
  if (ways.some((each) => each.length === 0)) return [];
  const most = Math.max(...ways.map(({ length }) => length));
  return Array.from({ length: most }, (_, nth) =>
    ways.reduce((now, own) => own[Math.min(nth, own.length - 1)]?.(now) ?? now, at),
  );
}

function waysOf<Code extends ReasonCode>({
  code,
  parameters,
}: ReasonOf<Code>): readonly ((at: Subject) => Subject)[] {
  const ways: readonly Supposition<Code>[] = SUPPOSED[code] ?? [];
  return ways.map((way) => (at) => way(at, parameters));
}
