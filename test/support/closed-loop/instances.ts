import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { instanceTypesFor } from '../../../shared/catalog/instance-types.ts';
import { DEFAULT_LAUNCH_SETTINGS } from '../../../shared/catalog/settings.ts';
import { allocatable } from '../../../shared/core/instance-types/allocatable.ts';
import { formatQuantity } from '../../../shared/core/quantity.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeFault } from '../../../shared/kube/errors.ts';
import type { WireCloud } from '../aws/cloud.ts';
import { joiningOf, privateDnsName } from '../aws/joining.ts';
import type { ModelInstance } from '../aws/model/account.ts';
import { joinNode, setReady } from '../kubelet.ts';

/** What a node of the type really has: as the catalog says. */
async function capacityOf(region: string, type: string) {
  const catalog = await loadCatalog(region);
  const types = instanceTypesFor(catalog, { ...DEFAULT_LAUNCH_SETTINGS, zones: catalog.zones });
  const found = types.find((each) => each.name === type);
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

/**
 * Instances that EC2 starts join the cluster as their user data says; the node of an instance that
 * is terminated is heard of no more. Returns what stops it all.
 */
export function joinInstances(
  { cloud, devices, joining }: Surroundings,
  admin: KubeClient,
  delayMs = 200,
): () => void {
  const { account } = cloud;
  const timers = new Set<NodeJS.Timeout>();
  const later = (work: () => Promise<void>): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      void work();
    }, delayMs);
    timers.add(timer);
  };
  account.onLaunch = (instance) =>
    later(async () => {
      if (!(await joining.joins(instance))) return;
      await join(cloud, admin, instance, devices.get(instance.instanceType) ?? {});
    });
  // EC2's own time may have ended an instance between two looks.
  const silent = new Set<ModelInstance>();
  const ticking = setInterval(() => {
    for (const instance of account.instances.values()) {
      if (instance.state === 'pending') instance.state = 'running';
      if (instance.state === 'shutting-down') instance.state = 'terminated';
      if (instance.state !== 'terminated' || silent.has(instance)) continue;
      silent.add(instance);
      void fallSilent(admin, privateDnsName(instance.id));
    }
  }, delayMs);
  return () => {
    clearInterval(ticking);
    for (const timer of timers) clearTimeout(timer);
    account.onLaunch = () => undefined;
  };
}

/** What the node controller writes once a kubelet is not heard of any more. */
async function fallSilent(admin: KubeClient, name: string): Promise<void> {
  try {
    await setReady(admin, name, 'Unknown', 'NodeStatusUnknown');
  } catch (error) {
    if (!isKubeFault(error, 'notFound')) throw error;
  }
}

async function join(
  cloud: WireCloud,
  admin: KubeClient,
  instance: ModelInstance,
  devices: Readonly<Record<string, string>>,
): Promise<void> {
  const joining = joiningOf(instance);
  if (joining === undefined) throw new Error(`${instance.id} joins no cluster by its user data`);
  const { name, providerId, labels, taints } = joining;
  try {
    const capacity = await capacityOf(cloud.account.region, instance.instanceType);
    await joinNode(admin, {
      name,
      providerId,
      labels,
      taints,
      capacity: { ...capacity, ...devices },
    });
  } catch (error) {
    if (!isKubeFault(error, 'conflict')) throw error;
  }
}
