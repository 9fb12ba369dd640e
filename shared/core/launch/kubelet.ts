import type { Labels } from '../model/labels.ts';
import type { ImageFamily } from '../model/node-class.ts';
import { parseQuantity } from '../quantity.ts';
import { IMAGE_FAMILIES } from './image-families/families.ts';
import { hasShape, KUBELET_FIELDS, SHAPE_TEXTS } from './kubelet-fields.ts';

/** `spec.kubelet`, read; amounts stay texts as the kubelet reads them itself. */
export interface KubeletConfiguration {
  readonly clusterDNS: readonly string[];
  readonly maxPods: number | undefined;
  readonly podsPerCore: number | undefined;
  readonly systemReserved: Labels;
  readonly kubeReserved: Labels;
  readonly evictionHard: Labels;
  readonly evictionSoft: Labels;
  readonly evictionSoftGracePeriod: Labels;
  /** Seconds. */
  readonly evictionMaxPodGracePeriod: number | undefined;
  readonly imageGCHighThresholdPercent: number | undefined;
  readonly imageGCLowThresholdPercent: number | undefined;
  readonly cpuCFSQuota: boolean | undefined;
  /** Fields of the kubelet's own that are passed on as they are. */
  readonly other: Readonly<Record<string, unknown>>;
}

export interface KubeletProblem {
  readonly path: string;
  readonly message: string;
  /** Reason of the condition ValidationSucceeded. */
  readonly reason: KubeletReason;
}

/** In the order in which they are told: what is malformed before what cannot be done. */
export const KUBELET_REASONS = [
  'InvalidKubeletConfiguration',
  'KubeletExpressionsDisabled',
  'UnsupportedKubeletConfiguration',
] as const;
export type KubeletReason = (typeof KUBELET_REASONS)[number];

export interface KubeletReading {
  readonly configuration: KubeletConfiguration;
  readonly problems: readonly KubeletProblem[];
}

/** https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#eviction-signals */
const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
];
const RESERVABLE = ['cpu', 'memory', 'ephemeral-storage', 'pid'];
const DURATION = /^(0|(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+)$/;

/** Reads one field after the other and notes what it cannot read. */
class Reader {
  readonly problems: KubeletProblem[] = [];
  private readonly fields: Readonly<Record<string, unknown>>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.fields = fields;
  }

  invalid(field: string, message: string): void {
    const reason = 'InvalidKubeletConfiguration';
    this.problems.push({ path: `spec.kubelet.${field}`, message, reason });
  }

  unsupported(field: string, message: string): void {
    const reason = 'UnsupportedKubeletConfiguration';
    this.problems.push({ path: `spec.kubelet.${field}`, message, reason });
  }

  /** An amount that nodes would work out for themselves. */
  expression(field: string): void {
    const message = 'expressions are not supported: give an amount';
    const reason = 'KubeletExpressionsDisabled';
    this.problems.push({ path: `spec.kubelet.${field}`, message, reason });
  }

  count(field: string, max = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.fields[field];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) {
      return value;
    }
    this.invalid(field, `must be a whole number from 0${max < 1000 ? ` to ${max}` : ''}`);
    return undefined;
  }

  flag(field: string): boolean | undefined {
    const value = this.fields[field];
    if (value === undefined || typeof value === 'boolean') return value;
    this.invalid(field, 'must be true or false');
    return undefined;
  }

  texts(field: string): readonly string[] {
    const value = this.fields[field];
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    this.invalid(field, 'must be a list of texts');
    return [];
  }

  /** `maxPods`: a text is an expression. */
  countOrExpression(field: string): number | undefined {
    if (typeof this.fields[field] !== 'string') return this.count(field);
    this.expression(field);
    return undefined;
  }

  /** Amounts by resource; a text that is no quantity is an expression. */
  amounts(field: string): Labels {
    const expressions = new Set<string>();
    const isRead = (text: string, key: string): boolean => {
      if (!isExpression(text, key)) return isAmount(text, key);
      this.expression(`${field}.${key}`);
      expressions.add(key);
      return true;
    };
    const read = this.map(field, RESERVABLE, isRead, 'a quantity from 0, such as 100m or 1Gi');
    return Object.fromEntries(Object.entries(read).filter(([key]) => !expressions.has(key)));
  }

  /** Entries in the order of their keys; each checked by its key and value. */
  map(
    field: string,
    keys: readonly string[],
    isValue: (value: string, key: string) => boolean,
    expected: string,
  ): Labels {
    const value = this.fields[field];
    if (value === undefined) return {};
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.invalid(field, 'must be a map');
      return {};
    }
    const read: Record<string, string> = {};
    for (const [key, raw] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
      const text = typeof raw === 'number' ? String(raw) : raw;
      if (!keys.includes(key)) this.invalid(`${field}.${key}`, `is not one of ${keys.join(', ')}`);
      else if (typeof text !== 'string' || !isValue(text, key)) {
        this.invalid(`${field}.${key}`, `must be ${expected}`);
      } else read[key] = text;
    }
    return read;
  }
}

