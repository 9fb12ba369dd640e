import * as z from 'zod';
import { recordsOf } from '../../shared/api/decision-record.ts';
import { s3Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { chosenDecisions, publishDecisions } from '../../shared/aws/decision-events.ts';
import { eventBridgeClient } from '../../shared/aws/events.ts';
import { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { DECISION_EVENTS, ENV } from '../../shared/contract.ts';
import { lambdaAccess } from '../runtime/access.ts';
import { composed } from '../runtime/compose.ts';
import type { Config } from '../runtime/config.ts';
import { Deadline } from '../runtime/deadline.ts';
import { faultCounter } from '../runtime/telemetry.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html */
const objectCreated = z.object({
  detail: z.object({
    bucket: z.object({ name: z.string() }),
    object: z.object({ key: z.string() }),
  }),
});

/** Nobody waits for an event, so S3 and its retry may take their time. */
const READ_MS_MAX = 10_000;

const published = z.enum(DECISION_EVENTS).parse(process.env[ENV.decisionEvents] ?? 'changes');

/**
 * Publishes the decisions of one object of records as events. The invocation that decided has ended
 * before. Where an event is refused, the invocation fails and Lambda runs it twice more: an event
 * may come more than once, with the same id.
 */
export const handler = composed(async (event: unknown, { config, telemetry, remainingMs }) => {
  const { bucket, object } = objectCreated.parse(event).detail;
  if (bucket.name !== config.bucket) throw new Error(`${bucket.name} is not the stack's bucket`);
  const deadline = new Deadline();
  deadline.begin(remainingMs());
  const access = lambdaAccess(config.region, config.functionName, () => deadline.signal);
  const calls = new Calls(undefined, faultCounter(telemetry));
  const problems: string[] = [];
  const objects = new MemoryObjects({
    s3: s3Client(access),
    bucket: config.bucket,
    calls,
    report: ({ message }) => problems.push(message),
    timeoutMs: READ_MS_MAX,
  });
  const found = await objects.read(object.key);
  if (found === undefined) throw new Error(`${object.key} cannot be read: ${problems.join('; ')}`);
  // It was deleted since, with the stack's memory or by its age.
  if (found === 'absent') return { published: 0, omitted: 0, faulty: 0 };
  const { records, faulty } = recordsOf(new TextDecoder().decode(found.body));
  const chosen = chosenDecisions(records, published);
  const parts = { eventBridge: eventBridgeClient(access), calls };
  await publishDecisions(parts, chosen, clusterArn(config));
  const counts = { published: chosen.length, omitted: records.length - chosen.length, faulty };
  telemetry.logger.info('decision events', { key: object.key, ...counts });
  return counts;
});

function clusterArn({ region, account, cluster }: Config): string {
  const partition = region.startsWith('cn-') ? 'aws-cn' : 'aws';
  return `arn:${partition}:eks:${region}:${account}:cluster/${cluster}`;
}
