import { encodePause, PAUSES_CONFIG_MAP } from '../../shared/api/pauses.ts';
import type { AppSettings } from '../../shared/app/settings.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { type Catalog, repriced } from '../../shared/catalog/facts.ts';
import { DEFAULT_LAUNCH_ENVIRONMENT } from '../../shared/catalog/node-class-settings.ts';
import { offeringsPort } from '../../shared/catalog/offerings-port.ts';
import type { SelectorTerm } from '../../shared/core/model/node-class.ts';
import type { GroupUsages, PauseScope, Ports } from '../../shared/ports.ts';
import type { ReservationTerms } from '../../shared/sim/cloud/reservations.ts';
import { type Json, listAt, objectAt } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { Script } from '../../shared/sim/script.ts';
import type { Timeline } from '../../shared/sim/timeline.ts';
import { World } from '../../shared/sim/world.ts';

/** A handful of types keeps a run in milliseconds, so that hundreds of runs are affordable. */
const TYPES = /^(c7g|m7g|c6a|m6a)\.(large|xlarge|2xlarge)$/;

export interface SmallWorld {
  readonly world: World;
  readonly script: Script;
}

export async function smallWorld(
  manifests: readonly Json[],
  options: {
    readonly seed?: number;
    readonly scenario?: Scenario;
    readonly wrap?: (ports: Ports) => Ports;
    readonly settings?: Partial<AppSettings>;
    readonly tickOffsetMs?: number;
    /** @default 'demo' */
    readonly cluster?: string;
    /** Of worlds beside each other. */
    readonly timeline?: Timeline;
    readonly groupUsages?: GroupUsages;
    /** Names of the types that there are. */
    readonly types?: RegExp;
    /** What the account has reserved. @default nothing */
    readonly reservations?: readonly ReservationTerms[];
  } = {},
): Promise<SmallWorld> {
  const all = await loadCatalog('us-east-1');
  const { types = TYPES } = options;
  let catalog: Catalog = { ...all, types: all.types.filter((type) => types.test(type.name)) };
  const network = {
    reservations: async (terms: readonly SelectorTerm[]) =>
      await world.compute.reservations.matching(terms),
  };
  const world: World = new World({
    cluster: options.cluster ?? 'demo',
    seed: options.seed ?? 1,
    zones: catalog.zones.slice(0, 3),
    catalog: offeringsPort('us-east-1', () => catalog, DEFAULT_LAUNCH_ENVIRONMENT, network),
    reservations: options.reservations ?? [],
    ...(options.wrap === undefined ? {} : { wrap: options.wrap }),
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.timeline === undefined ? {} : { timeline: options.timeline }),
    ...(options.groupUsages === undefined ? {} : { groupUsages: options.groupUsages }),
    ...(options.tickOffsetMs === undefined ? {} : { tickOffsetMs: options.tickOffsetMs }),
  });
  const script = new Script(world, {
    manifests: () => [],
    reprice: (change) => {
      catalog = repriced(catalog, [change]);
    },
  });
  script.apply(manifests);
  if (options.scenario !== undefined) script.plan(options.scenario);
  return { world, script };
}

export const nodeClass: Json = {
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'default' },
  spec: {
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    role: 'node-role',
    subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
    securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
  },
};

export function nodePool(capacityTypes: readonly string[], spec: Json = {}): Json {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      ...spec,
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          requirements: [
            { key: 'karpenter.sh/capacity-type', operator: 'In', values: [...capacityTypes] },
          ],
          expireAfter: 'Never',
        },
      },
    },
  };
}

export function deployment(name: string, replicas: number, cpu: string, spec: Json = {}): Json {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          ...spec,
          containers: [{ name: 'main', image: 'app', resources: { requests: { cpu } } }],
        },
      },
    },
  };
}

/** A Job of the Deployment's pods. */
export function jobOf({ metadata, spec }: Json, fields: Json): Json {
  const { template } = Object(spec) as { readonly template: Json };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { ...fields, template } };
}

/** The NodePool with the fields in the spec of its template. */
export function withTemplate(pool: Json, fields: Json): Json {
  const spec = objectAt(pool, 'spec');
  const template = objectAt(spec, 'template');
  const own = { ...objectAt(template, 'spec'), ...fields };
  return { ...pool, spec: { ...spec, template: { ...template, spec: own } } };
}

/** The NodePool with one more requirement. */
export function withRequirement(pool: Json, requirement: Json): Json {
  const { template, ...spec } = objectAt(pool, 'spec');
  const own = objectAt(template as Json, 'spec');
  const requirements = [...listAt(own, 'requirements'), requirement];
  return { ...pool, spec: { ...spec, template: { spec: { ...own, requirements } } } };
}

function onNodeOf(app: string): Json {
  const term = { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' };
  return { requiredDuringSchedulingIgnoredDuringExecution: [term] };
}

/** Of a pod's spec: no two pods of the workload on one node. */
/** What `joiner pause` writes. */
export function pausesMap(untilMs: ReadonlyMap<PauseScope, number>): Json {
  const data = Object.fromEntries([...untilMs].map(([scope, ms]) => encodePause(scope, ms)));
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: PAUSES_CONFIG_MAP, data };
}

export function apartOf(app: string): Json {
  return { affinity: { podAntiAffinity: onNodeOf(app) } };
}

/** Of a pod's spec: all pods of the workload on one node. */
export function togetherOf(app: string): Json {
  return { affinity: { podAffinity: onNodeOf(app) } };
}

/** Of a pod's spec: the workload's pods are spread evenly over zones. */
export function spreadOf(app: string): Json {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'topology.kubernetes.io/zone',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app } },
  };
  return { topologySpreadConstraints: [constraint] };
}

/** The workload, with annotations on its pods. */
export function withPodAnnotations(object: Json, annotations: Json): Json {
  const spec = object['spec'] as { readonly template: { readonly metadata: Json } };
  const metadata = { ...spec.template.metadata, annotations };
  return { ...object, spec: { ...spec, template: { ...spec.template, metadata } } };
}
