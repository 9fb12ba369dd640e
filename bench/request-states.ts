/** States of a cluster in which the functions' requests are counted, and the counting. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RESOURCES } from '../shared/api/resources.ts';
import { ENV, type FunctionName } from '../shared/contract.ts';
import { KubeRecorder } from '../test/support/bundles/kube-recorder.ts';
import { contextOf, environmentOf, type Handler } from '../test/support/closed-loop/functions.ts';
import { each, upTo } from './at-once.ts';
import {
  createClaim,
  createNode,
  createPod,
  furnish,
  instanceId,
  nodeName,
  startWorld,
  type World,
} from './large-cluster.ts';

/** Requests of one function in a minute, or in the runs of a minute. */
export interface Counted {
  readonly aws: number;
  readonly api: number;
  /** How many of which, for people. */
  readonly detail: Readonly<Record<string, number>>;
}

/** A cluster whose functions' requests are counted on their way. */
export interface CountedWorld {
  readonly world: World;
  run(name: FunctionName, event: object, remainingMs: number | (() => number)): Promise<unknown>;
  /** What has been asked since the last time. */
  take(): Counted;
  stop(): Promise<void>;
}

export async function countedWorld(): Promise<CountedWorld> {
  const world = await startWorld({ controllers: false });
  await furnish(world);
  const { plane, cloud } = world;
  const recorder = new KubeRecorder({
    url: plane.url,
    caPem: plane.caPem,
    adminToken: plane.adminToken,
    isLent: () => true,
  });
  const endpoint = await recorder.listen();
  cloud.cluster = { ...cloud.cluster, endpoint };
  Object.assign(process.env, environmentOf(cloud, { [ENV.logLevel]: 'SILENT' }));
  const { closeSandboxes } = await import('../functions/runtime/sandbox.ts');
  let [calls, requests] = [0, 0];
  return {
    world,
    run: async (name, event, remainingMs) => {
      process.env[ENV.function] = name;
      const { handler } = (await import(`../functions/${name}/handler.ts`)) as {
        handler: Handler;
      };
      return await handler(event, contextOf(name, remainingMs));
    },
    take: () => {
      const aws = cloud.server.calls.slice(calls);
      const api = recorder.requests.slice(requests);
      [calls, requests] = [cloud.server.calls.length, recorder.requests.length];
      const names = [
        ...aws.map(({ service, operation }) => `${service}:${operation}`),
        ...api.map(({ verb, resource }) => `${verb} ${resource}`),
      ];
      const detail: Record<string, number> = {};
      for (const name of names) detail[name] = (detail[name] ?? 0) + 1;
      return { aws: aws.length, api: api.length, detail };
    },
    stop: async () => {
      await closeSandboxes();
      await recorder.close();
      await world.stop();
    },
  };
}

/** A pass is begun while more than this is left. */
const RESERVE_MS = 20_000;
const MINUTE_MS = 60_000;
/** By then the pauses are as long as they get. */
const SLOWED_MS = 40_000;

/** What `lifecycle` asks in the minute after it has slowed down; ticks come meanwhile. */
export async function steadyMinute(counted: CountedWorld): Promise<Counted> {
  const staying = counted.run('lifecycle', {}, SLOWED_MS + MINUTE_MS + RESERVE_MS);
  await sleep(SLOWED_MS);
  // What the first passes have left to be remembered is written by the first tick.
  await counted.run('lifecycle', {}, MINUTE_MS);
  counted.take();
  await sleep(MINUTE_MS - 2_000);
  await counted.run('lifecycle', {}, MINUTE_MS);
  const minute = counted.take();
  await staying;
  return minute;
}

/** Nodes at work, from the given one on, with a pod each. */
export async function addNodes({ world }: CountedWorld, from: number, to: number): Promise<void> {
  await each(upTo(to - from), async (offset) => {
    const at = from + offset;
    await createClaim(world, at);
    await createNode(world.admin, at);
    await createPod(world.admin, at, nodeName(at));
  });
}

/** A budget that nobody keeps up lets nothing go, and the claims of these nodes are deleted. */
export async function blockDrains(counted: CountedWorld, from: number, to: number): Promise<void> {
  const { admin } = counted.world;
  await addNodes(counted, from, to);
  const spec = { selector: { matchLabels: { tier: 'backend' } }, maxUnavailable: 0 };
  const budget = { metadata: { name: `all-${from}` }, spec };
  if (from === 0) await admin.create(RESOURCES.podDisruptionBudgets, budget, 'default');
  await each(upTo(to - from), (offset) =>
    admin.delete(RESOURCES.nodeClaims, { name: nodeName(from + offset) }, {}),
  );
}

/** Instances that were launched a moment ago, and no node of them. */
export async function launchInVain(counted: CountedWorld, from: number, to: number): Promise<void> {
  const { admin } = counted.world;
  await each(upTo(to - from), async (offset) => {
    const name = nodeName(from + offset);
    await createClaim(counted.world, from + offset);
    const lastTransitionTime = new Date().toISOString();
    const conditions = [
      { type: 'Launched', status: 'True', reason: 'Launched', message: '', lastTransitionTime },
    ];
    const value = { status: { conditions } };
    await admin.patch(RESOURCES.nodeClaims, { name }, { kind: 'merge', value }, 'status');
  });
}

const BATCH = 10;

/** Messages about instances of others that the queue took so long ago. */
export async function foreignStorm(
  counted: CountedWorld,
  messages: number,
  agoMs: number,
): Promise<void> {
  const { account } = counted.world.cloud;
  for (let at = 0; at < messages; at += BATCH) {
    const Records = Array.from({ length: BATCH }, (_, offset) => {
      const sentAtMs = Date.now() - agoMs;
      const body = JSON.stringify({
        source: 'aws.ec2',
        'detail-type': 'EC2 Spot Instance Interruption Warning',
        account: account.id,
        region: 'us-east-1',
        time: new Date(sentAtMs).toISOString(),
        detail: { 'instance-id': instanceId(1_000_000 + at + offset) },
      });
      const attributes = { SentTimestamp: String(sentAtMs) };
      return { messageId: `m-${at + offset}`, body, attributes };
    });
    await counted.run('interrupt', { Records }, MINUTE_MS);
  }
}
