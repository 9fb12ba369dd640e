import * as z from 'zod';
import { kindDecoders } from '../../shared/api/kinds.ts';
import {
  eksClient,
  environmentCredentials,
  s3Client,
  sqsClient,
  ssmClient,
} from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { cachedCluster, describeCluster } from '../../shared/aws/eks-cluster.ts';
import { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { queueDepthReader } from '../../shared/aws/queue-depth.ts';
import { signerFor } from '../../shared/aws/remote-write-access.ts';
import type { RemoteWriteTarget } from '../../shared/contract/remote-write.ts';
import {
  BUCKET_LAYOUT,
  ENV,
  FUNCTION_NAMES,
  functionName,
  interruptionQueueNames,
} from '../../shared/contract.ts';
import { clusterViewReader } from '../../shared/kube/cluster-view.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import type { ClusterView } from '../../shared/ports/metrics.ts';
import { isDelivery } from '../../shared/prometheus/log-lines.ts';
import { fetchPost } from '../../shared/prometheus/post.ts';
import { lambdaAccess } from '../runtime/access.ts';
import { composed, type Invocation } from '../runtime/compose.ts';
import type { Config } from '../runtime/config.ts';
import { Deadline } from '../runtime/deadline.ts';
import { kubeClient } from '../runtime/kube-client.ts';
import { faultCounter, type Telemetry } from '../runtime/telemetry.ts';
import { RemoteWriter } from './writer.ts';

const target = z.object({
  endpoint: z.url(),
  secret: z.string().optional(),
  perPod: z.boolean(),
});

/** Nobody waits for what is counted, so S3 and its retry may take their time. */
const S3_MS_MAX = 10_000;

const deadline = new Deadline();
let open: RemoteWriter | undefined;

/**
 * Writes what Joiner measures to Prometheus. Its events are deliveries of the other functions' logs,
 * which are counted, and the schedule, by which all is written once a minute.
 */
export const handler = composed(async (event: unknown, invocation) => {
  const { telemetry, remainingMs } = invocation;
  deadline.begin(remainingMs());
  open ??= openWriter(invocation);
  if (isDelivery(event)) return await open.count(event);
  const { faults, unread, ...counts } = await open.write();
  for (const text of unread) telemetry.logger.warn('not read', { text });
  if (faults.length > 0) {
    throw new Error(`${counts.failed} samples were not written: ${faults.join('; ')}`);
  }
  return counts;
});

function openWriter({ config, telemetry }: Invocation): RemoteWriter {
  const { endpoint, secret, perPod } = readTarget();
  const access = lambdaAccess(config.region, config.functionName, () => deadline.signal);
  const calls = new Calls(undefined, faultCounter(telemetry));
  const address = new URL(endpoint);
  const objects = new MemoryObjects({
    s3: s3Client(access),
    bucket: config.bucket,
    calls,
    report: ({ key, reason, message }) => {
      telemetry.logger.warn('memory', { key, reason, text: message });
    },
    timeoutMs: S3_MS_MAX,
  });
  const sleep = (ms: number): Promise<void> => systemTiming.sleep(ms);
  const groups = new Map(
    FUNCTION_NAMES.map((name) => [`/aws/lambda/${functionName(config.cluster, name)}`, name]),
  );
  const ssm = ssmClient(access);
  const credentials = async () => environmentCredentials(process.env);
  return new RemoteWriter({
    cluster: config.cluster,
    version: config.version,
    perPod,
    store: { objects, key: BUCKET_LAYOUT.totals(config.cluster), sleep },
    sender: {
      endpoint: address,
      authorize: signerFor({ endpoint: address, secret, ssm, calls, credentials }),
      version: config.version,
      post: fetchPost(() => deadline.signal),
      sleep,
    },
    view: clusterViewOf(config, calls, telemetry, access),
    queueDepth: queueDepthReader(
      sqsClient(access),
      calls,
      interruptionQueueNames(config.cluster).queue,
    ),
    functionOf: (group) => groups.get(group),
    nowMs: () => Date.now(),
  });
}

function readTarget(): RemoteWriteTarget {
  const { secret, ...others } = target.parse(JSON.parse(process.env[ENV.remoteWrite] ?? 'null'));
  return secret === undefined ? others : { ...others, secret };
}

/** A cluster that could not be reached is asked for anew; one that was is kept and caught up. */
function clusterViewOf(
  config: Config,
  calls: Calls,
  { logger }: Telemetry,
  access: Parameters<typeof eksClient>[0],
): () => Promise<ClusterView> {
  const eks = eksClient(access);
  const facts = cachedCluster(
    () => describeCluster(eks, calls, config.cluster),
    () => Date.now(),
  );
  let reader: (() => Promise<ClusterView>) | undefined;
  return async () => {
    if (reader === undefined) {
      const client = await kubeClient(config, facts);
      reader = clusterViewReader({
        client: client.withDeadline(() => deadline.signal),
        decoders: kindDecoders('server'),
        onInvalid: (object, issues) => {
          logger.warn('object that cannot be read', { object, issues: [...issues] });
        },
      });
    }
    return await reader();
  };
}