function isAmount(text: string, key: string): boolean {
  const amount = parseQuantity(text, key);
  return amount !== undefined && amount >= 0;
}

/** A text that is no quantity; one that only begins with a minus is a quantity below 0. */
function isExpression(text: string, key: string): boolean {
  return parseQuantity(text, key) === undefined && !text.startsWith('-');
}

function isThreshold(text: string): boolean {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text);
  return percent === null ? isAmount(text, 'memory') : Number(percent[1]) <= 100;
}

/** Fields of an EC2NodeClass's `spec.kubelet`. */
export const KUBELET_SPEC_FIELDS: readonly string[] = [
  'clusterDNS',
  'maxPods',
  'podsPerCore',
  'systemReserved',
  'kubeReserved',
  'evictionHard',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionMaxPodGracePeriod',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'cpuCFSQuota',
];
const KNOWN = new Set(KUBELET_SPEC_FIELDS);

function readFields(reader: Reader): Omit<KubeletConfiguration, 'other'> {
  const threshold = 'a percentage up to 100% or a quantity';
  return {
    clusterDNS: reader.texts('clusterDNS'),
    maxPods: reader.countOrExpression('maxPods'),
    podsPerCore: reader.count('podsPerCore'),
    systemReserved: reader.amounts('systemReserved'),
    kubeReserved: reader.amounts('kubeReserved'),
    evictionHard: reader.map('evictionHard', SIGNALS, isThreshold, threshold),
    evictionSoft: reader.map('evictionSoft', SIGNALS, isThreshold, threshold),
    evictionSoftGracePeriod: reader.map(
      'evictionSoftGracePeriod',
      SIGNALS,
      (text) => DURATION.test(text),
      'a duration such as 90s',
    ),
    evictionMaxPodGracePeriod: reader.count('evictionMaxPodGracePeriod'),
    imageGCHighThresholdPercent: reader.count('imageGCHighThresholdPercent', 100),
    imageGCLowThresholdPercent: reader.count('imageGCLowThresholdPercent', 100),
    cpuCFSQuota: reader.flag('cpuCFSQuota'),
  };
}

/** Soft thresholds and their grace periods come in pairs, as the kubelet demands. */
function checkPairs(reader: Reader, read: Omit<KubeletConfiguration, 'other'>): void {
  for (const signal of Object.keys(read.evictionSoft)) {
    if (read.evictionSoftGracePeriod[signal] === undefined) {
      reader.invalid(`evictionSoft.${signal}`, 'has no matching evictionSoftGracePeriod');
    }
  }
  for (const signal of Object.keys(read.evictionSoftGracePeriod)) {
    if (read.evictionSoft[signal] === undefined) {
      reader.invalid(`evictionSoftGracePeriod.${signal}`, 'has no matching evictionSoft');
    }
  }
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = read;
  if (high !== undefined && low !== undefined && high <= low) {
    reader.invalid('imageGCHighThresholdPercent', 'must be greater than the low threshold');
  }
}

/** The settings and everything in them that is wrong or that the family cannot take. */
export function readKubelet(
  fields: Readonly<Record<string, unknown>>,
  family: ImageFamily,
): KubeletReading {
  const { takesAnyKubeletField, honoursPodsPerCore } = IMAGE_FAMILIES[family];
  const reader = new Reader(fields);
  const read = readFields(reader);
  checkPairs(reader, read);
  const other: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (KNOWN.has(field)) continue;
    const shape = KUBELET_FIELDS.get(field);
    if (shape === undefined) reader.invalid(field, 'is no field of the kubelet');
    else if (field === 'registerWithTaints') {
      reader.invalid(field, 'taints are set by the NodePool');
    } else if (!hasShape(value, shape)) reader.invalid(field, `must be ${SHAPE_TEXTS[shape]}`);
    else if (!takesAnyKubeletField) {
      reader.unsupported(field, `is not supported by the image family ${family}`);
    } else other[field] = value;
  }
  const threshold = 'a percentage up to 100% or a quantity';
  reader.map('evictionMinimumReclaim', SIGNALS, isThreshold, threshold);
  if (!honoursPodsPerCore && read.podsPerCore !== undefined) {
    reader.unsupported('podsPerCore', `is not supported by the image family ${family}`);
  }
  if (!takesAnyKubeletField && read.clusterDNS.length > 1) {
    reader.unsupported('clusterDNS', `the image family ${family} takes one address`);
  }
  return { configuration: { ...read, other }, problems: reader.problems };
}
