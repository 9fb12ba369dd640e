import { describe, expect, it } from 'vitest';
import {
  fingerprint,
  hasSameTypes,
} from '../../../../shared/core/disruption/consolidation/fingerprint.ts';
import type { Condition, Node } from '../../../../shared/core/model/cluster.ts';
import type { InstanceType } from '../../../../shared/core/model/instance-type.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../../../shared/core/model/snapshot.ts';
import {
  claimOf,
  daemonSetOf,
  FAMILY,
  nodeOf,
  PLAIN_SPEC,
  podOf,
  podsOf,
  poolOf,
  snapshotOf,
  yes,
} from '../../../builders/scheduling.ts';

const base = (): ClusterSnapshot =>
  snapshotOf({
    pods: podsOf(3, 'p'),
    nodeClaims: [claimOf('a'), claimOf('b')],
    nodes: [nodeOf('m', 2, 8), nodeOf('n', 2, 8)],
    nodePools: [poolOf('general'), poolOf('other')],
  });

/** The list with its first changed. */
function changed<Each>(list: readonly Each[], change: Partial<Each>): readonly Each[] {
  return list.map((each, at) => (at === 0 ? { ...each, ...change } : each));
}

const withPod = (change: Partial<Pod>): ClusterSnapshot => ({
  ...base(),
  pods: changed(base().pods, change),
});
const withNode = (change: Partial<Node>): ClusterSnapshot => ({
  ...base(),
  nodes: changed(base().nodes, change),
});
const withClaim = (change: Partial<NodeClaim>): ClusterSnapshot => ({
  ...base(),
  nodeClaims: changed(base().nodeClaims, change),
});
const withPool = (change: Partial<NodePool>): ClusterSnapshot => ({
  ...base(),
  nodePools: changed(base().nodePools, change),
});
/** One pod after the other asks for these CPUs. */
const asking = (...cpus: readonly number[]): ClusterSnapshot => ({
  ...base(),
  pods: base().pods.map((pod, at) => ({ ...pod, spec: podOf('x', { cpu: cpus[at] ?? 0 }).spec })),
});

const taint = { key: 'x', value: '', effect: 'NoSchedule' as const };
const condition = (type: string, status: Condition['status']): Condition => ({
  type,
  status,
  reason: 'Why',
  message: '',
  lastTransitionAtMs: 0,
});

type Pair = readonly [ClusterSnapshot, ClusterSnapshot];
const isSame = ([one, other]: Pair): boolean => fingerprint(one) === fingerprint(other);

