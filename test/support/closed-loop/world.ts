import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Resource } from '../../../shared/api/resources.ts';
import { CLUSTER_FUNCTIONS, kubernetesGroup } from '../../../shared/contract.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { listEach } from '../../../shared/kube/list.ts';
import { ensureNamespace } from '../../contract/kube-objects.ts';
import { askedBeyondRights, recordFurther } from '../authorisation/audit.ts';
import { FUNCTION_GROUPS } from '../authorisation/rights.ts';
import { CLUSTER, WireCloud } from '../aws/cloud.ts';
import { furnish } from '../aws/furnish.ts';
import type { ModelInstance } from '../aws/model/account.ts';
import { awsByDefault, makeRealistic, type Realism } from '../aws/realism.ts';
import { establishCrds, ourCrds } from '../control-plane/crds.ts';
import type { Addresses, ControlPlane, ControlPlaneOptions } from '../control-plane/launch.ts';
import { applyManifests, applyRights } from '../control-plane/manifests.ts';
import { clientOf, describeWithControlPlane, type Running } from '../control-plane/suite.ts';
import { startTokenWebhook, type TokenWebhook } from '../control-plane/token-webhook.ts';
import { runKubelets } from '../kubelet.ts';
import { TestClock } from './clock.ts';
import {
  accessKeyOf,
  contextOf,
  environmentOf,
  type Handlers,
  KEYS,
  type LoopFunction,
  loadHandlers,
  ONE_PASS_MS,
} from './functions.ts';
import { joinInstances } from './instances.ts';
import { type LogLine, LogTap } from './logs.ts';
import { queueRecord } from './messages.ts';
import { react } from './reaction.ts';
import { checkStrangers, isStranger, settleStrangers } from './strangers.ts';

export { runningPods } from './questions.ts';

/** How often the functions are run: a minute of the schedule, compressed. */
const TICK_MS = 200;
const UNTIL_MS_MAX = 300_000;

/** A cluster with a real control plane, a cloud over the wire, and the functions as deployed. */
export interface ClosedLoop {
  readonly admin: () => KubeClient;
  readonly plane: () => ControlPlane;
  readonly cloud: WireCloud;
  readonly clock: TestClock;
  /** Everything that the functions have logged. */
  readonly logs: readonly LogLine[];
  /** Applies objects as a person with kubectl does. */
  apply(objects: readonly object[]): Promise<void>;
  /** One invocation; by default there is time for one pass, and the request is a new one. */
  invoke(
    name: LoopFunction,
    event?: object,
    remainingMs?: number | (() => number),
    requestId?: string,
  ): Promise<unknown>;
  /** One tick of the schedule: nodeclass, provision and lifecycle at once, then disrupt. */
  tick(): Promise<void>;
  /** Ticks until the condition holds. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>;
  /**
   * Runs `watch`, or one tick of a stack without it, and whatever their events wake, without
   * further ticks, until the condition holds.
   */
  untilByEvents(
    what: string,
    holds: () => Promise<boolean>,
    reaction?: 'watch' | 'tick',
  ): Promise<void>;
  /** Hands messages to the function `interrupt` as SQS does; ids of those that come again. */
  interrupt(bodies: readonly string[]): Promise<readonly string[]>;
  list(resource: Resource): Promise<readonly unknown[]>;
  /** What a device plugin reports on nodes of an instance type, by its name. */
  readonly devices: Map<string, Readonly<Record<string, string>>>;
  /** Whether, and when, an instance's kubelet registers; a test may say otherwise. */
  readonly joining: { joins: (instance: ModelInstance) => boolean | Promise<boolean> };
}

export interface ClosedLoopOptions {
  /** Nodes and instances that are not ours are in the world, and are looked at after each test. */
  readonly strangers?: boolean;
  /** @default us-east-1 */
  readonly region?: string;
  /** Of the functions, beside what the stack sets. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly controlPlane?: ControlPlaneOptions;
  /** A kubelet whose API server does not answer asks it again after this time. @default never */
  readonly kubeletRetryMs?: number;
  /** How AWS takes its time and tells late; `instant`: it does not. @default {@link awsByDefault} */
  readonly aws?: Realism | 'instant';
}

