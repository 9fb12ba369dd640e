import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { machineLabels } from '../../../shared/catalog/labels.ts';
import * as labels from '../../../shared/core/model/labels.ts';
import { code, heading, pageOf, table } from './text.ts';

const { INSTANCE_LABELS } = labels;

/** What the values of a label are; where no instance type has it, one of them. */
const MEANINGS: Readonly<Record<string, readonly [string, string?]>> = {
  [labels.INSTANCE_TYPE]: ['the instance type', 'm8g.xlarge'],
  [labels.ZONE]: ['the zone', 'us-east-1a'],
  [labels.ZONE_ID]: ['the id of the zone, equal in all accounts', 'use1-az1'],
  [labels.REGION]: ['the region', 'us-east-1'],
  [labels.ARCH]: ['the architecture: `amd64` or `arm64`', 'arm64'],
  [labels.OS]: ['the operating system: `linux` or `windows`', 'linux'],
  [labels.WINDOWS_BUILD]: ['the build of Windows', '10.0.20348'],
  [labels.CAPACITY_TYPE]: ['`spot`, `on-demand` or `reserved`', 'spot'],
  [labels.NODE_POOL]: ['the NodePool', 'default'],
  [labels.RESERVATION_ID]: ['the capacity reservation', 'cr-0123456789abcdef0'],
  [labels.RESERVATION_TYPE]: ['`default` or `capacity-block`', 'default'],
  [labels.RESERVATION_INTERRUPTIBLE]: ['whether the owner may reclaim the reservation', 'false'],
  [labels.TENANCY]: ['`default` or `dedicated`', 'default'],
  [labels.PLACEMENT_GROUP_ID]: [
    'placement groups are [not supported](../compatibility.md#not-supported)',
    '',
  ],
  [labels.PLACEMENT_GROUP_PARTITION]: ['the same', ''],
  [INSTANCE_LABELS.hypervisor]: ['the hypervisor: `nitro`, `xen` or empty'],
  [INSTANCE_LABELS.encryptionInTransit]: ['whether traffic between instances is encrypted'],
  [INSTANCE_LABELS.nitroSandbox]: ['no instance type of the embedded catalog has it'],
  [INSTANCE_LABELS.category]: ['the letters before the generation'],
  [INSTANCE_LABELS.capabilityFlex]: ['whether it is a flex type'],
  [INSTANCE_LABELS.family]: ['the family'],
  [INSTANCE_LABELS.generation]: ['the generation, a number'],
  [INSTANCE_LABELS.size]: ['the size'],
  [INSTANCE_LABELS.localNvme]: ['local NVMe storage in GB'],
  [INSTANCE_LABELS.cpu]: ['vCPUs'],
  [INSTANCE_LABELS.cpuManufacturer]: ['`aws`, `intel` or `amd`'],
  [INSTANCE_LABELS.cpuClockMhz]: ['the sustained clock of the CPU in MHz'],
  [INSTANCE_LABELS.memory]: ['memory in MiB'],
  [INSTANCE_LABELS.ebsBandwidth]: ['baseline bandwidth to EBS in Mbps'],
  [INSTANCE_LABELS.networkBandwidth]: ['baseline network bandwidth in Mbps'],
  [INSTANCE_LABELS.gpuName]: ['the GPU'],
  [INSTANCE_LABELS.gpuManufacturer]: ['its manufacturer'],
  [INSTANCE_LABELS.gpuCount]: ['how many GPUs'],
  [INSTANCE_LABELS.gpuMemory]: ['memory of one GPU in MiB'],
  [INSTANCE_LABELS.acceleratorName]: ['the accelerator'],
  [INSTANCE_LABELS.acceleratorManufacturer]: ['its manufacturer'],
  [INSTANCE_LABELS.acceleratorCount]: ['how many accelerators'],
};

/** Types of which each label is shown that they have, the first that has it. */
const SAMPLES = ['m8gd.xlarge', 'g5.xlarge', 'inf2.xlarge'];

/** A value of each label of instance types. */
async function examples(): Promise<ReadonlyMap<string, string>> {
  const { types } = await loadCatalog('us-east-1');
  const found = SAMPLES.map((name) => {
    const facts = types.find((each) => each.name === name);
    if (facts === undefined) throw new Error(`the catalog has no ${name}`);
    return Object.entries(machineLabels(facts));
  });
  const values = found.toReversed().flat();
  return new Map(values.flatMap(([key, all]) => (all?.[0] === undefined ? [] : [[key, all[0]]])));
}

/** Names of Karpenter that are no requirement of a pod. */
const OTHERS: readonly (readonly [string, string, string])[] = [
  [
    labels.REGISTERED,
    'label of nodes',
    'the node is registered: it has its labels and taints, and no longer `karpenter.sh/unregistered`',
  ],
  [labels.INITIALIZED, 'label of nodes', 'the node is ready with its resources'],
  [
    labels.DO_NOT_SYNC_TAINTS,
    'label of nodes, in your user data',
    'taints of the NodeClaim are not added when the node registers',
  ],
  [labels.UNREGISTERED_TAINT_KEY, 'taint', 'the node has not been registered'],
  [labels.DISRUPTED_TAINT_KEY, 'taint', 'the node is about to be drained'],
  [
    labels.DO_NOT_DISRUPT,
    'annotation of pods and nodes',
    '`true` or, on a pod, a duration such as `30m`: the node is not disrupted, and a drain waits for the pod',
  ],
];

/** docs/reference/labels.md. */
export async function labelsPage(): Promise<string> {
  const values = await examples();
  const rows = [...labels.WELL_KNOWN_LABELS].map((name) => {
    const [meaning, example] = MEANINGS[name] ?? [];
    if (meaning === undefined) throw new Error(`${name} has no meaning`);
    return [code(name), meaning, code(example ?? values.get(name) ?? '')];
  });
  return pageOf([
    ...heading('Labels', 'shared/core/model/labels.ts'),
    'Pods, NodePools and NodeOverlays may require these labels without defining them. `Gt`, `Lt`, `Gte` and `Lte` compare numbers.',
    'Other labels have to be in a NodePool: as a label of its template, or as a requirement with `Exists` or with a list of',
    'values. Pods then select one of the values. Joiner’s own names are in [Annotations](../annotations.md).',
    '',
    ...table(['label', 'value', 'example'], rows.toSorted()),
    '## Others',
    '',
    ...table(
      ['name', 'on', 'means'],
      OTHERS.map(([name, on, means]) => [code(name), on, means]),
    ),
  ]);
}
