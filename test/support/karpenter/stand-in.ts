import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeMicroTime } from '../../../shared/api/encode.ts';
import { RESOURCES, type Resource } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeFault } from '../../../shared/kube/errors.ts';
import { find } from '../../../shared/kube/find.ts';
import { listEach, property, text, versionOf } from '../../../shared/kube/list.ts';
import { conditionOf, labelOf, nameOf } from '../closed-loop/questions.ts';
import type { ControllerProgram } from './controllers.ts';
import { KARPENTER } from './deployment.ts';

/** Hash versions of a release: of NodePools, and of EC2NodeClasses. */
export interface HashVersions {
  readonly pool: string;
  readonly nodeClass: string;
}

export const HASH_VERSIONS = {
  '1.14': { pool: 'v3', nodeClass: 'v5' },
  '1.15': { pool: 'v3', nodeClass: 'v6' },
} as const satisfies Readonly<Record<string, HashVersions>>;

const LEASE = { namespace: KARPENTER.namespace, name: 'karpenter-leader-election' };
const LEASE_SECONDS = 15;
const ROUND_MS = 300;
const POOL_HASH = 'karpenter.sh/nodepool-hash';
const CLASS_HASH = 'karpenter.k8s.aws/ec2nodeclass-hash';

function annotation(object: unknown, key: string): string {
  return text(property(property(property(object, 'metadata'), 'annotations'), key));
}

/** Changes with the spec, and is not how Karpenter computes its own: nobody compares the two. */
function hashOf(value: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(value)).digest();
  return digest.readBigUInt64BE().toString();
}

/**
 * What of Karpenter a hand-over meets: leader election as client-go does it, and the hash
 * controllers and the start of the disruption controller of core v1.14.1. It launches and drains
 * nothing.
 */
export class StandInKarpenter implements ControllerProgram {
  readonly #admin: KubeClient;
  readonly #versions: HashVersions;
  readonly #loops = new Map<string, { readonly over: AbortController; loop: Promise<void> }>();
  /** Which pod was the leader last, for tests. */
  leader = '';

  constructor(admin: KubeClient, versions: HashVersions) {
    this.#admin = admin;
    this.#versions = versions;
  }

  start(pod: string): void {
    const over = new AbortController();
    this.#loops.set(pod, { over, loop: this.#run(pod, over.signal) });
  }

  async stop(pod: string): Promise<void> {
    const running = this.#loops.get(pod);
    this.#loops.delete(pod);
    running?.over.abort();
    await running?.loop;
  }

