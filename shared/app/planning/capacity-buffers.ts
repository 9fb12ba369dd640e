import {
  type ConditionClaim,
  conditionOf,
  sameConditions,
  withConditions,
} from '../../core/lifecycle/conditions.ts';
import { FAKE_POD } from '../../core/model/labels.ts';
import type { Plan } from '../../core/model/plan.ts';
import type { Pod, PodSpec } from '../../core/model/pod.ts';
import { quotaDemand, type ResourceQuota } from '../../core/model/resource-quota.ts';
import { amountOf, type Resources, subtractResources } from '../../core/model/resources.ts';
import type {
  CapacityBuffer,
  CapacityBufferStatusPatch,
  ClusterState,
  Ports,
} from '../../ports.ts';
import { attempt, type Failure } from '../writes/attempt.ts';

export const ACTIVE_CAPACITY = 'buffer.x-k8s.io/active-capacity';
/** The lowest priority there is: a buffer never takes a place from a pod. */
const PRIORITY_MIN = -2_147_483_648;
/** A buffer larger than this is cut: a typing error must not fill a region. */
const REPLICAS_MAX = 10_000;

/** How many of the template fit into amounts; undefined: it uses none of them. */
function countWithin(amounts: Resources, one: Resources): number | undefined {
  const counts = Object.entries(amounts).flatMap(([name, amount]) => {
    const request = amountOf(one, name);
    return request > 0 ? [Math.floor(Math.max(0, amount) / request)] : [];
  });
  return counts.length === 0 ? undefined : Math.min(...counts);
}

/** min(max(replicas, percentage), limits); with neither, the limits alone. */
function wantedReplicas(buffer: CapacityBuffer): number {
  if (buffer.target.kind === 'absent') return 0;
  const { podSpec, workloadReplicas } = buffer.target;
  const limited = countWithin(buffer.limits, podSpec.requests);
  const share =
    buffer.percentage === undefined || workloadReplicas === undefined
      ? undefined
      : Math.ceil((buffer.percentage * workloadReplicas) / 100);
  const wanted =
    buffer.replicas === undefined && share === undefined
      ? (limited ?? 0)
      : Math.max(buffer.replicas ?? 0, share ?? 0);
  return Math.min(wanted, limited ?? wanted, REPLICAS_MAX);
}

/** How many pods a buffer keeps room for. */
export interface BufferSize {
  readonly buffer: CapacityBuffer;
  readonly replicas: number;
  /** How many there would be but for ResourceQuotas. */
  readonly wanted: number;
  /** The ResourceQuotas of its namespace that allow less. */
  readonly limitedBy: readonly string[];
}

/** What is left of a ResourceQuota for the buffers of its namespace. */
interface QuotaRoom {
  readonly quota: ResourceQuota;
  left: Resources;
}

/** Takes the replicas that a buffer's quotas allow out of them. */
function sizeWithin(buffer: CapacityBuffer, rooms: readonly QuotaRoom[]): BufferSize {
  const wanted = wantedReplicas(buffer);
  const { target } = buffer;
  if (target.kind === 'absent') return { buffer, wanted, replicas: 0, limitedBy: [] };
  const uses = rooms.flatMap((room) => {
    const one = quotaDemand(room.quota, target.podSpec);
    return one === undefined ? [] : [{ room, one, most: countWithin(room.left, one) ?? wanted }];
  });
  const replicas = Math.min(wanted, ...uses.map(({ most }) => most));
  for (const { room, one } of uses) {
    const taken = Object.entries(one).map(([name, amount]) => [name, replicas * amount] as const);
    if (replicas > 0) room.left = subtractResources(room.left, Object.fromEntries(taken));
  }
  const limitedBy = uses.filter(({ most }) => most < wanted).map(({ room }) => room.quota.name);
  return { buffer, wanted, replicas, limitedBy };
}

/**
 * The room of a buffer is what its namespace may use: pods could not be made beyond its
 * ResourceQuotas. Buffers of one namespace share them in the order of their names.
 */
export function bufferSizes({
  capacityBuffers,
  resourceQuotas,
}: Pick<ClusterState, 'capacityBuffers' | 'resourceQuotas'>): readonly BufferSize[] {
  const rooms = Map.groupBy(
    resourceQuotas.map((quota) => ({ quota, left: subtractResources(quota.hard, quota.used) })),
    ({ quota }) => quota.namespace,
  );
  return capacityBuffers
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((buffer) => sizeWithin(buffer, rooms.get(buffer.namespace) ?? []));
}

/** Volumes belong to real pods: a buffer only holds room. */
function virtualSpec(spec: PodSpec): PodSpec {
  return { ...spec, volumes: [], priority: PRIORITY_MIN, hasSchedulingGates: false };
}

/** No pod of the cluster, and none of another buffer, has such a name: plans tell pods by it. */
function podPrefix({ name }: CapacityBuffer): string {
  return `${name}:buffer-`;
}