interface Started {
  readonly handlers: Handlers;
  readonly stop: () => Promise<void>;
}

/** Functions that run in the test's own process; they have the rights of all together. */
const USER = 'joiner';

/** A suite with a closed loop of its own, skipped where no control plane can be had. */
export async function describeClosedLoop(
  title: string,
  body: (loop: ClosedLoop) => void,
  options: ClosedLoopOptions = {},
): Promise<void> {
  const cloud = new WireCloud(options.region);
  const all = { ...KEYS, username: USER, groups: FUNCTION_GROUPS };
  const each = CLUSTER_FUNCTIONS.map((name) => ({
    ...KEYS,
    accessKeyId: accessKeyOf(name),
    username: `joiner-${name}`,
    groups: [kubernetesGroup(name)],
  }));
  let webhook: TokenWebhook | undefined;
  beforeAll(async () => {
    webhook = await startTokenWebhook(CLUSTER, cloud.account.region, [all, ...each]);
  });
  afterAll(async () => webhook?.close());
  await describeWithControlPlane(
    title,
    (running) => describeStarted(cloud, running, body, { ...options, title }),
    () => ({
      ...options.controlPlane,
      audited: USER,
      tokenWebhookUrl: webhook?.url ?? '',
      beforeControllers: installCrds,
    }),
  );
}

async function installCrds(plane: Addresses): Promise<void> {
  const admin = clientOf(plane, 'test-installer');
  try {
    await establishCrds(admin, await ourCrds());
  } finally {
    await admin.close();
  }
}

function describeStarted(
  cloud: WireCloud,
  { admin, plane }: Running,
  body: (loop: ClosedLoop) => void,
  options: ClosedLoopOptions & { readonly title: string },
): void {
  const tap = new LogTap(process.env['JOINER_TEST_LOG'] !== undefined);
  const parts: Parts = {
    cloud,
    admin,
    plane,
    tap,
    clock: new TestClock(),
    devices: new Map(),
    joining: { joins: () => true },
  };
  let started: Started | undefined;
  beforeAll(async () => {
    parts.clock.start();
    tap.start();
    await furnish(cloud.account);
    const aws = options.aws ?? awsByDefault() ?? 'instant';
    if (aws !== 'instant') makeRealistic(cloud, aws);
    await cloud.start();
    const { url, caPem } = plane();
    const data = Buffer.from(caPem).toString('base64');
    cloud.cluster = { ...cloud.cluster, endpoint: url, certificateAuthority: { data } };
    started = await start(parts, options);
  });
  afterAll(async () => {
    await started?.stop();
    tap.stop();
    parts.clock.stop();
  });
  if (options.strangers === true) afterEach(() => checkStrangers(cloud, admin()));
  describe('', () => {
    body(loopOf(parts, () => started?.handlers ?? new Map()));
    // No hook: one that fails leaves programs behind.
    it('each function has asked for what its own rights allow', async () => {
      const { auditLog } = plane();
      if (process.env['JOINER_RECORD'] !== undefined) await recordFurther(auditLog, options.title);
      else expect(await askedBeyondRights(auditLog)).toEqual([]);
    });
  });
}

/** What the loop is made of. */
interface Parts
  extends Pick<ClosedLoop, 'cloud' | 'admin' | 'plane' | 'clock' | 'devices' | 'joining'> {
  readonly tap: LogTap;
}