  async #run(pod: string, signal: AbortSignal): Promise<void> {
    let isLeader = false;
    while (!signal.aborted) {
      isLeader = await this.#elect(pod);
      if (isLeader) await this.#reconcile();
      await sleep(ROUND_MS);
    }
    // LeaderElectionReleaseOnCancel.
    if (isLeader) await this.#write(pod, '', 1);
  }

  /** Renews the Lease, or takes one that nobody holds or that has lapsed. */
  async #elect(pod: string): Promise<boolean> {
    const spec = property(await find(this.#admin, RESOURCES.leases, LEASE), 'spec');
    const holder = text(property(spec, 'holderIdentity'));
    const seconds = property(spec, 'leaseDurationSeconds');
    const lastsMs = (typeof seconds === 'number' ? seconds : 0) * 1000;
    const renewedAtMs = Date.parse(text(property(spec, 'renewTime'))) || 0;
    const isFree = holder === '' || Date.now() > renewedAtMs + lastsMs;
    if (holder !== pod && !isFree) return false;
    const isDone = await this.#write(pod, pod, LEASE_SECONDS);
    if (isDone) this.leader = pod;
    return isDone;
  }

  async #write(pod: string, holderIdentity: string, leaseDurationSeconds: number) {
    const known = await find(this.#admin, RESOURCES.leases, LEASE);
    const holder = text(property(property(known, 'spec'), 'holderIdentity'));
    const isLate = holderIdentity === '' && holder !== pod;
    if (isLate) return false;
    const spec = { holderIdentity, leaseDurationSeconds, renewTime: encodeMicroTime(Date.now()) };
    try {
      if (known === undefined) {
        await this.#admin.create(RESOURCES.leases, { metadata: LEASE, spec }, LEASE.namespace);
      } else {
        const value = { metadata: { resourceVersion: versionOf(known) }, spec };
        await this.#admin.patch(RESOURCES.leases, LEASE, { kind: 'merge', value });
      }
      return true;
    } catch (error) {
      if (isKubeFault(error, 'conflict')) return false;
      throw error;
    }
  }

  async #reconcile(): Promise<void> {
    const claims = await this.#list(RESOURCES.nodeClaims);
    for (const pool of await this.#list(RESOURCES.nodePools)) {
      const own = claims.filter((each) => labelOf(each, 'karpenter.sh/nodepool') === nameOf(pool));
      const { requirements: _, ...template } = Object(
        property(property(property(pool, 'spec'), 'template'), 'spec'),
      );
      const hash = hashOf(template);
      await this.#stamp(RESOURCES.nodePools, pool, own, POOL_HASH, this.#versions.pool, hash);
    }
    for (const nodeClass of await this.#list(RESOURCES.nodeClasses)) {
      const ref = (claim: unknown): unknown => property(property(claim, 'spec'), 'nodeClassRef');
      const own = claims.filter((each) => property(ref(each), 'name') === nameOf(nodeClass));
      const hash = hashOf(property(nodeClass, 'spec'));
      const version = this.#versions.nodeClass;
      await this.#stamp(RESOURCES.nodeClasses, nodeClass, own, CLASS_HASH, version, hash);
    }
    await this.#untaint(claims);
  }

  /** K:pkg/controllers/nodepool/hash and A:pkg/controllers/nodeclass/hash. */
  async #stamp(
    resource: Resource,
    owner: unknown,
    claims: readonly unknown[],
    key: string,
    version: string,
    hash: string,
  ): Promise<void> {
    const versionKey = `${key}-version`;
    if (annotation(owner, versionKey) !== version) {
      for (const claim of claims.filter((each) => annotation(each, versionKey) !== version)) {
        const isDrifted = conditionOf(claim, 'Drifted') !== undefined;
        const annotations = { [versionKey]: version, ...(isDrifted ? {} : { [key]: hash }) };
        await this.#annotate(RESOURCES.nodeClaims, claim, annotations);
      }
    }
    const isSame = annotation(owner, versionKey) === version && annotation(owner, key) === hash;
    if (!isSame) await this.#annotate(resource, owner, { [versionKey]: version, [key]: hash });
  }

  async #annotate(resource: Resource, object: unknown, annotations: object): Promise<void> {
    const value = { metadata: { annotations } };
    await this.#admin.patch(resource, { name: nameOf(object) }, { kind: 'merge', value });
  }

  /** Taints of a disruption that nobody goes on with: K:pkg/controllers/disruption/controller.go. */
  async #untaint(claims: readonly unknown[]): Promise<void> {
    for (const node of await this.#list(RESOURCES.nodes)) {
      const id = text(property(property(node, 'spec'), 'providerID'));
      const claim = claims.find(
        (each) => text(property(property(each, 'status'), 'providerID')) === id,
      );
      if (claim === undefined) continue;
      if (property(property(claim, 'metadata'), 'deletionTimestamp') !== undefined) continue;
      const taints = property(property(node, 'spec'), 'taints');
      const list: readonly unknown[] = Array.isArray(taints) ? taints : [];
      const kept = list.filter((each) => property(each, 'key') !== 'karpenter.sh/disrupted');
      if (kept.length === list.length) continue;
      const value = { metadata: { resourceVersion: versionOf(node) }, spec: { taints: kept } };
      await this.#admin
        .patch(RESOURCES.nodes, { name: nameOf(node) }, { kind: 'merge', value })
        .catch((error: unknown) => {
          if (!isKubeFault(error, 'conflict')) throw error;
        });
    }
  }

  async #list(resource: Resource): Promise<readonly unknown[]> {
    let found: unknown[] = [];
    const start = (): void => {
      found = [];
    };
    await listEach(this.#admin, { resource }, { start, object: (each) => void found.push(each) });
    return found;
  }
}
