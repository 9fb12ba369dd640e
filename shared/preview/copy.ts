import { appSettings, type UseCaseSettings } from '../app/settings.ts';
import type { Catalog as CatalogFacts } from '../catalog/facts.ts';
import type { LaunchBackoff } from '../core/launch/launch-backoff.ts';
import type {
  Catalog,
  ClusterReader,
  ClusterState,
  DecisionRecord,
  Memory,
  Ports,
} from '../ports.ts';
import { DryCluster } from './dry-cluster.ts';
import { DryGroupUsages, type SharedUsages } from './dry-group-usages.ts';

/** What the functions have learnt, as far as plans go by it. */
export type Learnt = Pick<
  Memory,
  'unavailable' | 'unavailableSubnets' | 'failedRegistrations' | 'unusedLaunches' | 'allocatable'
>;

/** What a preview goes by. */
export interface Previewed {
  readonly live: Pick<ClusterReader, 'wantedPods' | 'podUsage'>;
  readonly state: ClusterState;
  readonly catalog: Catalog;
  /** Where prices of nodes come from, whatever their NodePool can launch now. */
  readonly prices: CatalogFacts;
  readonly nowMs: number;
  /** Pods for which nothing is launched for now, by what their Events say. */
  readonly backoffs?: ReadonlyMap<string, LaunchBackoff>;
  /** What the functions have learnt; absent: nothing. */
  readonly memory?: Learnt | undefined;
  /** What clusters hold of shared limit groups; absent: others hold nothing. */
  readonly groupUsages?: SharedUsages | undefined;
  /** That the catalog lacks no type that is offered. @default false */
  readonly isCatalogCurrent?: boolean;
  /** What the stack decides by; absent: the defaults. */
  readonly settings?: UseCaseSettings;
}

/** Nothing is remembered where no bucket is read, and nothing is written. */
const NO_MEMORY: Memory = {
  unavailable: async () => [],
  unavailableSubnets: async () => new Set(),
  markUnavailable: async () => undefined,
  forgetBars: async () => undefined,
  failedRegistrations: async () => new Map(),
  recordRegistration: async () => undefined,
  recordLaunchWay: async () => undefined,
  unusedLaunches: async () => [],
  recordOutcomes: async () => undefined,
  recordAllocatable: async () => undefined,
  allocatable: async () => (_, __, computedBytes) => computedBytes,
};

/** What was learnt, by whom it was told; nothing is written to it. */
export function rememberedBy(memory: Learnt | undefined, backoffs: Previewed['backoffs']): Memory {
  const told = backoffs === undefined ? {} : { toldBackoffs: backoffs };
  if (memory === undefined) return { ...NO_MEMORY, ...told };
  return {
    ...NO_MEMORY,
    ...told,
    unavailable: () => memory.unavailable(),
    unavailableSubnets: () => memory.unavailableSubnets(),
    failedRegistrations: () => memory.failedRegistrations(),
    unusedLaunches: () => memory.unusedLaunches(),
    allocatable: () => memory.allocatable(),
  };
}

/** A port that is no part of it. */
export function unused<Port extends object>(what: string): Port {
  return new Proxy({} as Port, {
    get: (_, member) => () => {
      throw new Error(`${what}.${String(member)} is no part of a preview`);
    },
  });
}

/** Names count, so that two previews of one state are the same bytes. */
function counted(): Ports['ids'] {
  let made = 0;
  return {
    suffix: () => {
      made += 1;
      return `new${made}`;
    },
  };
}

function dryPorts(
  { catalog, nowMs, backoffs, memory, groupUsages, isCatalogCurrent = false }: Previewed,
  cluster: DryCluster,
  decisions: DecisionRecord[],
): Ports {
  return {
    cluster,
    catalog,
    compute: unused('compute'),
    images: unused('images'),
    network: unused('network'),
    profiles: unused('profiles'),
    memory: rememberedBy(memory, backoffs),
    groupUsages: new DryGroupUsages(groupUsages),
    clock: { nowMs: () => nowMs, sleep: async () => undefined },
    ids: counted(),
    recorder: {
      decision: async (record) => {
        decisions.push(record);
      },
      count: () => undefined,
    },
    isCatalogCurrent: () => isCatalogCurrent,
  };
}

/** What {@link copied} makes. */
export type Copied = ReturnType<typeof copied>;

/** A copy of the cluster, and ports through which the use cases see it and nothing else. */
export function copied(input: Previewed) {
  const state = { ...input.state, pausedUntilMs: {}, karpenterRenewedAtMs: undefined };
  const cluster = new DryCluster(state, input.live, input.nowMs);
  const decisions: DecisionRecord[] = [];
  const ports = dryPorts(input, cluster, decisions);
  const envelope = { accountId: '', region: input.catalog.region };
  const settings = appSettings('', envelope, input.settings);
  return { state, cluster, decisions, ports, settings };
}
