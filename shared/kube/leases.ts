import { encodeMicroTime } from '../api/encode.ts';
import { RESOURCES } from '../api/resources.ts';
import type { Lease, Leases } from '../ports/cluster.ts';
import type { JsonPatchOperation, KubeClient } from './client.ts';
import { isKubeFault, KubeError } from './errors.ts';
import {
  ASKED,
  isAskedByAnother,
  isHeldByAnother,
  isMarkedSince,
  LEASE_MS,
  LEASE_SECONDS,
  type LeaseState,
  NAMES,
  namesAfter,
  readLease,
  WAKE,
} from './lease-state.ts';
import type { Address } from './resource-paths.ts';
import { backoffMs } from './time.ts';

/** With a function's name: when it last took the Lease, which others may take, too. */
export const TAKEN_BY = 'joiner.dev/taken-by-';

/** How often, and how long after each other, others look whether it has been taken. */
const YIELDS_MAX = 5;
const YIELD_MS = 300;

/** Karpenter's leader lease; its namespace is where Karpenter was installed. */
export const KARPENTER_LEASE = 'karpenter-leader-election';

export const LEASE_NAMESPACE = 'kube-system';
const RENEW_MS = 5_000;
/** The object changes under us only when somebody else makes progress; still, not for ever. */
const ATTEMPTS_MAX = 20;
/** Whoever has been overtaken so often waits a moment, so that many do not go on in step. */
const ATTEMPTS_AT_ONCE = 5;

export interface LeaseOptions {
  readonly client: KubeClient;
  /** Who holds it: unique to the run of an invocation, also where one event is delivered twice. */
  readonly holder: string;
  /** The function. @default nobody learns who took it */
  readonly by?: string;
}

/**
 * One writer at a time, and no wake-up lost. Whoever finds the Lease held leaves a mark on it, with
 * the resourceVersion at which it was seen held; the holder releases with the resourceVersion at
 * which it saw no new mark. One of the two writes fails, so that either the holder sees the mark
 * and goes round again, or whoever left it finds the Lease free. A mark of somebody else that was
 * left after one has first looked is as good as one's own: of many that come at once, one leaves it.
 */
export function kubeLeases({ client, holder, by }: LeaseOptions): Leases {
  return { acquire: (name) => acquire(client, `joiner-${name}`, holder, by) };
}

/** Has others leave the Lease to this function, once it is free. One that is not there is free. */
export async function askForLease(client: KubeClient, name: string, by: string): Promise<void> {
  const address: Address = { namespace: LEASE_NAMESPACE, name: `joiner-${name}` };
  const asked = `${by}/${client.timing.nowMs()}`;
  const value = { metadata: { annotations: { [ASKED]: asked } } };
  await unlessChanged('held', () =>
    client.patch(RESOURCES.leases, address, { kind: 'merge', value }),
  );
}

/** How long somebody has held a Lease; undefined: nobody does. Leaves no mark. */
export async function heldForMs(client: KubeClient, name: string): Promise<number | undefined> {
  const state = await readLease(client, { namespace: LEASE_NAMESPACE, name: `joiner-${name}` });
  const nowMs = client.timing.nowMs();
  if (state === undefined || !isHeldByAnother(state, '', nowMs)) return undefined;
  return nowMs - state.acquiredAtMs;
}

