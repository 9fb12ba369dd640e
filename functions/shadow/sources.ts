import { eksClient, s3Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { describeCluster } from '../../shared/aws/eks-cluster.ts';
import { CatalogFile } from '../../shared/aws/memory/catalog-file.ts';
import { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { ObservationLog } from '../../shared/aws/memory/observation-log.ts';
import { S3Memory } from '../../shared/aws/memory/s3-memory.ts';
import { isEmbeddedRegion, loadCatalog } from '../../shared/catalog/catalog.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Learnt } from '../../shared/preview/copy.ts';
import { lambdaAccess } from '../runtime/access.ts';
import type { Config } from '../runtime/config.ts';
import { Deadline } from '../runtime/deadline.ts';
import { kubeClient } from '../runtime/kube-client.ts';
import { Prices } from '../runtime/memory.ts';
import { faultCounter, type Telemetry } from '../runtime/telemetry.ts';

/** Nobody waits for an observation, so S3 and its retry may take their time. */
const S3_MS_MAX = 10_000;

/** What an observation is made from, and where it is kept. */
export interface Sources {
  readonly kube: KubeClient;
  /** The address of the API server. */
  readonly endpoint: string;
  readonly prices: Prices;
  readonly memory: Learnt;
  readonly observations: ObservationLog;
  readonly close: () => Promise<void>;
}

/**
 * What other stacks of the account share alone: a stack that never launches has learnt nothing of
 * its own.
 */
function sharedAlone(memory: S3Memory): Learnt {
  return {
    unavailable: () => memory.unavailable(),
    unavailableSubnets: () => memory.unavailableSubnets(),
    allocatable: () => memory.allocatable(),
    failedRegistrations: async () => new Map(),
    unusedLaunches: async () => [],
  };
}

/**
 * Made anew for each run and closed after it: with a run a minute, nothing would be saved by
 * keeping what it has read.
 */
export async function openSources(
  config: Config,
  telemetry: Telemetry,
  remainingMs: number,
): Promise<Sources> {
  const deadline = new Deadline();
  deadline.begin(remainingMs);
  const { region, cluster, functionName, bucket } = config;
  const access = lambdaAccess(region, functionName, () => deadline.signal);
  const calls = new Calls(undefined, faultCounter(telemetry));
  const objects = new MemoryObjects({
    s3: s3Client(access),
    bucket,
    calls,
    report: ({ key, reason, message }) => {
      telemetry.logger.warn('memory', { key, reason, text: message });
    },
    timeoutMs: S3_MS_MAX,
  });
  const eks = eksClient(access);
  const facts = await describeCluster(eks, calls, cluster);
  const client = await kubeClient(config, async () => facts);
  const embedded = isEmbeddedRegion(region) ? await loadCatalog(region) : undefined;
  const place = { region, cluster };
  return {
    kube: client.withDeadline(() => deadline.signal),
    endpoint: facts.endpoint,
    prices: new Prices(new CatalogFile(objects, place), embedded, telemetry),
    memory: sharedAlone(new S3Memory(objects, place)),
    observations: new ObservationLog(objects, cluster),
    close: () => client.close(),
  };
}
