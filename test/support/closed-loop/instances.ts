import { RESOURCES } from '../../../shared/api/resources.ts';
import { instanceTypesFor } from '../../../shared/catalog/instance-types.ts';
import { DEFAULT_LAUNCH_SETTINGS } from '../../../shared/catalog/settings.ts';
import { allocatable } from '../../../shared/core/instance-types/allocatable.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import { formatQuantity } from '../../../shared/core/quantity.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeFault } from '../../../shared/kube/errors.ts';
import { catalogIn } from '../aws/catalogs.ts';
import type { WireCloud } from '../aws/cloud.ts';
import { joiningOf, privateDnsName } from '../aws/joining.ts';
import type { ModelInstance } from '../aws/model/account.ts';
import { passTime } from '../aws/model/instances.ts';
import { joinNode, setReady } from '../kubelet.ts';

const known = new Map<string, readonly InstanceType[]>();

async function typesOf(region: string): Promise<readonly InstanceType[]> {
  const catalog = await catalogIn(region);
  const settings = { ...DEFAULT_LAUNCH_SETTINGS, zones: catalog.zones };
  const types = known.get(region) ?? instanceTypesFor(catalog, settings);
  known.set(region, types);
  return types;
}

/** What a node of the type really has: as the catalog says. */
async function capacityOf(region: string, type: string) {
  const found = (await typesOf(region)).find((each) => each.name === type);
  if (found === undefined) throw new Error(`the catalog has no ${type}`);
  const amounts = allocatable(found, { capacityOverride: undefined, overheadOverride: undefined });
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, formatQuantity(amount, name)]),
  );
}

/** What instances need to know of the world they start in. */
export interface Surroundings {
  readonly cloud: WireCloud;
  readonly devices: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly joining: { readonly joins: (instance: ModelInstance) => boolean | Promise<boolean> };
}

/** How long things take; without it, everything happens at the next look. */
export interface Pace {
  /** From the launch to the node. */
  readonly joinMs: number;
  /** From the node to ready; the node is not ready before. @default 0: ready from the start */
  readonly readyMs?: number;
  /** A kubelet whose registration is refused tries again after so long. @default it does not */
  readonly retryMs?: number | undefined;
  /** From an instance's end to the cloud controller's deletion of its node. @default never */
  readonly forgetMs?: number;
  /** Instances boot and end in the time that the account has for it. @default false */
  readonly isByAccount?: boolean;
}

const LOOK_MS = 200;

/**
 * Instances that EC2 starts join the cluster as their user data says; the node of an instance that
 * is terminated is heard of no more. Returns what stops it all.
 */
export function joinInstances(
  { cloud, devices, joining }: Surroundings,
  admin: KubeClient,
  { joinMs = LOOK_MS, ...pace }: Partial<Pace> = {},
): () => void {
  const { account } = cloud;
  const timers = new Set<NodeJS.Timeout>();
  const later = (ms: number, work: () => Promise<void>): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      void work();
    }, ms);
    timers.add(timer);
  };
  const isReady = pace.readyMs === undefined;
  const register = async (instance: ModelInstance): Promise<void> => {
    if (hasEnded(instance)) return;
    const own = devices.get(instance.instanceType) ?? {};
    try {
      await join(cloud, admin, instance, own, isReady);
    } catch (error) {
      if (pace.retryMs === undefined) throw error;
      return later(pace.retryMs, () => register(instance));
    }
    if (pace.readyMs === undefined) return;
    const name = privateDnsName(instance.id);
    later(pace.readyMs, () => hear(admin, name, 'True', 'KubeletReady'));
  };
  account.onLaunch = (instance) =>
    later(joinMs, async () => {
      if (await joining.joins(instance)) await register(instance);
    });
  // EC2's own time may have ended an instance between two looks.
  const silent = new Set<ModelInstance>();
  const ticking = setInterval(() => {
    if (pace.isByAccount === true) passTime(account);
    for (const instance of account.instances.values()) {
      if (pace.isByAccount !== true) settle(instance);
      if (!hasEnded(instance) || silent.has(instance)) continue;
      silent.add(instance);
      const name = privateDnsName(instance.id);
      void hear(admin, name, 'Unknown', 'NodeStatusUnknown');
      const { forgetMs } = pace;
      if (forgetMs !== undefined) later(forgetMs, () => forget(admin, instance));
    }
  }, LOOK_MS);
  return () => {
    clearInterval(ticking);
    for (const timer of timers) clearTimeout(timer);
    account.onLaunch = () => undefined;
  };
}

function settle(instance: ModelInstance): void {
  if (instance.state === 'pending') instance.state = 'running';
  if (instance.state === 'shutting-down') instance.state = 'terminated';
}

/** Nobody hears of its kubelet any more. */
function hasEnded({ state }: ModelInstance): boolean {
  return state === 'terminated' || state === 'stopped';
}

/** What the cloud controller does with the node of an instance that EC2 has no more. */
async function forget(admin: KubeClient, { state, id }: ModelInstance): Promise<void> {
  if (state !== 'terminated') return;
  try {
    await admin.delete(RESOURCES.nodes, { name: privateDnsName(id) }, {});
  } catch (error) {
    if (!isKubeFault(error, 'notFound')) throw error;
  }
}

/** What a kubelet writes of itself, or the node controller once it is not heard of any more. */
async function hear(
  admin: KubeClient,
  name: string,
  status: 'True' | 'Unknown',
  reason: string,
): Promise<void> {
  try {
    await setReady(admin, name, status, reason);
  } catch (error) {
    if (!isKubeFault(error, 'notFound')) throw error;
  }
}

async function join(
  cloud: WireCloud,
  admin: KubeClient,
  instance: ModelInstance,
  devices: Readonly<Record<string, string>>,
  isReady: boolean,
): Promise<void> {
  const joining = joiningOf(instance);
  if (joining === undefined) throw new Error(`${instance.id} joins no cluster by its user data`);
  const { name, providerId, labels, taints, podsMax } = joining;
  const pods = Number.isFinite(podsMax) ? { pods: String(podsMax) } : {};
  try {
    const capacity = await capacityOf(cloud.account.region, instance.instanceType);
    await joinNode(admin, {
      name,
      providerId,
      labels,
      taints,
      capacity: { ...capacity, ...pods, ...devices },
      isReady,
    });
  } catch (error) {
    if (!isKubeFault(error, 'conflict')) throw error;
  }
}