async function acquire(
  client: KubeClient,
  name: string,
  holder: string,
  by: string | undefined,
): Promise<Lease | undefined> {
  const address: Address = { namespace: LEASE_NAMESPACE, name };
  let oldMark: string | undefined;
  let yields = 0;
  for (let attempt = 1; attempt - yields <= ATTEMPTS_MAX; attempt += 1) {
    const failures = attempt - 1 - yields;
    if (failures >= ATTEMPTS_AT_ONCE) await pauseAfter(client, failures - ATTEMPTS_AT_ONCE + 1);
    const state = await readLease(client, address);
    const nowMs = client.timing.nowMs();
    oldMark ??= state?.wake ?? '';
    if (state !== undefined && isMarkedSince(state, oldMark, holder, nowMs)) return undefined;
    const isHeld = state !== undefined && isHeldByAnother(state, holder, nowMs);
    const isAsked = state !== undefined && !isHeld && isAskedByAnother(state, by, nowMs);
    if (isAsked && yields < YIELDS_MAX) {
      yields += 1;
      await client.timing.sleep(YIELD_MS);
      continue;
    }
    const names = namesAfter(state, `${holder}/${nowMs}`);
    const taken: Taker['taken'] = {
      [NAMES]: names,
      ...(by === undefined ? {} : { [`${TAKEN_BY}${by}`]: encodeMicroTime(nowMs) }),
    };
    const answered = isAsked ? taken : { ...taken, [ASKED]: null };
    const outcome =
      state === undefined
        ? await createLease(client, address, { holder, taken, nowMs })
        : isHeld
          ? await leaveMark(client, address, state, `${holder}/${nowMs}/${attempt}`)
          : await takeOver(client, address, state, { holder, taken: answered, nowMs });
    if (outcome === 'held') return new HeldLease(client, address, { holder, nowMs, names });
    if (outcome === 'marked') return undefined;
  }
  throw new KubeError(
    { kind: 'conflict', what: 'changed' },
    '409',
    `the Lease ${LEASE_NAMESPACE}/${name} changed ${ATTEMPTS_MAX} times while it was taken`,
  );
}

async function pauseAfter({ timing }: KubeClient, failures: number): Promise<void> {
  await timing.sleep(backoffMs(failures, timing.random(), undefined));
}

type Outcome = 'held' | 'marked' | 'changed';

/** Who takes a Lease, and what it says of that besides. */
interface Taker {
  readonly holder: string;
  readonly taken: Readonly<Record<string, string | null>>;
  readonly nowMs: number;
}

async function createLease(
  client: KubeClient,
  address: Address,
  { holder, taken, nowMs }: Taker,
): Promise<Outcome> {
  const at = encodeMicroTime(nowMs);
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: LEASE_SECONDS,
    acquireTime: at,
    renewTime: at,
    leaseTransitions: 0,
  };
  const object = { metadata: { ...address, annotations: taken }, spec };
  return await unlessChanged('held', () =>
    client.create(RESOURCES.leases, object, address.namespace),
  );
}

/** The mark of an earlier holder is removed: the work is looked at from here on anyway. */
async function takeOver(
  client: KubeClient,
  address: Address,
  state: LeaseState,
  { holder, taken, nowMs }: Taker,
): Promise<Outcome> {
  const at = encodeMicroTime(nowMs);
  const value = {
    metadata: {
      resourceVersion: state.resourceVersion,
      annotations: { ...taken, [WAKE]: null },
    },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: LEASE_SECONDS,
      acquireTime: at,
      renewTime: at,
      leaseTransitions: state.transitions + 1,
    },
  };
  return await unlessChanged('held', () =>
    client.patch(RESOURCES.leases, address, { kind: 'merge', value }),
  );
}

async function leaveMark(
  client: KubeClient,
  address: Address,
  state: LeaseState,
  mark: string,
): Promise<Outcome> {
  const value = {
    metadata: { resourceVersion: state.resourceVersion, annotations: { [WAKE]: mark } },
  };
  return await unlessChanged('marked', () =>
    client.patch(RESOURCES.leases, address, { kind: 'merge', value }),
  );
}

async function unlessChanged(outcome: Outcome, write: () => Promise<unknown>): Promise<Outcome> {
  try {
    await write();
    return outcome;
  } catch (error) {
    if (isKubeFault(error, 'conflict') || isKubeFault(error, 'notFound')) return 'changed';
    throw error;
  }
}

class HeldLease implements Lease {
  readonly names: string;
  readonly #client: KubeClient;
  readonly #address: Address;
  readonly #holder: string;
  readonly #over = new AbortController();
  #renewedAtMs: number;
  /** Set once another holds it, or when we gave it up. */
  #isLost = false;
  #renewal: Promise<void> | undefined;
  /** The newest mark that was reported to the holder; it stays on the object until the release. */
  #seenMark = '';

  constructor(
    client: KubeClient,
    address: Address,
    { holder, nowMs, names }: Omit<Taker, 'taken'> & Pick<Lease, 'names'>,
  ) {
    this.#client = client;
    this.#address = address;
    this.#holder = holder;
    this.#renewedAtMs = nowMs;
    this.names = names;
    void this.#keepRenewing();
  }

