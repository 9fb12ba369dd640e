import * as z from 'zod';
import type { Pod } from '../../core/model/pod.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
  EFFORTS,
  type SchedulingSettings,
} from '../../core/model/snapshot.ts';
import type { Decoded, Issue } from '../issue.ts';
import { type Decode, kindDecoders } from '../kinds.ts';
import { Reader } from '../read.ts';
import { issuesOf } from '../schema/issues.ts';
import { type ListedType, readInstanceTypes, typesByPool } from './instance-types.ts';

type RawObject = Readonly<Record<string, unknown>>;

const options = z.strictObject({
  preferencePolicy: z.enum(['Respect', 'Ignore']).optional(),
  minValuesPolicy: z.enum(['Strict', 'BestEffort']).optional(),
  reservedCapacity: z.boolean().optional(),
  reservedFallback: z.boolean().optional(),
  nodeOverlay: z.boolean().optional(),
  effort: z.enum(EFFORTS).optional(),
  spotToSpotConsolidation: z.boolean().optional(),
  concurrency: z.int().optional(),
  /** Most instance types on a claim. */
  truncateTo: z.int().min(1).optional(),
  timeoutSeconds: z.number().optional(),
  now: z.iso.datetime({ offset: true }).optional(),
});

/** Pods in one case: beyond them the answer is "split it", not a machine out of memory. */
const PODS_MAX = 1_000_000;

/** A list whose items are read later, by their own decoders; only that they are objects is checked. */
function listOf(itemsMax: number) {
  return z.custom<readonly RawObject[]>().check(({ value, issues }) => {
    if (!Array.isArray(value)) {
      issues.push({ code: 'invalid_type', expected: 'array', input: value });
      return;
    }
    if (value.length > itemsMax) {
      issues.push({ code: 'too_big', origin: 'array', maximum: itemsMax, input: value });
      return;
    }
    for (let at = 0; at < value.length; at++) {
      const input: unknown = value[at];
      if (typeof input === 'object' && input !== null && !Array.isArray(input)) continue;
      issues.push({ code: 'invalid_type', expected: 'object', input, path: [at] });
    }
  });
}

const objects = listOf(Number.MAX_SAFE_INTEGER).optional();

const caseSchema = z.strictObject({
  name: z.string().optional(),
  description: z.string().optional(),
  options: options.optional(),
  instanceTypes: listOf(Number.MAX_SAFE_INTEGER),
  nodePools: listOf(Number.MAX_SAFE_INTEGER),
  nodeOverlays: objects,
  nodeClaims: objects,
  nodes: objects,
  pods: listOf(PODS_MAX),
  daemonSets: objects,
  pvcs: objects,
  pvs: objects,
  storageClasses: objects,
  csiNodes: objects,
  pdbs: objects,
  namespaces: objects,
});

type RawCase = z.output<typeof caseSchema>;

/** One scheduling problem as a file holds it. */
export interface SchedulingCase {
  readonly name: string;
  readonly nowMs: number;
  /** Instance types as they are before overlays. */
  readonly snapshot: ClusterSnapshot;
  readonly settings: SchedulingSettings;
  /** By `Kind/name`: objects that the API server would refuse, left out of the snapshot, and why. */
  readonly rejected: Readonly<Record<string, readonly string[]>>;
}

/** Reads the objects of a case: what the API server would refuse is rejected, not an issue. */
class ObjectReader {
  readonly issues: Issue[] = [];
  readonly rejected: Record<string, readonly string[]> = {};
  private readonly seen = new Set<string>();

  read<Value extends { readonly name: string }>(
    field: string,
    kind: string,
    list: readonly RawObject[] | undefined,
    decode: (object: RawObject) => Decoded<Value>,
  ): readonly Value[] {
    return (list ?? []).flatMap((object, index) => {
      const decoded = decode(object);
      const name = nameOf(object, index);
      if (decoded.ok)
        return this.isRepeated(field, index, `${kind}/${name}`) ? [] : [decoded.value];
      const unknown = decoded.issues.filter(({ message }) => message.startsWith('is not a known'));
      for (const issue of unknown) {
        this.issues.push({ ...issue, path: `${field}[${index}].${issue.path}` });
      }
      if (unknown.length === 0) {
        const reasons = decoded.issues.map(({ path, message }) => `${path} ${message}`.trim());
        this.rejected[`${kind}/${name}`] = reasons;
      }
      return [];
    });
  }

  private isRepeated(field: string, index: number, key: string): boolean {
    if (!this.seen.has(key)) {
      this.seen.add(key);
      return false;
    }
    this.issues.push({
      path: `${field}[${index}].metadata.name`,
      message: `is the second ${key}; names must be unique`,
    });
    return true;
  }
}

