import * as z from 'zod';
import type { Decoded, Issue } from '../api/issue.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import {
  CPU,
  EPHEMERAL_STORAGE,
  MEMORY,
  NO_RESOURCES,
  type Resources,
} from '../core/model/resources.ts';
import { parseQuantity } from '../core/quantity.ts';
import type { CatalogZone } from './facts.ts';
import {
  DEFAULT_LAUNCH_SETTINGS,
  type EvictionThreshold,
  type KubeletSettings,
  type LaunchSettings,
} from './settings.ts';

/** What the environment decides about nodes beside their class. */
export interface LaunchEnvironment {
  /** `RESERVED_ENIS`; default 0. */
  readonly reservedNetworkInterfaces: number;
  /** `VM_MEMORY_OVERHEAD_PERCENT`; default 0.075. */
  readonly memoryOverhead: number;
  /** Instances free by reservation id; a reservation that is not named counts as used up. */
  readonly availableReservations: ReadonlyMap<string, number>;
}

export const DEFAULT_LAUNCH_ENVIRONMENT: LaunchEnvironment = {
  reservedNetworkInterfaces: DEFAULT_LAUNCH_SETTINGS.reservedNetworkInterfaces,
  memoryOverhead: DEFAULT_LAUNCH_SETTINGS.memoryOverhead,
  availableReservations: new Map(),
};

const amount = z.union([z.string(), z.number()]);
const amounts = z.record(z.string(), amount);

/** The part of an EC2NodeClass's spec that changes what an instance type offers. */
const launchSpec = z.object({
  kubelet: z
    .object({
      maxPods: z.int().nonnegative().optional(),
      podsPerCore: z.int().nonnegative().optional(),
      kubeReserved: amounts.optional(),
      systemReserved: amounts.optional(),
      evictionHard: amounts.optional(),
      reservedSystemCPUs: z.string().optional(),
    })
    .optional(),
  blockDeviceMappings: z
    .array(
      z.object({
        deviceName: z.string().optional(),
        rootVolume: z.boolean().optional(),
        ebs: z.object({ volumeSize: amount.optional() }).optional(),
      }),
    )
    .optional(),
  instanceStorePolicy: z.string().optional(),
  networkInterfaces: z
    .array(
      z.object({
        networkCardIndex: z.int().nonnegative().optional(),
        deviceIndex: z.int().nonnegative().optional(),
        interfaceType: z.string().optional(),
      }),
    )
    .optional(),
  cpuOptions: z.object({ nestedVirtualization: z.string().optional() }).optional(),
  connectionTracking: z.object({}).optional(),
});

type LaunchSpec = z.infer<typeof launchSpec>;

/** The settings of an EC2NodeClass, or everything in it that cannot be read. */
export function launchSettingsOf(
  nodeClass: NodeClass,
  environment: LaunchEnvironment = DEFAULT_LAUNCH_ENVIRONMENT,
): Decoded<LaunchSettings> {
  const parsed = launchSpec.safeParse(nodeClass.spec);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => ({
      path: ['spec', ...path].join('.'),
      message,
    }));
    return { ok: false, issues };
  }
  const issues: Issue[] = [];
  const { data } = parsed;
  const settings: LaunchSettings = {
    imageFamily: nodeClass.imageFamily,
    zones: subnetZones(nodeClass),
    kubelet: kubeletSettings(data, issues),
    blockDevices: blockDevices(data, issues),
    instanceStoreRaid: data.instanceStorePolicy === 'RAID0',
    networkInterfaces: data.networkInterfaces?.map((each) => ({
      networkCardIndex: each.networkCardIndex ?? 0,
      deviceIndex: each.deviceIndex ?? 0,
      efaOnly: each.interfaceType === 'efa-only',
    })),
    nestedVirtualization: data.cpuOptions?.nestedVirtualization === 'enabled',
    connectionTracking: data.connectionTracking !== undefined,
    reservations: nodeClass.status.capacityReservations.map((reservation) => ({
      ...reservation,
      available: environment.availableReservations.get(reservation.id) ?? 0,
    })),
    reservedNetworkInterfaces: environment.reservedNetworkInterfaces,
    memoryOverhead: environment.memoryOverhead,
  };
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: settings };
}

