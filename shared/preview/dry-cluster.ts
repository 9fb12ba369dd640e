import { asWritten } from '../app/planning/new-claims.ts';
import type { Condition } from '../core/model/cluster.ts';
import { podsOnNode } from '../core/model/joins.ts';
import type { Labels } from '../core/model/labels.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type {
  ClaimsState,
  ClusterEvent,
  ClusterReader,
  ClusterState,
  ClusterWriter,
  MetadataPatch,
  NewNodeClaim,
  NodeClaimStatusPatch,
  NodePatch,
  NodePoolNotes,
  NodePoolStatusPatch,
  NodeState,
  ObjectRef,
  WaitingPodStream,
  WriteResult,
  WrittenClaim,
} from '../ports.ts';

type Objects = ClusterState['objects'];

/** Kinds whose objects are written. */
type Written = 'nodeClaims' | 'nodes' | 'nodePools';

/** By name: a pass may write to each of 10,000 NodeClaims, several times. */
type ByName = { readonly [Kind in Written]: Map<string, Objects[Kind][number]> };

function byName<Each extends { readonly name: string }>(all: readonly Each[]): Map<string, Each> {
  return new Map(all.map((each) => [each.name, each]));
}

/** What an object's labels or annotations become; null removes one. */
function merged(before: Labels, patch: MetadataPatch['annotations'] = {}): Labels {
  const all: Readonly<Record<string, string | null>> = { ...before, ...patch };
  return Object.fromEntries(
    Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
  );
}

/** What nobody asks for who only decides. */
function notHere(what: string): never {
  throw new Error(`${what} is no part of a preview`);
}

/**
 * A cluster as it was read at one moment. What is written to it changes this copy only, so that the
 * use cases decide one after the other as they would on the real one.
 */
export class DryCluster implements ClusterReader, ClusterWriter {
  /** Uids of claims that were deleted. */
  readonly deleted: string[] = [];
  readonly events: ClusterEvent[] = [];
  /** Claims that were created, by name, as they were asked for. */
  readonly asked = new Map<string, NewNodeClaim>();
  readonly #created: string[] = [];
  readonly #nowMs: number;
  readonly #live: Pick<ClusterReader, 'wantedPods' | 'podUsage'>;
  readonly #byName: ByName;
  /** Kinds that were written to since {@link #state} was made. */
  readonly #written = new Set<Written>();
  #state: ClusterState;

