import type { SchedulingCase } from '../../shared/api/case/decode.ts';
import { allocatable } from '../../shared/core/instance-types/allocatable.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { INSTANCE_TYPE, NODE_POOL } from '../../shared/core/model/labels.ts';
import type { Plan, PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import { addResources, maxResources, type Resources } from '../../shared/core/model/resources.ts';
import { tolerates, untoleratedTaint } from '../../shared/core/model/taint.ts';
import {
  allows,
  intersectRequirements,
  isContradiction,
  requirementsOf,
  requirementsOfLabels,
} from '../../shared/core/requirements/value-set.ts';

/**
 * What is wrong with a plan, written apart from the scheduler: every pod is answered for once, and
 * on each of a claim's types its pods fit, are tolerated and may be by their node selectors; limits
 * of NodePools hold. What it leaves out (topology, volumes, minValues) has tests of its own.
 */
export function checkPlan(subject: SchedulingCase, plan: Plan): readonly string[] {
  const pods = new Map(subject.snapshot.pods.map((pod) => [podKey(pod), pod]));
  return [
    ...answered(subject, plan),
    ...plan.newNodeClaims.flatMap((claim, at) => claimFaults(subject, claim, at, pods)),
    ...limitFaults(subject, plan),
    ...existingFaults(subject, plan, pods),
  ];
}

function answered(subject: SchedulingCase, plan: Plan): readonly string[] {
  const counts = new Map<string, number>();
  const add = (pod: string): void => void counts.set(pod, (counts.get(pod) ?? 0) + 1);
  for (const { pods } of [...plan.newNodeClaims, ...plan.existing]) pods.forEach(add);
  for (const pod of [...plan.unplaced.keys(), ...plan.ignored.keys()]) add(pod);
  const pending = subject.snapshot.pods.filter((pod) => pod.nodeName === undefined);
  return [
    ...pending.filter((pod) => !counts.has(podKey(pod))).map((pod) => `${podKey(pod)}: no answer`),
    ...[...counts].filter(([, count]) => count > 1).map(([pod]) => `${pod}: answered twice`),
  ];
}

function sumOf(pods: readonly Pod[]): Resources {
  return pods.reduce<Resources>((sum, pod) => addResources(sum, pod.spec.requests), {});
}

function exceeding(wanted: Resources, room: Resources): readonly string[] {
  return Object.entries(wanted)
    .filter(([name, amount]) => amount > 0 && amount > (room[name] ?? 0))
    .map(([name, amount]) => `${name} ${amount} > ${room[name] ?? 0}`);
}

function claimFaults(
  { snapshot }: SchedulingCase,
  claim: PlannedNodeClaim,
  at: number,
  pods: ReadonlyMap<string, Pod>,
): readonly string[] {
  const mine = claim.pods.flatMap((key) => pods.get(key) ?? []);
  const pool = snapshot.nodePools.find((each) => each.name === claim.nodePool);
  if (pool === undefined) return [`claim ${at}: there is no NodePool ${claim.nodePool}`];
  const types = snapshot.instanceTypes.get(pool.name) ?? [];
  const asked = requirementsOf(claim.requirements);
  const faults: string[] = [];
  for (const pod of mine) {
    const taint = untoleratedTaint(pod.spec.tolerations, pool.template.taints);
    if (taint !== undefined) faults.push(`${podKey(pod)} does not tolerate ${taint.key}`);
    const labels = requirementsOfLabels(pod.spec.nodeSelector);
    if (isContradiction2(asked, labels)) faults.push(`${podKey(pod)}: its node selector`);
  }
  const names = asked.get(INSTANCE_TYPE);
  for (const type of types) {
    if (names !== undefined && !allows(names, type.name)) continue;
    faults.push(...typeFaults(type, mine).map((fault) => `claim ${at} on ${type.name}: ${fault}`));
  }
  const price = priceOf(types, claim);
  if (price === undefined || Math.abs(price - claim.chosen.price) > 1e-9) {
    faults.push(`claim ${at}: ${claim.chosen.type} is not offered at ${claim.chosen.price}`);
  }
  return faults;
}

/** Whether no node can meet both. */
function isContradiction2(
  a: ReturnType<typeof requirementsOf>,
  b: ReturnType<typeof requirementsOf>,
): boolean {
  return [...intersectRequirements(a, b)].some(([key, set]) => b.has(key) && isContradiction(set));
}

function typeFaults(type: InstanceType, pods: readonly Pod[]): readonly string[] {
  const plain = { capacityOverride: undefined, overheadOverride: undefined };
  const needsOverride = type.offerings.some((each) => each.capacityOverride !== undefined);
  return needsOverride ? [] : exceeding(sumOf(pods), allocatable(type, plain));
}

function priceOf(types: readonly InstanceType[], { chosen }: PlannedNodeClaim): number | undefined {
  return types
    .find((type) => type.name === chosen.type)
    ?.offerings.find(
      (each) =>
        each.available &&
        each.zone === chosen.zone &&
        each.capacityType === chosen.capacityType &&
        each.reservation?.id === chosen.reservationId,
    )?.price;
}

/** Limits, counted with the nodes that are there and whatever types are launched for all claims. */
function limitFaults({ snapshot }: SchedulingCase, plan: Plan): readonly string[] {
  return snapshot.nodePools.flatMap((pool) => {
    const mine = plan.newNodeClaims.filter((claim) => claim.nodePool === pool.name);
    if (mine.length === 0) return [];
    const types = snapshot.instanceTypes.get(pool.name) ?? [];
    const added = mine.map(({ instanceTypes }) => ({
      capacity: types
        .filter(({ name }) => instanceTypes.includes(name))
        .reduce<Resources>((most, { capacity }) => maxResources(most, capacity), {}),
    }));
    const nodes = snapshot.nodes.filter(
      (node) => node.labels[NODE_POOL] === pool.name && node.deletedAtMs === undefined,
    );
    const capacities = [...added, ...nodes].map((each) => each.capacity);
    const used: Resources = {
      ...capacities.reduce<Resources>((sum, each) => addResources(sum, each), {}),
      nodes: mine.length + nodes.length,
    };
    return Object.entries(pool.limits)
      .filter(([name, limit]) => (used[name] ?? 0) > limit)
      .map(([name, limit]) => `NodePool ${pool.name}: ${name} ${used[name]} > ${limit}`);
  });
}

function existingFaults(
  { snapshot }: SchedulingCase,
  plan: Plan,
  pods: ReadonlyMap<string, Pod>,
): readonly string[] {
  return plan.existing.flatMap(({ node: name, pods: keys }) => {
    const node = snapshot.nodes.find((each) => each.name === name);
    if (node === undefined) return [];
    const there = snapshot.pods.filter(
      (pod) => pod.nodeName === name && pod.phase !== 'Succeeded' && pod.phase !== 'Failed',
    );
    const added = keys.flatMap((key) => pods.get(key) ?? []);
    const faults = exceeding(sumOf([...there, ...added]), node.allocatable);
    const barred = added.flatMap((pod) =>
      node.taints
        .filter((taint) => taint.effect !== 'PreferNoSchedule')
        .filter((taint) => !pod.spec.tolerations.some((each) => tolerates(each, taint)))
        .filter((taint) => !isPassing(taint.key))
        .map((taint) => `${podKey(pod)} does not tolerate ${taint.key}`),
    );
    return [...faults, ...barred].map((fault) => `node ${name}: ${fault}`);
  });
}

/** Taints that go away by themselves once a node is ready. */
function isPassing(key: string): boolean {
  return key.startsWith('node.kubernetes.io/') || key.startsWith('node.cloudprovider');
}
