import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';
import { NODE_POOL } from '../../../shared/core/model/labels.ts';
import { readState } from '../../../shared/sim/decode.ts';
import type { Json } from '../../../shared/sim/json.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import type { Script } from '../../../shared/sim/script.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { EditedPools } from './edited-pools.ts';
import type { Karpenter } from './karpenter.ts';
import { one } from './one.ts';
import { FIXED, fixedPool } from './rare-kinds.ts';
import { disruptionBudget, type Setting } from './setting.ts';
import { setReady } from './slow-nodes.ts';

/** What people and the cloud do to a running cluster. */
export const ACTIONS = [
  'scale',
  'delete-nodeclaim',
  'delete-node',
  'delete-nodepool',
  'delete-pod',
  'protect-pod',
  'new-image',
  'new-template',
  'spot-wave',
  'shortage',
  'price-change',
  'block-pods',
  'edit-budgets',
  'grow-daemonset',
  'lose-kubelet',
  'karpenter-leads',
  'pause-pool',
] as const;

export type ActionName = (typeof ACTIONS)[number];

const MINUTE = 60_000;
const PROTECTED_FOR = '6m';
/** By then a static NodePool has what it was told to have. */
const SETTLED_MS = 20 * MINUTE;
/** Static nodes by the minute in a world that is about them: by one and by several at once. */
const RESCALED = [
  [5, 4],
  [9, 3],
  [13, 1],
  [17, 4],
  [21, 2],
] as const;

export interface UsersSettings {
  readonly world: World;
  readonly script: Script;
  readonly setting: Setting;
  readonly random: Prng;
  /** Karpenter's own Lease. */
  readonly karpenter: Karpenter;
  /** Sends a spot warning for the instance. */
  readonly warn: (instanceId: string) => void;
  readonly after: (ms: number, run: () => void) => void;
}

/** What NodePool `fixed` has and had. */
export interface FixedReplicas {
  readonly replicas: number;
  readonly before: number;
  readonly editedMs: number;
}

/** Acts at random moments; `touched` are NodeClaims that somebody else is ending. */
export class Users {
  readonly touched = new Set<string>();
  /** When pods were protected, by their uid. */
  readonly protectedAtMs = new Map<string, number>();
  private readonly settings: UsersSettings;
  readonly pools: EditedPools;
  havePricesChanged = false;
  private image = 1;
  private daemonMillis = 0;
  /** Of the static NodePool. */
  fixed: FixedReplicas;

  constructor(settings: UsersSettings) {
    this.settings = settings;
    const { replicas = 0 } = settings.setting.kinds;
    this.fixed = { replicas, before: replicas, editedMs: Number.NEGATIVE_INFINITY };
    const { world, setting, random } = settings;
    this.pools = new EditedPools({ world, setting, random, replicas: () => this.fixed.replicas });
    if (!setting.kinds.isRescaled) return;
    for (const [minute, replicas] of RESCALED) {
      world.timeline.at(WORLD_START_MS + minute * MINUTE, () => this.setFixed(replicas));
    }
  }

  act(action: ActionName): void {
    const actions: Readonly<Record<ActionName, () => void>> = {
      scale: () => this.scale(),
      'delete-nodeclaim': () => this.deleteNodeClaim(),
      'delete-node': () => this.deleteNode(),
      'delete-nodepool': () => this.deleteNodePool(),
      'delete-pod': () => this.deletePod(),
      'protect-pod': () => this.protectPod(),
      'new-image': () => this.newImage(),
      'new-template': () => this.pools.newTemplate(),
      'spot-wave': () => this.spotWave(),
      shortage: () => this.shortage(),
      'price-change': () => this.changePrice(),
      'block-pods': () => this.blockPods(),
      'edit-budgets': () => this.pools.editBudgets(),
      'grow-daemonset': () => this.growDaemonSet(),
      'lose-kubelet': () => this.loseKubelet(),
      'karpenter-leads': () => this.letKarpenterLead(),
      'pause-pool': () => this.pools.pause(),
    };
    actions[action]();
  }

  /** What was deleted is there again, and nodes live on, so that the world can come to rest. */
  restore(): void {
    this.pools.restore();
  }

  /** As the cloud's own controller does: nodes whose instance is no more are deleted. */
  deleteDeadNodes(): void {
    const { machines } = this.settings.world.compute;
    for (const { name, providerId, conditions } of this.objects.nodes) {
      if (!isReady(conditions) && !machines.has(instanceIdOf(providerId) ?? '')) {
        this.remove('Node', undefined, name);
      }
    }
  }

  private get objects() {
    return readState(this.settings.world.store).objects;
  }

  private scale(): void {
    const { world, setting, random } = this.settings;
    if (setting.kinds.replicas !== undefined && random.next() < 0.3) {
      this.scaleFixed();
      return;
    }
    const { kind, name } = one(random, setting.workloads);
    const replicas = random.between(0, 10);
    const object = world.store.get(kind, 'default', name);
    if (object === undefined) return;
    world.store.update(object, (latest) => ({
      ...latest,
      spec: { ...(latest['spec'] as Json), replicas },
    }));
  }

  private scaleFixed(): void {
    this.setFixed(this.settings.random.between(0, 4));
  }

  private setFixed(replicas: number): void {
    const { world } = this.settings;
    const editedMs = world.timeline.nowMs();
    const isRecent = editedMs - this.fixed.editedMs < SETTLED_MS;
    const before = Math.max(this.fixed.replicas, isRecent ? this.fixed.before : 0);
    this.fixed = { replicas, before, editedMs };
    if (this.pools.isEdited(FIXED)) this.pools.apply(FIXED);
    else world.store.apply(fixedPool(replicas));
  }

