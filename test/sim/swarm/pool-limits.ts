import { NODE_POOL, REPLACED_BY } from '../../../shared/core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';
import { readState } from '../../../shared/sim/decode.ts';
import { amountsOf } from './caps.ts';
import type { CheckerSettings } from './checker-settings.ts';

const LIMITED = ['cpu', 'nodes'] as const;

/**
 * NodeClaims that stay never have more than the limit; those that are replaced go first. As in
 * Karpenter, a replacement that is given up when it has pods stays beside the node that stays with
 * it: to evict pods would be worse. Until the NodePool is below its limit again it gets no node.
 */
export class PoolLimits {
  private readonly settings: CheckerSettings;
  /** By the uid of what is replaced, the names of its replacements when last seen. */
  private readonly replacedBy = new Map<string, readonly string[]>();
  /** Uids of replacements that were given up with pods. */
  private readonly kept = new Set<string>();
  /** By the NodePool that was above its limit when last seen, the uids of what it had. */
  private readonly above = new Map<string, ReadonlySet<string>>();

  constructor(settings: CheckerSettings) {
    this.settings = settings;
  }

  /** After each change of an object. */
  check(): void {
    const { nodeClaims, nodePools } = this.objects;
    for (const each of nodeClaims) this.noteGivenUp(each);
    for (const pool of nodePools) this.checkPool(pool);
  }

  private get objects() {
    return readState(this.settings.world.store).objects;
  }

  private noteGivenUp({ uid, annotations, deletedAtMs }: NodeClaim): void {
    const before = this.replacedBy.get(uid) ?? [];
    const names = annotations[REPLACED_BY]?.split(',') ?? [];
    this.replacedBy.set(uid, names);
    if (names.length > 0 || deletedAtMs !== undefined) return;
    for (const each of this.objects.nodeClaims) {
      if (before.includes(each.name) && this.hasPods(each)) this.kept.add(each.uid);
    }
  }

  /** Of DaemonSets every node has some. */
  private hasPods({ providerId }: NodeClaim): boolean {
    const { nodes, pods } = this.objects;
    const node = nodes.find((each) => each.providerId === providerId);
    return pods.some(
      ({ nodeName, controller }) => nodeName === node?.name && controller?.kind !== 'DaemonSet',
    );
  }

  private checkPool({ name, limits }: NodePool): void {
    if (Object.keys(limits).length === 0) return;
    const staying = this.stayingOf(name);
    const kept = staying.filter(({ uid }) => this.kept.has(uid));
    const others = staying.filter(({ uid }) => !this.kept.has(uid));
    const before = this.above.get(name);
    this.above.delete(name);
    for (const resource of LIMITED) {
      const most = limits[resource] ?? Number.POSITIVE_INFINITY;
      const used = amountIn(staying, resource);
      if (used <= most) continue;
      const isNew = before !== undefined && staying.some(({ uid }) => !before.has(uid));
      const isAllowed = kept.length > 0 && amountIn(others, resource) <= most && !isNew;
      this.above.set(name, new Set([...(before ?? []), ...staying.map(({ uid }) => uid)]));
      if (!isAllowed) {
        this.settings.onProblem(`limit: ${name} has ${used} ${resource} of ${most}`);
      }
    }
    if (!this.above.has(name)) for (const { uid } of kept) this.kept.delete(uid);
  }

  private stayingOf(pool: string): readonly NodeClaim[] {
    const { nodeClaims, nodes } = this.objects;
    // Their NodeClaims are deleted in a moment.
    const going = new Set(
      nodes.flatMap(({ deletedAtMs, providerId }) => (deletedAtMs === undefined ? [] : providerId)),
    );
    return nodeClaims.filter(
      ({ labels, deletedAtMs, annotations, providerId }) =>
        labels[NODE_POOL] === pool &&
        deletedAtMs === undefined &&
        annotations[REPLACED_BY] === undefined &&
        !going.has(providerId ?? ''),
    );
  }
}

function amountIn(claims: readonly NodeClaim[], resource: (typeof LIMITED)[number]): number {
  const { cpu, nodes } = amountsOf(claims);
  return resource === 'cpu' ? cpu * 1000 : nodes;
}