describe('the text by which a cluster is known again', () => {
  it('is the same where pods come in another order', () => {
    expect(isSame([base(), { ...base(), pods: base().pods.toReversed() }])).toBe(true);
  });

  it.each<[string, () => ClusterSnapshot]>([
    ['a pod has gone', () => ({ ...base(), pods: base().pods.slice(1) })],
    ['a pod is another one of its name', () => withPod({ uid: 'uid-q' })],
    ['a pod is bound', () => withPod({ nodeName: 'n' })],
    ['a pod is nominated', () => withPod({ nominatedNodeName: 'n' })],
    ['a pod is over', () => withPod({ phase: 'Succeeded' })],
    ['a pod begins to end', () => withPod({ deletedAtMs: 1 })],
    ['a pod is no longer ready', () => withPod({ ready: false })],
    ['a pod asks for more', () => withPod({ spec: podOf('x', { cpu: 7 }).spec })],
    ['a pod has other labels', () => withPod({ labels: { app: 'other' } })],
    ['a node has gone', () => ({ ...base(), nodes: base().nodes.slice(1) })],
    ['a node is another one', () => withNode({ providerId: 'aws:///zone-a/other' })],
    ['a node has another name', () => withNode({ name: 'other' })],
    ['a node has other labels', () => withNode({ labels: { team: 'a' } })],
    ['a node is tainted', () => withNode({ taints: [taint] })],
    ['a node has less room', () => withNode({ allocatable: { cpu: 1 } })],
    ['a node begins to end', () => withNode({ deletedAtMs: 1 })],
    ['a claim is another one of its name', () => withClaim({ uid: 'uid-c' })],
    ['a claim has other labels', () => withClaim({ labels: {} })],
    ['a claim is tainted', () => withClaim({ taints: [taint] })],
    ['a claim is launched', () => withClaim({ providerId: 'aws:///zone-a/i-1' })],
    ['a claim begins to end', () => withClaim({ deletedAtMs: 1 })],
    ['a claim is initialised', () => withClaim({ conditions: yes('Initialized') })],
    ['a NodePool is not ready', () => withPool({ conditions: [condition('Ready', 'False')] })],
    ['a limit is set', () => withPool({ limits: { cpu: 1 } })],
    ['a NodePool has gone', () => ({ ...base(), nodePools: [poolOf('other')] })],
    ['a DaemonSet comes', () => ({ ...base(), daemonSets: [daemonSetOf('d', PLAIN_SPEC)] })],
    ['a namespace comes', () => ({ ...base(), namespaces: [{ name: 'team', labels: {} }] })],
    [
      'a claim for a volume comes',
      () => {
        const volume = { storageClassName: 'gp3', volumeName: undefined, bindCompleted: false };
        const claim = { namespace: 'default', name: 'c', isDeleting: false, isLost: false };
        return { ...base(), persistentVolumeClaims: [{ ...claim, ...volume }] };
      },
    ],
    [
      'a volume comes',
      () => {
        const driver = { csiDriver: 'ebs.csi.aws.com', csiVolumeHandle: 'vol-1', isLocal: false };
        const volume = { name: 'v', requiredNodeAffinity: undefined, ...driver };
        return { ...base(), persistentVolumes: [volume] };
      },
    ],
    [
      'a StorageClass comes',
      () => {
        const binding = { volumeBindingMode: 'Immediate' as const, allowedTopologies: [] };
        const storageClass = { name: 'gp3', provisioner: 'ebs.csi.aws.com', ...binding };
        return { ...base(), storageClasses: [storageClass] };
      },
    ],
    [
      'a node can attach fewer volumes',
      () => ({ ...base(), csiNodes: [{ name: 'n', attachLimits: { 'ebs.csi.aws.com': 1 } }] }),
    ],
  ])('is another where %s', (_, other) => {
    expect(isSame([base(), other()])).toBe(false);
  });

  it.each<[string, () => Pair]>([
    [
      'the node that a pod is bound to, and one that it is nominated to',
      () => [withPod({ nodeName: 'n' }), withPod({ nominatedNodeName: 'n' })],
    ],
    ['which pods ask for how much', () => [asking(1, 2, 1), asking(1, 2, 2)]],
    [
      'a condition of a NodePool that is false, and one that is not known',
      () => [
        withPool({ conditions: [condition('Ready', 'False')] }),
        withPool({ conditions: [condition('Ready', 'Unknown')] }),
      ],
    ],
    [
      'which condition of a claim holds',
      () => [withClaim({ conditions: yes('Launched') }), withClaim({ conditions: yes('Drifted') })],
    ],
  ])('sets apart %s', (_, pair) => {
    expect(isSame(pair())).toBe(false);
  });

  it.each<[string, () => Pair]>([
    [
      'pods of different kinds come in another order',
      () => [asking(1, 2, 3), { ...asking(1, 2, 3), pods: asking(1, 2, 3).pods.toReversed() }],
    ],
    [
      'nodes come in another order',
      () => [base(), { ...base(), nodes: base().nodes.toReversed() }],
    ],
    [
      'claims come in another order',
      () => [base(), { ...base(), nodeClaims: base().nodeClaims.toReversed() }],
    ],
    [
      'NodePools come in another order',
      () => [base(), { ...base(), nodePools: base().nodePools.toReversed() }],
    ],
    ['a pod ends a moment later', () => [withPod({ deletedAtMs: 1 }), withPod({ deletedAtMs: 2 })]],
    ['a pod is annotated', () => [base(), withPod({ annotations: { by: 'me' } })]],
    ['a node reports', () => [base(), withNode({ conditions: yes('Ready') })]],
    ['a node is annotated', () => [base(), withNode({ annotations: { by: 'me' } })]],
    [
      'a claim may be consolidated, which is known beside it',
      () => [base(), withClaim({ conditions: yes('Consolidatable') })],
    ],
    [
      'a condition of a claim does not hold, or is missing',
      () => [base(), withClaim({ conditions: [condition('Drifted', 'False')] })],
    ],
    [
      'conditions of a claim come in another order',
      () => [
        withClaim({ conditions: yes('Launched', 'Registered') }),
        withClaim({ conditions: yes('Registered', 'Launched') }),
      ],
    ],
    [
      'conditions of a NodePool come in another order',
      () => [
        withPool({ conditions: yes('Ready', 'ValidationSucceeded') }),
        withPool({ conditions: yes('ValidationSucceeded', 'Ready') }),
      ],
    ],
    [
      'a condition of a NodePool holds since another time',
      () => {
        const ready = condition('Ready', 'True');
        const later = { ...ready, lastTransitionAtMs: 9, message: 'again' };
        return [withPool({ conditions: [ready] }), withPool({ conditions: [later] })];
      },
    ],
    ['a NodePool is made anew as it was', () => [base(), withPool({ uid: 'uid-new' })]],
  ])('is the same where %s', (_, pair) => {
    expect(isSame(pair())).toBe(true);
  });
});

describe('what can be launched is the same', () => {
  const types = (...pools: readonly (readonly [string, readonly InstanceType[]])[]) =>
    new Map(pools);
  const dearer = (): readonly InstanceType[] =>
    FAMILY.map((each) => ({
      ...each,
      offerings: each.offerings.map((one) => ({ ...one, price: one.price + 0.01 })),
    }));
  const again = (): readonly InstanceType[] => structuredClone([...FAMILY]).toReversed();

  it('where it is the same map', () => {
    const own = types(['a', FAMILY]);
    expect(hasSameTypes(own, own)).toBe(true);
  });

  it.each<[string, () => Parameters<typeof hasSameTypes>, boolean]>([
    ['with the same lists', () => [types(['a', FAMILY]), types(['a', FAMILY])], true],
    ['with lists that say the same', () => [types(['a', FAMILY]), types(['a', again()])], true],
    ['with other prices', () => [types(['a', FAMILY]), types(['a', dearer()])], false],
    ['with fewer types', () => [types(['a', FAMILY]), types(['a', FAMILY.slice(1)])], false],
    [
      'with other prices in one pool of two',
      () => [types(['a', FAMILY], ['b', FAMILY]), types(['a', FAMILY], ['b', dearer()])],
      false,
    ],
    ['for another pool', () => [types(['a', FAMILY]), types(['b', FAMILY])], false],
    ['for one pool more', () => [types(['a', FAMILY]), types(['a', FAMILY], ['b', FAMILY])], false],
    ['for one pool less', () => [types(['a', FAMILY], ['b', FAMILY]), types(['a', FAMILY])], false],
  ])('%s', (_, pair, expected) => {
    expect(hasSameTypes(...pair())).toBe(expected);
  });
});