  async isHeld(): Promise<boolean> {
    if (!this.#isLost && this.#age() >= RENEW_MS) await this.#renew();
    return !this.#isLost && this.#age() < LEASE_MS;
  }

  /**
   * Unless it was woken, the Lease is ours no longer, even where that could not be written: renewed
   * on in the sandbox, it would lock out every invocation to come. As it is, it expires.
   */
  async releaseUnlessWoken(): Promise<'released' | 'woken'> {
    let outcome: 'released' | 'woken' = 'released';
    try {
      outcome = await this.#tryRelease();
    } finally {
      if (outcome === 'released') this.#giveUp();
    }
    return outcome;
  }

  /** As with {@link releaseUnlessWoken}: whatever cannot be written, it is ours no longer. */
  async release(): Promise<boolean> {
    let isWoken = false;
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
        const state = await this.#read();
        if (state === undefined) break;
        isWoken ||= this.#notes(state);
        if (await this.#free(state)) break;
      }
    } finally {
      this.#giveUp();
    }
    return isWoken;
  }

  async #tryRelease(): Promise<'released' | 'woken'> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const state = await this.#read();
      if (state === undefined) return 'released';
      if (this.#notes(state)) return 'woken';
      if (await this.#free(state)) return 'released';
    }
    // Left to expire: nobody is locked out for longer than the Lease lasts.
    return 'released';
  }

  /** Undefined: it is another's. */
  async #read(): Promise<LeaseState | undefined> {
    const state = this.#isLost ? undefined : await readLease(this.#client, this.#address);
    return state?.holder === this.#holder ? state : undefined;
  }

  /** Whether there is a new mark; it is known from now on. One removed by hand says nothing. */
  #notes({ wake }: LeaseState): boolean {
    const isNew = wake !== this.#seenMark && wake !== '';
    this.#seenMark = wake;
    return isNew;
  }

  /** The mark goes together with the holder; a newer mark has changed the resourceVersion. */
  async #free(state: LeaseState): Promise<boolean> {
    const value = {
      metadata: { resourceVersion: state.resourceVersion, annotations: { [WAKE]: null } },
      spec: { holderIdentity: null, renewTime: null },
    };
    const outcome = await unlessChanged('held', () =>
      this.#client.patch(RESOURCES.leases, this.#address, { kind: 'merge', value }),
    );
    return outcome !== 'changed';
  }

  #giveUp(): void {
    this.#isLost = true;
    this.#over.abort();
  }

  #age(): number {
    return this.#client.timing.nowMs() - this.#renewedAtMs;
  }

  async #keepRenewing(): Promise<void> {
    while (!this.#isLost) {
      await this.#client.timing.sleep(Math.max(0, RENEW_MS - this.#age()), this.#over.signal);
      if (!this.#isLost && this.#age() >= RENEW_MS) await this.#renew();
    }
  }

  /** One renewal at a time; both the timer and {@link isHeld} wait for the same one. */
  #renew(): Promise<void> {
    this.#renewal ??= this.#renewOnce().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  /** Only while we are the holder; a mark that was left meanwhile is none of its business. */
  async #renewOnce(): Promise<void> {
    const nowMs = this.#client.timing.nowMs();
    const value: readonly JsonPatchOperation[] = [
      { op: 'test', path: '/spec/holderIdentity', value: this.#holder },
      { op: 'replace', path: '/spec/renewTime', value: encodeMicroTime(nowMs) },
    ];
    try {
      await this.#client.patch(RESOURCES.leases, this.#address, { kind: 'json', value });
      this.#renewedAtMs = nowMs;
    } catch (error) {
      // A failed test is an invalid patch: the Lease is another's, or has been deleted.
      const isTaken = isKubeFault(error, 'invalid') || isKubeFault(error, 'notFound');
      if (isTaken || this.#age() >= LEASE_MS) this.#giveUp();
      // Anything else is tried again while the Lease lasts.
      else await this.#client.timing.sleep(RENEW_MS / 5, this.#over.signal);
    }
  }
}
