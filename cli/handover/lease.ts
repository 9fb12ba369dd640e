import { encodeMicroTime } from '../../shared/api/encode.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import type { JsonPatchOperation, KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { find } from '../../shared/kube/find.ts';
import { isPossibleRenewal } from '../../shared/kube/karpenter-lease.ts';
import { KARPENTER_LEASE } from '../../shared/kube/leases.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';
import type { Address } from '../../shared/kube/resource-paths.ts';

/** What Karpenter's Lease says. */
export interface KarpenterLeaseState {
  readonly namespace: string;
  /** Empty: nobody holds it. */
  readonly holder: string;
  readonly renewedAtMs: number;
  /** How long it lasts without renewal. */
  readonly lastsMs: number;
}

/** How our holder's name begins, so that people know who holds Karpenter's Lease. */
const HOLDER = 'joiner-hand-back';
const LEASE_SECONDS = 15;
const RENEW_MS = 5_000;

/** A time that is still to come says nothing: as for the functions, nobody has renewed it then. */
function stateOf(lease: unknown, nowMs: number): KarpenterLeaseState {
  const spec = property(lease, 'spec');
  const renewedAtMs = Date.parse(text(property(spec, 'renewTime')));
  const seconds = property(spec, 'leaseDurationSeconds');
  return {
    namespace: text(property(property(lease, 'metadata'), 'namespace')),
    holder: text(property(spec, 'holderIdentity')),
    renewedAtMs: isPossibleRenewal(renewedAtMs, nowMs) ? renewedAtMs : 0,
    lastsMs: (typeof seconds === 'number' ? seconds : LEASE_SECONDS) * 1000,
  };
}

/** Leases of Karpenter's name in all namespaces, the last renewed first. */
export async function karpenterLeases(client: KubeClient): Promise<readonly KarpenterLeaseState[]> {
  let found: KarpenterLeaseState[] = [];
  const fieldSelector = `metadata.name=${KARPENTER_LEASE}`;
  await listEach(
    client,
    { resource: RESOURCES.leases, fieldSelector },
    {
      start: () => {
        found = [];
      },
      object: (lease) => void found.push(stateOf(lease, client.timing.nowMs())),
    },
  );
  return found.sort((a, b) => b.renewedAtMs - a.renewedAtMs);
}

/** Whether the Lease has a holder that has renewed it in time. */
export function isLeaseHeld(lease: KarpenterLeaseState | undefined, nowMs: number): boolean {
  if (lease === undefined || lease.holder === '') return false;
  return nowMs < lease.renewedAtMs + lease.lastsMs;
}

/** Whether the holder is this command, in this process or in another. */
export function isOwnHolder({ holder }: Pick<KarpenterLeaseState, 'holder'>): boolean {
  return holder.startsWith(HOLDER);
}

/**
 * Karpenter's Lease in our hands: while we renew it, Karpenter's replicas wait and Joiner only reads.
 * A command that is killed renews no more, and the Lease lapses.
 */
export class HeldKarpenterLease {
  readonly #client: KubeClient;
  readonly #address: Address;
  readonly #holder: string;
  readonly #over = new AbortController();
  #renewedAtMs: number;
  #isLost = false;

  private constructor(client: KubeClient, address: Address, holder: string) {
    this.#client = client;
    this.#address = address;
    this.#holder = holder;
    this.#renewedAtMs = client.timing.nowMs();
  }

  /** Undefined: another holds it, or took it at the same moment. */
  static async take(
    client: KubeClient,
    namespace: string,
  ): Promise<HeldKarpenterLease | undefined> {
    const address = { namespace, name: KARPENTER_LEASE };
    const holder = `${HOLDER}-${client.timing.random().toString(36).slice(2, 10)}`;
    const known = await find(client, RESOURCES.leases, address);
    const nowMs = client.timing.nowMs();
    if (known !== undefined && isLeaseHeld(stateOf(known, nowMs), nowMs)) return undefined;
    const at = encodeMicroTime(nowMs);
    const spec = {
      holderIdentity: holder,
      leaseDurationSeconds: LEASE_SECONDS,
      acquireTime: at,
      renewTime: at,
    };
    try {
      if (known === undefined) {
        await client.create(RESOURCES.leases, { metadata: address, spec }, namespace);
      } else {
        const resourceVersion = text(property(property(known, 'metadata'), 'resourceVersion'));
        const value = { metadata: { resourceVersion }, spec };
        await client.patch(RESOURCES.leases, address, { kind: 'merge', value });
      }
    } catch (error) {
      if (isKubeFault(error, 'conflict')) return undefined;
      throw error;
    }
    const held = new HeldKarpenterLease(client, address, holder);
    void held.#keepRenewing();
    return held;
  }

  /** Whether it is still ours: asked before every write that goes by it. */
  isHeld(): boolean {
    return !this.#isLost && this.#client.timing.nowMs() - this.#renewedAtMs < LEASE_SECONDS * 1000;
  }

  /** Karpenter may take it a second from now. Until it has, Joiner still sees a holder. */
  async leaveToKarpenter(): Promise<void> {
    await this.#end([
      { op: 'replace', path: '/spec/leaseDurationSeconds', value: 1 },
      {
        op: 'replace',
        path: '/spec/renewTime',
        value: encodeMicroTime(this.#client.timing.nowMs()),
      },
    ]);
  }

  /** Nobody holds it: Joiner is active again. */
  async leaveToJoiner(): Promise<void> {
    await this.#end([{ op: 'replace', path: '/spec/holderIdentity', value: '' }]);
  }

  async #end(changes: readonly JsonPatchOperation[]): Promise<void> {
    const isOurs = this.isHeld();
    this.#isLost = true;
    this.#over.abort();
    if (!isOurs) return;
    try {
      await this.#patch(changes);
    } catch (error) {
      // Another has taken it meanwhile: it is not ours to leave.
      if (!isKubeFault(error, 'invalid') && !isKubeFault(error, 'notFound')) throw error;
    }
  }

  /** Only while we are the holder. */
  async #patch(changes: readonly JsonPatchOperation[]): Promise<void> {
    const value: readonly JsonPatchOperation[] = [
      { op: 'test', path: '/spec/holderIdentity', value: this.#holder },
      ...changes,
    ];
    await this.#client.patch(RESOURCES.leases, this.#address, { kind: 'json', value });
  }

  async #keepRenewing(): Promise<void> {
    const { timing } = this.#client;
    while (!this.#isLost) {
      await timing.sleep(RENEW_MS, this.#over.signal);
      if (this.#isLost) return;
      const nowMs = timing.nowMs();
      const renewTime = encodeMicroTime(nowMs);
      try {
        await this.#patch([{ op: 'replace', path: '/spec/renewTime', value: renewTime }]);
        this.#renewedAtMs = nowMs;
      } catch (error) {
        // A failed test is an invalid patch: the Lease is another's. All else is tried again.
        if (isKubeFault(error, 'invalid') || isKubeFault(error, 'notFound')) this.#isLost = true;
      }
    }
  }
}