async function start(parts: Parts, options: ClosedLoopOptions): Promise<Started> {
  const { cloud } = parts;
  const admin = parts.admin();
  await ensureNamespace(admin, 'default');
  await ensureNamespace(admin, 'kube-system');
  await applyRights(admin);
  if (options.strangers === true) await settleStrangers(cloud, admin);
  const handlers = await loadHandlers(environmentOf(cloud, options.environment ?? {}));
  const over = new AbortController();
  const kubelets = runKubelets(admin, over.signal);
  const stopInstances = joinInstances(parts, admin, { retryMs: options.kubeletRetryMs });
  const { closeSandboxes } = await import('../../../functions/runtime/sandbox.ts');
  return {
    handlers,
    stop: async () => {
      stopInstances();
      over.abort();
      await kubelets;
      await closeSandboxes();
      await cloud.stop();
    },
  };
}

async function waitMs(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Real time, whatever the test's clock says. */
async function poll(
  what: string,
  holds: () => Promise<boolean> | boolean,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + UNTIL_MS_MAX;
  for (;;) {
    await meanwhile();
    if (await holds()) return;
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await waitMs(TICK_MS);
  }
}

/** Whether a call was given up since the invocation's time was over. */
function isOutOfTime(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'TimeoutError' || isOutOfTime(error.cause);
}

function loopOf(parts: Parts, handlers: () => Handlers): ClosedLoop {
  const { cloud, admin, plane, clock, devices, joining, tap } = parts;
  const invoke: ClosedLoop['invoke'] = async (
    name,
    event = {},
    remainingMs = ONE_PASS_MS,
    requestId = undefined,
  ) => {
    const handler = handlers().get(name);
    if (handler === undefined) throw new Error(`there is no function ${name}`);
    return await handler(event, contextOf(name, remainingMs, requestId));
  };
  const tickBy = async (by: (name: LoopFunction) => Promise<unknown>): Promise<void> => {
    const first = Promise.all([by('nodeclass'), by('provision')]);
    // Ahead of the API server's clock new claims look old: they are to be launched before that.
    if (clock.offsetMs > 0) await first;
    await Promise.all([first, by('lifecycle')]);
    // It decides under the Lease of provision.
    await by('disrupt');
  };
  const tick = () => tickBy(invoke);
  // On a busy machine one may take longer than it has, as a Lambda may: the next tick goes on.
  const patientTick = () =>
    tickBy((name) =>
      invoke(name).catch((error: unknown) => {
        if (!isOutOfTime(error)) throw error;
      }),
    );
  return {
    admin,
    plane,
    cloud,
    clock,
    devices,
    joining,
    logs: tap.lines,
    invoke,
    tick,
    apply: (objects) => applyManifests(admin(), objects),
    until: (what, holds) => poll(what, holds, patientTick),
    untilByEvents: async (what, holds, mode = 'watch') => {
      const reaction = react(cloud, invoke, mode);
      try {
        await poll(what, holds, reaction.check);
      } finally {
        await reaction.stop();
      }
    },
    interrupt: async (bodies) => {
      const Records = bodies.map((each, at) => queueRecord(`m-${at}`, each));
      const answer = await invoke('interrupt', { Records });
      const { batchItemFailures } = answer as { batchItemFailures: { itemIdentifier: string }[] };
      return batchItemFailures.map((each) => each.itemIdentifier);
    },
    list: (resource) => listAll(admin(), resource),
  };
}

async function listAll(admin: KubeClient, resource: Resource): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  await listEach(
    admin,
    { resource },
    { start: () => void found.splice(0), object: (each) => void found.push(each) },
  );
  return found;
}

/** Our instances that cost money. */
export function liveInstances({ cloud }: Pick<ClosedLoop, 'cloud'>): readonly ModelInstance[] {
  return [...cloud.account.instances.values()].filter(
    (each) => (each.state === 'running' || each.state === 'pending') && !isStranger(each),
  );
}

/** How many instances were ever launched for us. */
export function launched({ cloud }: Pick<ClosedLoop, 'cloud'>): number {
  return cloud.server.callsOf('CreateFleet').length === 0
    ? 0
    : [...cloud.account.instances.values()].filter((each) => each.launchedAtMs > 0).length;
}