  private deleteNodeClaim(): void {
    const claims = this.objects.nodeClaims.filter(({ deletedAtMs }) => deletedAtMs === undefined);
    if (claims.length === 0) return;
    const { name } = one(this.settings.random, claims);
    this.touched.add(name);
    this.remove('NodeClaim', undefined, name);
  }

  private deleteNode(): void {
    const { nodes, nodeClaims } = this.objects;
    const own = nodes.filter(({ providerId }) =>
      nodeClaims.some((claim) => claim.providerId === providerId),
    );
    if (own.length === 0) return;
    const { name, providerId } = one(this.settings.random, own);
    const claim = nodeClaims.find((each) => each.providerId === providerId);
    if (claim !== undefined) this.touched.add(claim.name);
    this.remove('Node', undefined, name);
  }

  private deleteNodePool(): void {
    const { random, after } = this.settings;
    const name = this.pools.remove();
    if (name === undefined) return;
    for (const claim of this.objects.nodeClaims) {
      if (claim.labels[NODE_POOL] === name) this.touched.add(claim.name);
    }
    after(random.between(10_000, 4 * MINUTE), () => this.pools.apply(name));
  }

  private deletePod(): void {
    const pod = this.runningPod();
    if (pod !== undefined) this.remove('Pod', pod.namespace, pod.name, 5_000);
  }

  private protectPod(): void {
    const pod = this.runningPod();
    const { store } = this.settings.world;
    const object = pod && store.get('Pod', pod.namespace, pod.name);
    if (pod === undefined || object === undefined) return;
    this.protectedAtMs.set(pod.uid, this.settings.world.timeline.nowMs());
    const annotations = { 'karpenter.sh/do-not-disrupt': PROTECTED_FOR };
    store.update(object, (latest) => ({
      ...latest,
      metadata: {
        ...latest.metadata,
        annotations: { ...latest.metadata.annotations, ...annotations },
      },
    }));
  }

  private newImage(): void {
    this.image += 1;
    const alias = `al2023@v202601${String((this.image % 20) + 10)}`;
    const { world, setting } = this.settings;
    const spec = { ...(setting.nodeClass['spec'] as Json), amiSelectorTerms: [{ alias }] };
    world.store.apply({ ...setting.nodeClass, spec });
  }

  private spotWave(): void {
    const { world, random, warn } = this.settings;
    for (const machine of [...world.compute.machines.values()]) {
      const isSpot = machine.capacityType === 'spot' && machine.state === 'running';
      if (isSpot && random.next() < 0.5) warn(machine.id);
    }
  }

  private shortage(): void {
    const { world, random, after } = this.settings;
    const shortage = one(random, [
      { capacityType: 'spot' },
      { instanceType: 'c7g.large' },
      { instanceType: 'c6a.large' },
      { zone: 'us-east-1a' },
      {},
    ] as const);
    world.compute.addShortage(shortage);
    after(random.between(30_000, 5 * MINUTE), () => world.compute.removeShortage(shortage));
  }

  private changePrice(): void {
    const { script, random } = this.settings;
    const price = {
      instanceType: one(random, ['c7g.large', 'c6a.large', 'c7g.xlarge', 'm6a.2xlarge']),
      capacityType: one(random, ['spot', 'on-demand'] as const),
      price: random.between(20, 400) / 1000,
    };
    this.havePricesChanged = true;
    script.plan({ steps: [{ at: 0, price }] });
  }

  /** For minutes no pod of a workload may be evicted. */
  private blockPods(): void {
    const { world, setting, random, after } = this.settings;
    const { name } = one(random, setting.workloads);
    if (world.store.get('PodDisruptionBudget', 'default', name) !== undefined) return;
    world.store.apply(disruptionBudget(name, { maxUnavailable: 0 }));
    after(random.between(MINUTE, 12 * MINUTE), () =>
      this.remove('PodDisruptionBudget', 'default', name),
    );
  }

  private growDaemonSet(): void {
    this.daemonMillis = Math.min(300, this.daemonMillis + 100);
    this.settings.world.store.apply(daemonSet(`${this.daemonMillis}m`));
  }

  /** The kubelet of a running node reports nothing for some minutes. */
  private loseKubelet(): void {
    const { world, random, after } = this.settings;
    const ready = this.objects.nodes.filter(({ conditions }) => isReady(conditions));
    if (ready.length === 0) return;
    const { name } = one(random, ready);
    setReady(world, name, 'Unknown');
    const lostMs = random.between(20_000, 9 * MINUTE);
    after(lostMs, () => {
      const node = this.objects.nodes.find((each) => each.name === name);
      if (world.compute.machines.has(instanceIdOf(node?.providerId) ?? '')) {
        setReady(world, name, 'True');
      }
    });
  }

  private letKarpenterLead(): void {
    const { random, karpenter } = this.settings;
    karpenter.lead(random.between(MINUTE, 5 * MINUTE));
  }

  private runningPod() {
    const running = this.objects.pods.filter(({ phase }) => phase === 'Running');
    return running.length === 0 ? undefined : one(this.settings.random, running);
  }

  private remove(kind: string, namespace: string | undefined, name: string, graceMs = 0): void {
    const { store } = this.settings.world;
    const object = store.get(kind, namespace, name);
    if (object !== undefined) store.delete(object, graceMs);
  }
}

function isReady(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** An agent on every node. */
function daemonSet(cpu: string): Json {
  const labels = { app: 'agent' };
  const containers = [{ name: 'main', image: 'agent', resources: { requests: { cpu } } }];
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}
