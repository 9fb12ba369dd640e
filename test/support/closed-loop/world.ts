import { afterAll, beforeAll, describe } from 'vitest';
import type { Context } from '../../../functions/runtime/context.ts';
import { ENV } from '../../../shared/contract.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { listEach, property, text } from '../../../shared/kube/list.ts';
import { RESOURCES, type Resource } from '../../../shared/kube/resources.ts';
import { ensureNamespace } from '../../contract/kube-objects.ts';
import { BUCKET, CLUSTER, WireCloud } from '../aws/cloud.ts';
import type { ModelInstance } from '../aws/model/account.ts';
import { establishCrds, ourCrds } from '../control-plane/crds.ts';
import { applyManifests, readManifests } from '../control-plane/manifests.ts';
import { describeWithControlPlane } from '../control-plane/suite.ts';
import { startTokenWebhook, type TokenWebhook } from '../control-plane/token-webhook.ts';
import { runKubelets } from '../kubelet.ts';
import { joinInstances } from './instances.ts';

const REGION = 'us-east-1';
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };
const IMAGES = { x86_64: 'ami-0123456789abcdef0', arm64: 'ami-0123456789abcdef1' } as const;

/** How often the functions are run in turn: a minute of the schedule, compressed. */
const TICK_MS = 200;

type Handler = (event: object, context: Context) => Promise<unknown>;

/** A cluster with a real control plane, a cloud over the wire, and the functions as deployed. */
export interface ClosedLoop {
  readonly admin: () => KubeClient;
  readonly cloud: WireCloud;
  /** Applies objects as a person with kubectl does. */
  apply(objects: readonly object[]): Promise<void>;
  /** Runs provision, lifecycle and nodeclass in turn until the condition holds. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>;
  /** Hands messages to the function `interrupt` as SQS does; ids of those that come again. */
  interrupt(bodies: readonly string[]): Promise<readonly string[]>;
  list(resource: Resource): Promise<readonly unknown[]>;
  /** What a device plugin reports on nodes of an instance type, by its name. */
  readonly devices: Map<string, Readonly<Record<string, string>>>;
}

function context(name: string): Context {
  const endsAtMs = Date.now() + 60_000;
  return {
    awsRequestId: `${name}-${Math.random().toString(36).slice(2)}`,
    functionName: name,
    functionVersion: '1',
    invokedFunctionArn: `arn:aws:lambda:${REGION}:111122223333:function:${name}`,
    memoryLimitInMB: '1769',
    logGroupName: name,
    logStreamName: name,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => endsAtMs - Date.now(),
  };
}

/** The variables that the stack sets, pointed at loopback. */
function setEnvironment(cloud: WireCloud, logLevel: string): void {
  Object.assign(process.env, {
    [ENV.cluster]: CLUSTER,
    [ENV.function]: 'provision',
    [ENV.version]: 'test',
    [ENV.account]: cloud.account.id,
    [ENV.bucket]: BUCKET,
    [ENV.eventBus]: 'joiner-demo',
    [ENV.batchIdleDuration]: '50ms',
    [ENV.batchMaxDuration]: '500ms',
    [ENV.logLevel]: logLevel,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    AWS_ENDPOINT_URL: cloud.endpoint,
    POWERTOOLS_DEV: 'false',
    POWERTOOLS_METRICS_DISABLED: 'true',
  });
}

async function handlerOf(name: string): Promise<Handler> {
  const module = (await import(`../../../functions/${name}/handler.ts`)) as { handler: Handler };
  return module.handler;
}

/** Images and aliases of the class `default`, so that nothing has to be looked up elsewhere. */
function furnish({ account }: WireCloud): void {
  for (const [arch, id] of Object.entries(IMAGES)) {
    for (const variant of ['standard', 'nvidia', 'neuron']) {
      const folder = `/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/${arch}/${variant}`;
      account.parameters.set(`${folder}/recommended/image_id`, id);
    }
  }
  account.images = Object.entries(IMAGES).map(([arch, id]) => ({
    ImageId: id,
    Name: `amazon-eks-node-al2023-${arch}-standard-1.33`,
    Architecture: arch as keyof typeof IMAGES,
    CreationDate: '2026-01-01T00:00:00.000Z',
    State: 'available',
    OwnerId: '602401143452',
  }));
}

interface Started {
  readonly webhook: TokenWebhook;
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly stop: () => Promise<void>;
}