/** Zones of the class's subnets, each once; an id that is not known is empty. */
function subnetZones({ status }: NodeClass): readonly CatalogZone[] {
  const ids = new Map<string, string>();
  for (const { zone, zoneId } of status.subnets) {
    ids.set(zone, zoneId ?? ids.get(zone) ?? '');
  }
  return [...ids].map(([zone, zoneId]) => ({ zone, zoneId }));
}

function kubeletSettings({ kubelet }: LaunchSpec, issues: Issue[]): KubeletSettings {
  const kubeReserved = reserved(kubelet?.kubeReserved, 'spec.kubelet.kubeReserved', issues);
  const systemReserved = reserved(kubelet?.systemReserved, 'spec.kubelet.systemReserved', issues);
  const cpus = cpuCount(kubelet?.reservedSystemCPUs, issues);
  const isListed = cpus !== undefined;
  return {
    maxPods: kubelet?.maxPods,
    podsPerCore: kubelet?.podsPerCore,
    kubeReserved: isListed ? { ...kubeReserved, [CPU]: 0 } : kubeReserved,
    systemReserved: isListed ? { ...systemReserved, [CPU]: cpus * 1000 } : systemReserved,
    memoryAvailable: threshold(kubelet?.evictionHard, 'memory.available', issues),
    storageAvailable: threshold(kubelet?.evictionHard, 'nodefs.available', issues),
  };
}

/** Reserved amounts; process ids are not something that pods request, so they are left out. */
function reserved(
  list: Readonly<Record<string, string | number>> | undefined,
  path: string,
  issues: Issue[],
): Resources {
  const resources: Record<string, number> = {};
  for (const name of [CPU, MEMORY, EPHEMERAL_STORAGE]) {
    const text = list?.[name];
    if (text === undefined) continue;
    const parsed = quantity(text, name, `${path}.${name}`, issues);
    if (parsed !== undefined) resources[name] = parsed;
  }
  return Object.keys(resources).length === 0 ? NO_RESOURCES : resources;
}

/**
 * Of a list of CPUs such as `0-1,4`, which takes the place of the CPU in both reservations.
 * https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/#explicitly-reserved-cpu-list
 */
function cpuCount(list: string | undefined, issues: Issue[]): number | undefined {
  if (list === undefined || list === '') return undefined;
  const ranges = list.split(',').map((each) => /^(\d+)(?:-(\d+))?$/.exec(each.trim()));
  const sizes = ranges.map((range) => {
    const [, first, last = first] = range ?? [];
    return Number(last) - Number(first) + 1;
  });
  if (sizes.every((size) => size > 0)) return sizes.reduce((sum, size) => sum + size, 0);
  const path = 'spec.kubelet.reservedSystemCPUs';
  issues.push({ path, message: `"${list}" is not a list of CPUs such as 0-1,4` });
  return undefined;
}

function quantity(
  text: string | number,
  resource: string,
  path: string,
  issues: Issue[],
): number | undefined {
  const parsed = parseQuantity(text, resource);
  if (parsed !== undefined && parsed >= 0) return parsed;
  issues.push({ path, message: `"${text}" is not a quantity from 0, such as 100m or 1Gi` });
  return undefined;
}

function threshold(
  evictionHard: Readonly<Record<string, string | number>> | undefined,
  signal: string,
  issues: Issue[],
): EvictionThreshold | undefined {
  const text = evictionHard?.[signal];
  if (text === undefined) return undefined;
  const path = `spec.kubelet.evictionHard.${signal}`;
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(String(text));
  if (percent !== null) {
    const share = Number(percent[1]);
    if (share <= 100) return { percent: share };
    issues.push({ path, message: `"${text}" is above 100%` });
    return undefined;
  }
  const fixed = quantity(text, MEMORY, path, issues);
  return fixed === undefined ? undefined : { amount: fixed };
}

function blockDevices(
  { blockDeviceMappings = [] }: LaunchSpec,
  issues: Issue[],
): LaunchSettings['blockDevices'] {
  return blockDeviceMappings.map(({ deviceName, rootVolume, ebs }, index) => {
    const path = `spec.blockDeviceMappings[${index}].ebs.volumeSize`;
    const size = ebs?.volumeSize;
    return {
      deviceName,
      rootVolume: rootVolume ?? false,
      volumeSize: size === undefined ? undefined : quantity(size, MEMORY, path, issues),
    };
  });
}
