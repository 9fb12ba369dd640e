import { parse } from 'yaml';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { instanceTypesFor } from '../../../shared/catalog/instance-types.ts';
import { DEFAULT_LAUNCH_SETTINGS } from '../../../shared/catalog/settings.ts';
import { allocatable } from '../../../shared/core/instance-types/allocatable.ts';
import { formatQuantity } from '../../../shared/core/quantity.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeFault } from '../../../shared/kube/errors.ts';
import type { WireCloud } from '../aws/cloud.ts';
import type { ModelInstance } from '../aws/model/account.ts';
import { joinNode } from '../kubelet.ts';

/** What the kubelet's flags in the user data say. */
interface Flags {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly object[];
}

/** The NodeConfig documents in AL2023's user data; the last one that has a flag decides. */
function flagsOf(userData: string): Flags {
  const text = Buffer.from(userData, 'base64').toString('utf8');
  const parts = text.split(/^apiVersion: node\.eks\.aws/m).slice(1);
  let labels: Readonly<Record<string, string>> = {};
  let taints: readonly object[] = [];
  for (const part of parts) {
    const body = `apiVersion: node.eks.aws${part.split(/^--/m)[0] ?? ''}`;
    const { spec } = parse(body) as { spec?: { kubelet?: Kubelet } };
    const flag = spec?.kubelet?.flags?.find((each) => each.startsWith('--node-labels='));
    if (flag !== undefined) labels = pairs(flag.slice('--node-labels='.length));
    taints = spec?.kubelet?.config?.registerWithTaints ?? taints;
  }
  return { labels, taints };
}

interface Kubelet {
  readonly flags?: readonly string[];
  readonly config?: { readonly registerWithTaints?: readonly object[] };
}

function pairs(text: string): Readonly<Record<string, string>> {
  const entries = text
    .replaceAll('"', '')
    .split(',')
    .map((each) => each.split('='));
  return Object.fromEntries(entries.map(([key = '', value = '']) => [key, value]));
}

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

/**
 * Instances that EC2 starts join the cluster as their user data says, and nodes whose instance is
 * terminated stop; returns what stops it all.
 */
export function joinInstances(
  cloud: WireCloud,
  admin: KubeClient,
  devices: ReadonlyMap<string, Readonly<Record<string, string>>>,
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
    later(() => join(cloud, admin, instance, devices.get(instance.instanceType) ?? {}));
  const ticking = setInterval(() => {
    for (const instance of account.instances.values()) {
      if (instance.state === 'shutting-down') instance.state = 'terminated';
      else if (instance.state === 'pending') instance.state = 'running';
    }
  }, delayMs);
  return () => {
    clearInterval(ticking);
    for (const timer of timers) clearTimeout(timer);
    account.onLaunch = () => undefined;
  };
}

async function join(
  cloud: WireCloud,
  admin: KubeClient,
  instance: ModelInstance,
  devices: Readonly<Record<string, string>>,
): Promise<void> {
  const { id, zone, instanceType, template } = instance;
  const { labels, taints } = flagsOf(template.UserData ?? '');
  try {
    await joinNode(admin, {
      name: `ip-${Number.parseInt(id.slice(-6), 16)}.ec2.internal`,
      providerId: `aws:///${zone}/${id}`,
      labels: { 'node.kubernetes.io/instance-type': instanceType, ...labels },
      taints,
      capacity: { ...(await capacityOf(cloud.account.region, instanceType)), ...devices },
    });
  } catch (error) {
    if (!isKubeFault(error, 'conflict')) throw error;
  }
}
