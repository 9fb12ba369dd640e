import {
  type ConditionClaim,
  sameConditions,
  withConditions,
} from '../core/lifecycle/conditions.ts';
import { FAKE_POD } from '../core/model/labels.ts';
import type { Plan } from '../core/model/plan.ts';
import type { Pod, PodSpec } from '../core/model/pod.ts';
import { amountOf } from '../core/model/resources.ts';
import type { CapacityBuffer, CapacityBufferStatusPatch } from '../ports.ts';
import { attempt, type Failure } from './attempt.ts';
import type { StatusWriting } from './statuses.ts';

export const ACTIVE_CAPACITY = 'buffer.x-k8s.io/active-capacity';
/** The lowest priority there is: a buffer never takes a place from a pod. */
const PRIORITY_MIN = -2_147_483_648;
/** A buffer larger than this is cut: a typing error must not fill a region. */
const REPLICAS_MAX = 10_000;

/** How many of the template the limits allow; undefined: no limit applies. */
function withinLimits(buffer: CapacityBuffer, spec: PodSpec): number | undefined {
  const counts = Object.entries(buffer.limits).flatMap(([name, limit]) => {
    const request = amountOf(spec.requests, name);
    return request > 0 ? [Math.floor(limit / request)] : [];
  });
  return counts.length === 0 ? undefined : Math.min(...counts);
}

/** min(max(replicas, percentage), limits); with neither, the limits alone. */
export function bufferReplicas(buffer: CapacityBuffer): number {
  if (buffer.target.kind === 'absent') return 0;
  const { podSpec, workloadReplicas } = buffer.target;
  const limited = withinLimits(buffer, podSpec);
  const share =
    buffer.percentage === undefined || workloadReplicas === undefined
      ? undefined
      : Math.max(1, Math.ceil((buffer.percentage * workloadReplicas) / 100));
  const wanted =
    buffer.replicas === undefined && share === undefined
      ? (limited ?? 0)
      : Math.max(buffer.replicas ?? 0, share ?? 0);
  return Math.min(wanted, limited ?? wanted, REPLICAS_MAX);
}

/** Volumes belong to real pods: a buffer only holds room. */
function virtualSpec(spec: PodSpec): PodSpec {
  return { ...spec, volumes: [], priority: PRIORITY_MIN, hasSchedulingGates: false };
}

/** The pods that stand for a buffer's room in a plan. */
export function bufferPods(buffer: CapacityBuffer): readonly Pod[] {
  if (buffer.target.kind === 'absent') return [];
  const { podLabels, podSpec } = buffer.target;
  const spec = virtualSpec(podSpec);
  return Array.from({ length: bufferReplicas(buffer) }, (_, index) => ({
    namespace: buffer.namespace,
    name: `${buffer.name}-buffer-${index}`,
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
  const prefix = `${buffer.namespace}/${buffer.name}-buffer-`;
  const placed = plan.existing
    .flatMap((each) => each.pods)
    .filter((pod) => pod.startsWith(prefix)).length;
  if (placed === replicas) {
    return { type, status: 'True', reason: 'FitsExistingCapacity', message: '' };
  }
  const message = `${replicas - placed} of ${replicas} need new nodes`;
  return { type, status: 'True', reason: 'RequiresNewCapacity', message };
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
  { ports, shadow }: StatusWriting,
  buffers: readonly CapacityBuffer[],
  plan: Plan,
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const buffer of buffers) {
    const replicas = bufferReplicas(buffer);
    const set = [resolved(buffer), provisioning(buffer, replicas, plan)];
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
      if (await shadow.isCast()) return;
      await ports.cluster.patchCapacityBufferStatus(ref, status);
    };
    failures.push(...(await attempt(`CapacityBuffer/${namespace}/${name}`, write)));
  }
  return failures;
}
