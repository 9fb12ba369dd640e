import { Prng } from '../../shared/sim/prng.ts';

/*
 * Instance types at prices like those of AWS: price and memory follow cpu, newer generations and
 * special processors, disks and networks cost more or less by a few percent, and spot is 32 % to
 * 72 % below on-demand, in each zone by chance. The same seed gives the same list.
 */

const SEED = 42;
const ZONES = ['us-east-1a', 'us-east-1b', 'us-east-1c'];
const INSTANCE = 'karpenter.k8s.aws/instance-';

interface Family {
  readonly name: string;
  readonly category: string;
  readonly generation: number;
  readonly arch: 'amd64' | 'arm64';
  readonly gibPerCpu: number;
  /** USD an hour. */
  readonly pricePerCpu: number;
  readonly gpu?: { readonly name: string; readonly countOf: (cpu: number) => number };
}

interface Size {
  readonly name: string;
  readonly cpu: number;
  readonly pods: number;
}

const SIZES: readonly Size[] = [
  { name: 'large', cpu: 2, pods: 29 },
  { name: 'xlarge', cpu: 4, pods: 58 },
  { name: '2xlarge', cpu: 8, pods: 58 },
  { name: '4xlarge', cpu: 16, pods: 234 },
  { name: '8xlarge', cpu: 32, pods: 234 },
  { name: '12xlarge', cpu: 48, pods: 234 },
  { name: '16xlarge', cpu: 64, pods: 737 },
  { name: '24xlarge', cpu: 96, pods: 737 },
];

const CATEGORIES = [
  { category: 'c', gibPerCpu: 2, pricePerCpu: 0.0425 },
  { category: 'm', gibPerCpu: 4, pricePerCpu: 0.048 },
  { category: 'r', gibPerCpu: 8, pricePerCpu: 0.063 },
] as const;

/** `i`, `a` and `g` name a processor, `d` local disks, `n` a faster network. */
const VARIANTS = ['i', 'a', 'g', 'id', 'ad', 'gd', 'in', 'gn', 'idn'];
const GENERATIONS = [5, 6, 7, 8];

function factorOf(variant: string, generation: number): number {
  const processor = { g: 0.8, a: 0.9 }[variant[0] ?? ''] ?? 1;
  const disks = variant.includes('d') ? 1.17 : 1;
  const network = variant.includes('n') ? 1.26 : 1;
  return processor * (1 + 0.03 * (generation - 5)) * disks * network;
}

function familiesOf({ category, gibPerCpu, pricePerCpu }: (typeof CATEGORIES)[number]) {
  return GENERATIONS.flatMap((generation) =>
    [...(generation === 5 ? [''] : []), ...VARIANTS].map(
      (variant): Family => ({
        name: `${category}${generation}${variant}`,
        ...{ category, generation, gibPerCpu },
        arch: variant.startsWith('g') ? 'arm64' : 'amd64',
        pricePerCpu: pricePerCpu * factorOf(variant, generation),
      }),
    ),
  );
}

/** One GPU up to 23 cpu, then one for each 12. */
const byCpu = (cpu: number): number => (cpu < 4 ? 0 : Math.max(1, Math.floor(cpu / 12)));
const eightOf96 = (cpu: number): number => (cpu === 96 ? 8 : 0);

const GPU_FAMILIES: readonly Family[] = (
  [
    ['g', 'g4dn', 4, 4, 0.1315, 't4', byCpu],
    ['g', 'g5', 5, 4, 0.2515, 'a10g', byCpu],
    ['g', 'g6', 6, 4, 0.2012, 'l4', byCpu],
    ['p', 'p4d', 4, 12, 0.3414, 'a100', eightOf96],
  ] as const
).map(([category, name, generation, gibPerCpu, pricePerCpu, gpu, countOf]) => ({
  ...{ name, category, generation, arch: 'amd64', gibPerCpu, pricePerCpu },
  gpu: { name: gpu, countOf },
}));

function cents(price: number): number {
  return Math.round(price * 1e4) / 1e4;
}

function offeringsOf(onDemand: number, random: Prng): readonly object[] {
  return ZONES.flatMap((zone) => [
    { zone, capacityType: 'on-demand', price: onDemand },
    { zone, capacityType: 'spot', price: cents(onDemand * (0.28 + 0.4 * random.next())) },
  ]);
}

/** What EKS keeps of the cpu: less of each further core. */
function reservedMilli(cpu: number): number {
  return 70 + 5 * Math.min(2, cpu - 2) + Math.floor(2.5 * Math.max(0, cpu - 4));
}

function labelsOf(family: Family, { name, cpu }: Size, gpus: number) {
  const { category, generation, arch, gibPerCpu, gpu } = family;
  const labels = {
    category: [category],
    family: [family.name],
    generation: [String(generation)],
    size: [name],
    cpu: [String(cpu)],
    memory: [String(cpu * gibPerCpu * 1024)],
    'gpu-count': gpus > 0 ? [String(gpus)] : [],
    'gpu-name': gpus > 0 && gpu !== undefined ? [gpu.name] : [],
    'gpu-manufacturer': gpus > 0 ? ['nvidia'] : [],
  };
  return {
    'kubernetes.io/arch': [arch],
    'kubernetes.io/os': ['linux'],
    ...Object.fromEntries(
      Object.entries(labels).map(([key, values]) => [`${INSTANCE}${key}`, values]),
    ),
  };
}

function typeOf(family: Family, size: Size, gpus: number, random: Prng): object {
  const { cpu, pods } = size;
  // The hypervisor keeps 7.5 %.
  const memoryMib = Math.floor(cpu * family.gibPerCpu * 1024 * 0.925);
  return {
    name: `${family.name}.${size.name}`,
    capacity: {
      cpu: String(cpu),
      memory: `${memoryMib}Mi`,
      pods: String(pods),
      'ephemeral-storage': '20Gi',
      ...(gpus > 0 ? { 'nvidia.com/gpu': String(gpus) } : {}),
    },
    overhead: {
      kubeReserved: {
        cpu: `${reservedMilli(cpu)}m`,
        memory: `${11 * pods + 255}Mi`,
        'ephemeral-storage': '1Gi',
      },
      evictionThreshold: { memory: '100Mi', 'ephemeral-storage': '2Gi' },
    },
    requirements: labelsOf(family, size, gpus),
    offerings: offeringsOf(cents(family.pricePerCpu * cpu), random),
  };
}

/** As the case format has them. */
export function generatedTypes(): readonly object[] {
  const random = new Prng(SEED, 'types');
  return [...CATEGORIES.flatMap(familiesOf), ...GPU_FAMILIES].flatMap((family) =>
    SIZES.flatMap((size) => {
      const gpus = family.gpu?.countOf(size.cpu) ?? 0;
      return family.gpu !== undefined && gpus === 0 ? [] : [typeOf(family, size, gpus, random)];
    }),
  );
}