/** A suite with a closed loop of its own, skipped where no control plane can be had. */
export async function describeClosedLoop(
  title: string,
  body: (loop: ClosedLoop) => void,
): Promise<void> {
  const cloud = new WireCloud();
  const devices: ClosedLoop['devices'] = new Map();
  const known = { ...KEYS, username: 'joiner', groups: ['joiner:controller'] };
  let webhook: TokenWebhook | undefined;
  beforeAll(async () => {
    webhook = await startTokenWebhook(CLUSTER, REGION, [known]);
  });
  afterAll(async () => webhook?.close());
  await describeWithControlPlane(
    title,
    ({ admin, plane }) => {
      let started: Started | undefined;
      beforeAll(async () => {
        furnish(cloud);
        await cloud.start();
        const { url, caPem } = plane();
        const data = Buffer.from(caPem).toString('base64');
        cloud.cluster = { ...cloud.cluster, endpoint: url, certificateAuthority: { data } };
        started = await start(cloud, admin(), devices);
      }, 120_000);
      afterAll(async () => started?.stop(), 60_000);
      describe('', () => body({ ...loopOf(cloud, admin, () => started?.handlers ?? {}), devices }));
    },
    () => ({ tokenWebhookUrl: webhook?.url ?? '' }),
  );
}

async function start(
  cloud: WireCloud,
  admin: KubeClient,
  devices: ClosedLoop['devices'],
): Promise<Started> {
  await ensureNamespace(admin, 'default');
  await ensureNamespace(admin, 'kube-system');
  await establishCrds(admin, await ourCrds());
  await applyManifests(admin, await readManifests('infra/rbac/controller.yaml'));
  setEnvironment(cloud, process.env['JOINER_TEST_LOG'] ?? 'CRITICAL');
  const names = ['nodeclass', 'provision', 'lifecycle', 'interrupt'];
  const loaded = await Promise.all(
    names.map(async (name) => [name, await handlerOf(name)] as const),
  );
  const over = new AbortController();
  const kubelets = runKubelets(admin, over.signal);
  const stopInstances = joinInstances(cloud, admin, devices);
  const { closeSandboxes } = await import('../../../functions/runtime/sandbox.ts');
  return {
    webhook: { url: '', lastRefusal: () => undefined, close: async () => undefined },
    handlers: Object.fromEntries(loaded),
    stop: async () => {
      stopInstances();
      over.abort();
      await kubelets;
      await closeSandboxes();
      await cloud.stop();
    },
  };
}

function loopOf(
  cloud: WireCloud,
  admin: () => KubeClient,
  handlers: () => Readonly<Record<string, Handler>>,
): Omit<ClosedLoop, 'devices'> {
  const invoke = async (name: string, event: object): Promise<unknown> => {
    const handler = handlers()[name];
    if (handler === undefined) throw new Error(`there is no function ${name}`);
    return await handler(event, context(name));
  };
  return {
    admin,
    cloud,
    apply: (objects) => applyManifests(admin(), objects),
    until: async (what, holds) => {
      const deadline = Date.now() + 90_000;
      for (;;) {
        for (const name of ['nodeclass', 'provision', 'lifecycle']) await invoke(name, {});
        if (await holds()) return;
        if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      }
    },
    interrupt: async (bodies) => {
      const Records = bodies.map((each, at) => ({ messageId: `m-${at}`, body: each }));
      const answer = await invoke('interrupt', { Records });
      const { batchItemFailures } = answer as { batchItemFailures: { itemIdentifier: string }[] };
      return batchItemFailures.map((each) => each.itemIdentifier);
    },
    list: async (resource) => {
      const found: unknown[] = [];
      const visit = {
        start: () => void found.splice(0),
        object: (each: unknown) => void found.push(each),
      };
      await listEach(admin(), { resource }, visit);
      return found;
    },
  };
}

/** Pods of the namespace `default` that are bound and running. */
export async function runningPods(loop: ClosedLoop, app: string): Promise<number> {
  const pods = await loop.list(RESOURCES.pods);
  return pods.filter(
    (pod) =>
      text(property(property(property(pod, 'metadata'), 'labels'), 'app')) === app &&
      text(property(property(pod, 'status'), 'phase')) === 'Running' &&
      property(property(pod, 'metadata'), 'deletionTimestamp') === undefined,
  ).length;
}

/** Instances that cost money. */
export function liveInstances({ cloud }: ClosedLoop): readonly ModelInstance[] {
  return [...cloud.account.instances.values()].filter(
    (each) => each.state === 'running' || each.state === 'pending',
  );
}