  constructor(
    state: ClusterState,
    live: Pick<ClusterReader, 'wantedPods' | 'podUsage'>,
    nowMs: number,
  ) {
    this.#state = state;
    this.#live = live;
    this.#nowMs = nowMs;
    const { nodeClaims, nodes, nodePools } = state.objects;
    this.#byName = {
      nodeClaims: byName(nodeClaims),
      nodes: byName(nodes),
      nodePools: byName(nodePools),
    };
  }

  /** Claims that were created, in this order, as they are by now. */
  get created(): readonly NodeClaim[] {
    return this.#created.flatMap((name) => this.#byName.nodeClaims.get(name) ?? []);
  }

  async read(): Promise<ClusterState> {
    return this.#now();
  }

  async karpenterRenewedAtMs(): Promise<number | undefined> {
    return this.#state.karpenterRenewedAtMs;
  }

  async pausedUntilMs(): Promise<ClusterState['pausedUntilMs']> {
    return this.#state.pausedUntilMs;
  }

  async readClaims(): Promise<ClaimsState> {
    return {
      nodeClaims: this.#now().objects.nodeClaims,
      karpenterRenewedAtMs: this.#state.karpenterRenewedAtMs,
    };
  }

  async readNode(name: string): Promise<NodeState> {
    return {
      node: this.#byName.nodes.get(name),
      pods: podsOnNode(this.#state.objects.pods, name),
    };
  }

  wantedPods(
    ...args: Parameters<ClusterReader['wantedPods']>
  ): ReturnType<ClusterReader['wantedPods']> {
    return this.#live.wantedPods(...args);
  }

  podUsage(): ReturnType<ClusterReader['podUsage']> {
    return this.#live.podUsage();
  }

  async readNodePoolNotes(): Promise<NodePoolNotes | undefined> {
    return notHere('readNodePoolNotes');
  }

  async followWaitingPods(): Promise<WaitingPodStream> {
    return notHere('followWaitingPods');
  }

  async createNodeClaim(wanted: NewNodeClaim): Promise<WrittenClaim> {
    this.asked.set(wanted.name, wanted);
    const claim = asWritten(wanted, `planned/${wanted.name}`, this.#nowMs);
    this.#put('nodeClaims', claim);
    this.#created.push(claim.name);
    return { result: 'done', claim, resourceVersion: '' };
  }

  async patchNodeClaim(ref: ObjectRef, patch: MetadataPatch): Promise<WriteResult> {
    return this.#edit('nodeClaims', ref, (claim) => ({ ...claim, ...metadata(claim, patch) }));
  }

  async patchNodeClaimStatus(ref: ObjectRef, patch: NodeClaimStatusPatch): Promise<WriteResult> {
    const { conditions: change, ...fields } = patch;
    return this.#edit('nodeClaims', ref, (claim) => {
      const conditions = change === undefined ? claim.conditions : change(claim.conditions);
      return { ...claim, ...fields, conditions };
    });
  }

  async patchNodePool(ref: ObjectRef, { annotations }: MetadataPatch): Promise<WriteResult> {
    return this.#edit('nodePools', ref, (pool) => ({
      ...pool,
      annotations: merged(pool.annotations, annotations),
    }));
  }

  async patchNodePoolStatus(
    ref: ObjectRef,
    { conditions }: NodePoolStatusPatch,
  ): Promise<WriteResult> {
    return this.#edit('nodePools', ref, (pool) => ({
      ...pool,
      conditions: conditions(pool.conditions),
    }));
  }

  async patchNodeOverlayStatus(_: ObjectRef, __: readonly Condition[]): Promise<WriteResult> {
    return 'done';
  }

  async patchNodeClass(): Promise<WriteResult> {
    return notHere('patchNodeClass');
  }

  async patchNodeClassStatus(): Promise<WriteResult> {
    return notHere('patchNodeClassStatus');
  }

  async patchCapacityBufferStatus(): Promise<WriteResult> {
    return 'done';
  }

  async patchNode(ref: ObjectRef, patch: NodePatch): Promise<WriteResult> {
    return this.#edit('nodes', ref, (node) => ({
      ...node,
      ...metadata(node, patch),
      taints: patch.taints ?? node.taints,
    }));
  }

  async delete(ref: ObjectRef): Promise<WriteResult> {
    return this.#edit('nodeClaims', ref, (claim) => {
      this.deleted.push(claim.uid);
      return { ...claim, deletedAtMs: claim.deletedAtMs ?? this.#nowMs };
    });
  }

  async nominate(): Promise<'done'> {
    return notHere('nominate');
  }

  async evict(): Promise<'done'> {
    return notHere('evict');
  }

  async restartRollout(): Promise<'none'> {
    return notHere('restartRollout');
  }

  async deletePod(): Promise<WriteResult> {
    return notHere('deletePod');
  }

  async event(event: ClusterEvent): Promise<void> {
    this.events.push(event);
  }

  /** The state as of now: lists of what was written to are new, those before stay as they were. */
  #now(): ClusterState {
    if (this.#written.size === 0) return this.#state;
    const changed = [...this.#written].map((kind) => [kind, [...this.#byName[kind].values()]]);
    this.#written.clear();
    const objects = { ...this.#state.objects, ...Object.fromEntries(changed) };
    this.#state = { ...this.#state, objects };
    return this.#state;
  }

  #put<Kind extends Written>(kind: Kind, object: Objects[Kind][number]): void {
    this.#byName[kind].set(object.name, object);
    this.#written.add(kind);
  }

  #edit<Kind extends Written>(
    kind: Kind,
    { name, uid }: ObjectRef,
    change: (object: Objects[Kind][number]) => Objects[Kind][number],
  ): WriteResult {
    const found = this.#byName[kind].get(name);
    if (found === undefined || (uid !== undefined && found.uid !== uid)) return 'gone';
    this.#put(kind, change(found));
    return 'done';
  }
}

function metadata<Named extends { readonly labels: Labels; readonly annotations: Labels }>(
  { labels, annotations }: Named,
  patch: MetadataPatch,
) {
  return {
    labels: merged(labels, patch.labels),
    annotations: merged(annotations, patch.annotations),
  };
}
