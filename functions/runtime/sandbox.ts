import { randomInt, randomUUID } from 'node:crypto';
import { kindDecoders } from '../../shared/api/kinds.ts';
import { idsBy } from '../../shared/app/writes/claim-names.ts';
import { type AwsAccess, eksClient } from '../../shared/aws/access.ts';
import type { Calls } from '../../shared/aws/calls.ts';
import { cachedCluster, describeCluster } from '../../shared/aws/eks-cluster.ts';
import type { DecisionLog } from '../../shared/aws/memory/decision-log.ts';
import type { SnapshotLog } from '../../shared/aws/memory/snapshot-log.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import type { ClusterFacts } from '../../shared/core/launch/cluster-facts.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { kubeCluster } from '../../shared/kube/cluster.ts';
import { kubeLeases } from '../../shared/kube/leases.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import type { Leases, Ports, Recorder } from '../../shared/ports.ts';
import type { Invocation } from './compose.ts';
import type { Config } from './config.ts';
import { Deadline } from './deadline.ts';
import { karpenterNews } from './karpenter-news.ts';
import { kubeClient } from './kube-client.ts';
import { noCatalog, openMemory } from './memory.ts';
import { newsFilter } from './repeats.ts';
import { logRecorder, type Telemetry } from './telemetry.ts';

/** What the adapters of a function are made from. */
export interface Base {
  readonly config: Config;
  readonly access: AwsAccess;
  readonly calls: Calls;
  readonly cluster: () => Promise<ClusterFacts>;
  /** Rejects where there is neither a catalog in the bucket nor an embedded one. */
  readonly catalog: () => Catalog;
}

/** The ports behind which AWS is: each function composes those that its role may use. */
export type Cloud = Pick<
  Ports,
  'compute' | 'images' | 'network' | 'profiles' | 'catalog' | 'zonalShifts'
>;

/** Everything a function keeps from one invocation to the next. */
export interface Sandbox {
  readonly deadline: Deadline;
  readonly ports: Ports;
  readonly kube: KubeClient;
  readonly base: Base;
  /** Whoever acquires one is the invocation of this request id. */
  readonly leases: (requestId: string) => Leases;
  /** The newest prices that the bucket has, before decisions are made with them. */
  readonly refreshPrices: () => Promise<void>;
  /** Has what other functions remember read again: an interruption counts for the next plan. */
  readonly invalidate: () => void;
  /** Writes what is to be remembered; before the sandbox is frozen. */
  readonly flush: () => Promise<void>;
}

/** By function: Lambda has one a process, tests have all. */
const open = new Map<string, Promise<Sandbox>>();

/** The sandbox of a function, made by its first invocation; one that failed is made again. */
export async function openSandbox(
  { config, telemetry, remainingMs }: Invocation,
  cloud: (base: Base) => Cloud,
): Promise<Sandbox> {
  const { functionName } = config;
  const known = open.get(functionName);
  if (known !== undefined) {
    const sandbox = await known;
    sandbox.deadline.begin(remainingMs());
    return sandbox;
  }
  const deadline = new Deadline();
  deadline.begin(remainingMs());
  const sandbox = assemble(config, telemetry, cloud, deadline);
  open.set(functionName, sandbox);
  sandbox.catch(() => open.delete(functionName));
  return await sandbox;
}

/** Closes the sandboxes of this process; Lambda never does, tests do. */
export async function closeSandboxes(): Promise<void> {
  const all = [...open.values()];
  open.clear();
  for (const sandbox of all) await (await sandbox).kube.close();
}

/** Decisions in the log and in the bucket, without repeats. */
function keptRecorder(
  recorder: Recorder,
  decisions: DecisionLog,
  snapshots: SnapshotLog,
): Recorder {
  const isNews = newsFilter();
  return {
    ...recorder,
    decision: async (record) => {
      if (!isNews(record)) return;
      await recorder.decision(record);
      decisions.add(record);
    },
    recording: (name, atMs, text) => snapshots.add(name, atMs, text),
  };
}

async function assemble(
  config: Config,
  telemetry: Telemetry,
  cloud: (base: Base) => Cloud,
  deadline: Deadline,
): Promise<Sandbox> {
  const opened = await openMemory(config, telemetry, () => deadline.signal);
  const { access, calls, memory, groupUsages, decisions, snapshots, prices, degradations } = opened;
  const eks = eksClient(access);
  const facts = cachedCluster(
    () => describeCluster(eks, calls, config.cluster),
    () => Date.now(),
  );
  const patient = await kubeClient(config, facts);
  const kube = patient.withDeadline(() => deadline.signal);
  // A Lease is released after that, but not for so long that nothing is written any more.
  const leaseClient = patient.withDeadline(() => deadline.leaseSignal);
  const catalog = (): Catalog => prices.current ?? noCatalog(config.region);
  const base: Base = { config, access, calls, cluster: facts, catalog };
  return {
    deadline,
    kube,
    base,
    refreshPrices: () => prices.refresh(),
    invalidate: () => memory.expire(),
    flush: async () => {
      await Promise.all([memory.flush(), decisions.flush(), snapshots.flush()]);
    },
    // Lambda may deliver an event twice, with the same request id: only one of the two may hold.
    leases: (requestId) => {
      const holder = `${requestId}/${randomUUID()}`;
      return kubeLeases({ client: leaseClient, holder, by: config.functionName });
    },
    ports: {
      ...cloud(base),
      cluster: kubeCluster({
        client: kube,
        decoders: kindDecoders('server'),
        onInvalid: (object, issues) => {
          telemetry.logger.warn('object that cannot be read', { object, issues: [...issues] });
        },
        onKarpenter: karpenterNews(telemetry, systemTiming.nowMs),
      }),
      memory,
      groupUsages,
      clock: systemTiming,
      ids: idsBy((letters) => randomInt(letters)),
      degradations,
      isCatalogCurrent: () => prices.isCurrent,
      recorder: keptRecorder(logRecorder(telemetry), decisions, snapshots),
    },
  };
}