/** The pods that stand for the buffers' room in a plan. */
export function bufferPods(
  state: Pick<ClusterState, 'capacityBuffers' | 'resourceQuotas'>,
): readonly Pod[] {
  return bufferSizes(state).flatMap(podsOf);
}

function podsOf({ buffer, replicas }: BufferSize): readonly Pod[] {
  if (buffer.target.kind === 'absent') return [];
  const { podLabels, podSpec } = buffer.target;
  const spec = virtualSpec(podSpec);
  return Array.from({ length: replicas }, (_, index) => ({
    namespace: buffer.namespace,
    name: `${podPrefix(buffer)}${index}`,
    uid: `${buffer.uid}-${String(index).padStart(5, '0')}`,
    labels: podLabels,
    annotations: { [FAKE_POD]: 'true' },
    createdAtMs: 0,
    startedAtMs: undefined,
    deletedAtMs: undefined,
    spec,
    nodeName: undefined,
    nominatedNodeName: undefined,
    phase: 'Pending',
    unschedulable: true,
    ready: false,
    isMirror: false,
    controller: undefined,
  }));
}

function resolved(buffer: CapacityBuffer): ConditionClaim {
  const type = 'ReadyForProvisioning';
  if (buffer.target.kind === 'resolved') {
    return { type, status: 'True', reason: 'Resolved', message: '' };
  }
  const { what, name, refusal } = buffer.target;
  const kind = what === 'PodTemplate' ? 'PodTemplate' : 'Workload';
  const message = refusal ?? `${kind} ${name} does not exist`;
  return { type, status: 'False', reason: `${what}NotFound`, message };
}

function provisioning(buffer: CapacityBuffer, replicas: number, plan: Plan): ConditionClaim {
  const type = 'Provisioning';
  if (buffer.target.kind === 'absent') {
    return { type, status: 'False', reason: 'NotReadyForProvisioning', message: '' };
  }
  if (replicas === 0) return { type, status: 'False', reason: 'BufferEmpty', message: '' };
  const prefix = `${buffer.namespace}/${podPrefix(buffer)}`;
  const placed = plan.existing
    .flatMap((each) => each.pods)
    .filter((pod) => pod.startsWith(prefix)).length;
  if (placed === replicas) {
    return { type, status: 'True', reason: 'FitsExistingCapacity', message: '' };
  }
  const message = `${replicas - placed} of ${replicas} replicas need new nodes`;
  return { type, status: 'True', reason: 'RequiresNewCapacity', message };
}

/** The API knows the condition; Karpenter never sets it. Of a buffer that had it once it is False. */
function limitedByQuotas(size: BufferSize): readonly ConditionClaim[] {
  const { buffer, replicas, wanted, limitedBy } = size;
  const type = 'LimitedByQuotas';
  if (limitedBy.length === 0) {
    if (conditionOf(buffer, type) === undefined) return [];
    return [{ type, status: 'False', reason: 'WithinQuotas', message: '' }];
  }
  const quotas = limitedBy.map((name) => `ResourceQuota ${name}`).join(', ');
  const message = `${quotas}: room for ${replicas} of ${wanted} replicas`;
  return [{ type, status: 'True', reason: 'LimitedByQuotas', message }];
}

/** `status.replicas` follows `spec.replicas` also where the room, and so what is said of it, stays. */
function saysSo({ status, conditions }: CapacityBuffer, said: CapacityBufferStatusPatch): boolean {
  return (
    status.replicas === said.replicas &&
    status.podTemplate === said.podTemplate &&
    status.podTemplateGeneration === said.podTemplateGeneration &&
    status.provisioningStrategy === said.provisioningStrategy &&
    sameConditions(conditions, said.conditions)
  );
}

/** Statuses of all buffers after a plan; only what changed is written, each for itself. */
export async function writeBufferStatuses(
  ports: Ports,
  state: Pick<ClusterState, 'capacityBuffers' | 'resourceQuotas'>,
  plan: Plan,
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const size of bufferSizes(state)) {
    const { buffer, replicas } = size;
    const set = [resolved(buffer), provisioning(buffer, replicas, plan), ...limitedByQuotas(size)];
    const conditions = withConditions(buffer.conditions, set, ports.clock.nowMs());
    const { target } = buffer;
    const status: CapacityBufferStatusPatch = {
      replicas,
      podTemplate: target.kind === 'resolved' ? target.podTemplate : undefined,
      podTemplateGeneration: target.kind === 'resolved' ? target.podTemplateGeneration : undefined,
      provisioningStrategy: ACTIVE_CAPACITY,
      conditions,
    };
    if (saysSo(buffer, status)) continue;
    const { namespace, name, uid } = buffer;
    const ref = { kind: 'CapacityBuffer', namespace, name, uid } as const;
    const write = async (): Promise<void> => {
      await ports.cluster.patchCapacityBufferStatus(ref, status);
    };
    failures.push(...(await attempt(`CapacityBuffer/${namespace}/${name}`, write)));
  }
  return failures;
}
