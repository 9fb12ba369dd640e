import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { s3Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { eventBridgeClient } from '../../shared/aws/events.ts';
import { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { BUCKET_LAYOUT, PROBE } from '../../shared/contract.ts';
import type { Facts } from './facts.ts';
import { awsOf } from './gather.ts';
import { fail, type Line, ok, warn } from './line.ts';

const CHECK = 'probe';
const WAIT_MS_MAX = 60_000;
const LOOK_MS = 1_000;

/** How the doctor waits; tests wait less. */
export interface ProbeOptions {
  readonly waitMsMax?: number;
  readonly lookMs?: number;
}

/**
 * Sends a marked event the way of EC2's notices and waits for its mark: rule, queue and function
 * are there, and let each other in.
 */
export async function probe(
  { asked, functions }: Pick<Facts, 'asked' | 'functions'>,
  { waitMsMax = WAIT_MS_MAX, lookMs = LOOK_MS }: ProbeOptions = {},
): Promise<Line> {
  const found = functions.ok
    ? functions.value.map(({ bucket }) => bucket).find(Boolean)
    : undefined;
  if (found === undefined) {
    return warn(CHECK, 'not sent: there is no stack', 'deploy it, or name its cluster and region');
  }
  const { access } = awsOf(asked.region);
  const mark = randomBytes(8).toString('hex');
  const Detail = JSON.stringify({ cluster: asked.cluster, mark });
  const entry = { Source: PROBE.source, DetailType: PROBE.detailType, Detail };
  const sentAtMs = Date.now();
  try {
    const command = new PutEventsCommand({ Entries: [entry] });
    const { Entries = [] } = await eventBridgeClient(access).send(command);
    const refusal = Entries.find(({ ErrorCode }) => ErrorCode !== undefined);
    if (refusal !== undefined) throw new Error(`${refusal.ErrorCode}: ${refusal.ErrorMessage}`);
  } catch (error) {
    const advice = 'the caller needs events:PutEvents on the default bus';
    return warn(CHECK, `not sent: ${error instanceof Error ? error.message : error}`, advice);
  }
  const calls = new Calls();
  const objects = new MemoryObjects({
    s3: s3Client(access),
    bucket: found,
    calls,
    report: () => undefined,
    timeoutMs: 10_000,
  });
  const folder = `${BUCKET_LAYOUT.cluster(asked.cluster)}${BUCKET_LAYOUT.decisions}`;
  for (;;) {
    const tookMs = Date.now() - sentAtMs;
    for (const day of [sentAtMs, Date.now()].map((atMs) => new Date(atMs).toISOString())) {
      const names = (await objects.keys(`${folder}${day.slice(0, 10)}/`)) ?? [];
      if (names.some((name) => name.endsWith(`${PROBE.decision}${mark}.ndjson`))) {
        const seconds = (tookMs / 1000).toFixed(1);
        return ok(CHECK, `a marked event came through rule, queue and interrupt in ${seconds} s`);
      }
    }
    if (tookMs >= waitMsMax) {
      const message = `a marked event had no answer within ${Math.round(waitMsMax / 1000)} s`;
      const advice =
        `look at the rule "Joiner, ${asked.cluster}: ${PROBE.detailType}", the ` +
        "interruption queue's policy and the log of interrupt: spot warnings go the same way";
      return fail(CHECK, objects.silence ?? message, advice);
    }
    await sleep(lookMs);
  }
}