function nameOf({ metadata }: RawObject, index: number): string {
  const { name, namespace } = (metadata ?? {}) as RawObject;
  const own = typeof name === 'string' ? name : `#${index}`;
  return typeof namespace === 'string' ? `${namespace}/${own}` : own;
}

/** A pending pod that says nothing of its conditions has been found unschedulable. */
function decodePod(decode: Decode<Pod>, object: RawObject): Decoded<Pod> {
  const decoded = decode(object);
  const status = object['status'] as RawObject | undefined;
  if (!decoded.ok || status?.['conditions'] !== undefined) return decoded;
  return { ok: true, value: { ...decoded.value, unschedulable: true } };
}

const MANAGED = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass' } as const;

function snapshotOf(
  raw: RawCase,
  types: readonly ListedType[],
  reader: ObjectReader,
): ClusterSnapshot {
  const decoders = kindDecoders('manifest');
  const nodePools = reader
    .read('nodePools', 'NodePool', raw.nodePools, decoders.NodePool)
    .filter(({ template: { nodeClassRef } }) => isManaged(nodeClassRef));
  const nodes = reader.read('nodes', 'Node', raw.nodes, decoders.Node);
  return {
    nodePools,
    nodeOverlays: reader.read(
      'nodeOverlays',
      'NodeOverlay',
      raw.nodeOverlays,
      decoders.NodeOverlay,
    ),
    instanceTypes: typesByPool(
      types,
      nodePools.map((pool) => pool.name),
    ),
    nodeClaims: reader.read('nodeClaims', 'NodeClaim', raw.nodeClaims, decoders.NodeClaim),
    nodes: nodes.map((node) => ({
      ...node,
      providerId: node.providerId ?? `case:///${node.name}`,
    })),
    pods: reader.read('pods', 'Pod', raw.pods, (each) => decodePod(decoders.Pod, each)),
    daemonSets: reader.read('daemonSets', 'DaemonSet', raw.daemonSets, decoders.DaemonSet),
    namespaces: reader.read('namespaces', 'Namespace', raw.namespaces, decoders.Namespace),
    persistentVolumeClaims: reader.read(
      'pvcs',
      'PersistentVolumeClaim',
      raw.pvcs,
      decoders.PersistentVolumeClaim,
    ),
    persistentVolumes: reader.read('pvs', 'PersistentVolume', raw.pvs, decoders.PersistentVolume),
    storageClasses: reader.read(
      'storageClasses',
      'StorageClass',
      raw.storageClasses,
      decoders.StorageClass,
    ),
    csiNodes: reader.read('csiNodes', 'CSINode', raw.csiNodes, decoders.CSINode),
    podDisruptionBudgets: reader.read(
      'pdbs',
      'PodDisruptionBudget',
      raw.pdbs,
      decoders.PodDisruptionBudget,
    ),
  };
}

function isManaged({ group, kind }: { readonly group: string; readonly kind: string }): boolean {
  return group === MANAGED.group && kind === MANAGED.kind;
}

function settingsOf(raw: RawCase['options'] = {}): SchedulingSettings {
  const defaults = DEFAULT_SCHEDULING_SETTINGS;
  return {
    ...defaults,
    preferencePolicy: raw.preferencePolicy ?? defaults.preferencePolicy,
    minValuesPolicy: raw.minValuesPolicy ?? defaults.minValuesPolicy,
    reservedCapacity: raw.reservedCapacity ?? defaults.reservedCapacity,
    reservedFallback: raw.reservedFallback ?? defaults.reservedFallback,
    nodeOverlay: raw.nodeOverlay ?? defaults.nodeOverlay,
    effort: raw.effort ?? defaults.effort,
    instanceTypesMax: raw.truncateTo ?? defaults.instanceTypesMax,
  };
}

/** The time of a case that does not say: decisions are made at a fixed one. */
const NOW = '2026-01-01T00:00:00Z';

/** Reads a case from parsed JSON; unknown fields and malformed shapes are issues, all at once. */
export function decodeCase(raw: unknown): Decoded<SchedulingCase> {
  const parsed = caseSchema.safeParse(raw, { reportInput: true });
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.error, caseSchema) };
  const reader = new ObjectReader();
  const read = new Reader();
  const types = readInstanceTypes(read, parsed.data.instanceTypes);
  const snapshot = snapshotOf(parsed.data, types, reader);
  const issues = [...read.issues, ...reader.issues];
  if (issues.length > 0) return { ok: false, issues };
  return {
    ok: true,
    value: {
      name: parsed.data.name ?? '',
      nowMs: Date.parse(parsed.data.options?.now ?? NOW),
      snapshot,
      settings: settingsOf(parsed.data.options),
      rejected: reader.rejected,
    },
  };
}
