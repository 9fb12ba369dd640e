import { RESOURCES } from '../../shared/api/resources.ts';
import { isOurs } from '../../shared/core/launch/node-classes.ts';
import type { Node } from '../../shared/core/model/cluster.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { listEach, property, text, uidOf, versionOf } from '../../shared/kube/list.ts';
import type { ClusterState, ClusterWriter, WriteResult } from '../../shared/ports.ts';
import {
  cleanedNode,
  isDisruptionOpen,
  POOL_CONDITIONS,
  removedFromClaim,
  removedFromClass,
  removedFromPool,
} from './marks.ts';

/** One object that has marks of ours, and the write that removes them. */
export interface Cleaning {
  /** `Kind/name`, or `Kind/namespace/name`. */
  readonly object: string;
  /** What is removed, in words. */
  readonly what: string;
  readonly carryOut: () => Promise<WriteResult>;
}

function keysText(removed: Readonly<Record<string, null>>): string {
  const keys = Object.keys(removed).length;
  return `${keys} ${keys === 1 ? 'annotation' : 'annotations'}`;
}

function isEmpty(removed: Readonly<Record<string, null>>): boolean {
  return Object.keys(removed).length === 0;
}

function ofClaim(writer: ClusterWriter, claim: NodeClaim): readonly Cleaning[] {
  const { name, uid } = claim;
  const ref = { kind: 'NodeClaim', name, uid } as const;
  const object = `NodeClaim/${name}`;
  const annotations = removedFromClaim(claim);
  const patch = () => writer.patchNodeClaim(ref, { annotations });
  const status = () =>
    writer.patchNodeClaimStatus(ref, {
      conditions: (now) => now.filter(({ type }) => type !== 'DisruptionReason'),
    });
  return [
    ...(isDisruptionOpen(claim)
      ? [{ object, what: 'the condition DisruptionReason', carryOut: status }]
      : []),
    ...(isEmpty(annotations) ? [] : [{ object, what: keysText(annotations), carryOut: patch }]),
  ];
}

function ofNode(
  writer: ClusterWriter,
  node: Node,
  claim: NodeClaim | undefined,
): readonly Cleaning[] {
  const cleaned = cleanedNode(node, claim);
  if (cleaned === undefined) return [];
  const { annotations, taints } = cleaned;
  const { name, uid } = node;
  const changed = taints === undefined ? {} : { taints, taintsBefore: node.taints };
  const carryOut = () => writer.patchNode({ kind: 'Node', name, uid }, { annotations, ...changed });
  const what = taints === undefined ? keysText(annotations) : 'the taint karpenter.sh/disrupted';
  return [{ object: `Node/${name}`, what, carryOut }];
}

/** Conditions of ours on a NodePool, which are read again before they are removed. */
async function removeConditions(client: KubeClient, name: string): Promise<WriteResult> {
  const current = await client.get(RESOURCES.nodePools, { name });
  const conditions = property(property(current, 'status'), 'conditions');
  const kept = (Array.isArray(conditions) ? conditions : []).filter(
    (each) => !POOL_CONDITIONS.has(text(property(each, 'type'))),
  );
  const value = {
    metadata: { resourceVersion: versionOf(current) },
    status: { conditions: kept },
  };
  try {
    await client.patch(RESOURCES.nodePools, { name }, { kind: 'merge', value }, 'status');
    return 'done';
  } catch (error) {
    if (isKubeFault(error, 'conflict')) return 'conflict';
    throw error;
  }
}

function ofPools(
  client: KubeClient,
  writer: ClusterWriter,
  { objects: { nodePools } }: ClusterState,
): readonly Cleaning[] {
  return nodePools
    .filter(({ template }) => isOurs(template.nodeClassRef))
    .flatMap(({ name, uid, annotations: all, conditions }): readonly Cleaning[] => {
      const annotations = removedFromPool(all);
      const object = `NodePool/${name}`;
      const ref = { kind: 'NodePool', name, uid } as const;
      const patch = () => writer.patchNodePool(ref, { annotations });
      const own = conditions.filter(({ type }) => POOL_CONDITIONS.has(type));
      const what = `the ${own.length === 1 ? 'condition' : 'conditions'} ${own.map(({ type }) => type).join(', ')}`;
      return [
        ...(own.length === 0
          ? []
          : [{ object, what, carryOut: () => removeConditions(client, name) }]),
        ...(isEmpty(annotations) ? [] : [{ object, what: keysText(annotations), carryOut: patch }]),
      ];
    });
}

function ofClasses(writer: ClusterWriter, { nodeClasses }: ClusterState): readonly Cleaning[] {
  return nodeClasses.flatMap(({ name, uid, annotations: all }): readonly Cleaning[] => {
    const annotations = removedFromClass(all);
    if (isEmpty(annotations)) return [];
    const ref = { kind: 'EC2NodeClass', name, uid } as const;
    const carryOut = () => writer.patchNodeClass(ref, { annotations });
    return [{ object: `EC2NodeClass/${name}`, what: keysText(annotations), carryOut }];
  });
}

/** Whether one of Joiner's functions has nominated the pod, and not kube-scheduler. */
function isNominatedByUs(pod: unknown): boolean {
  const fields = property(property(pod, 'metadata'), 'managedFields');
  return (Array.isArray(fields) ? fields : []).some((each) => {
    const status = property(property(each, 'fieldsV1'), 'f:status');
    const isNomination = property(status, 'f:nominatedNodeName') !== undefined;
    return isNomination && text(property(each, 'manager')).startsWith('joiner');
  });
}

/** Karpenter passes over pods that are nominated to a node, as preempting ones are. */
async function ofPods(client: KubeClient): Promise<readonly Cleaning[]> {
  let found: Cleaning[] = [];
  const unbound = { resource: RESOURCES.pods, fieldSelector: 'spec.nodeName=' };
  const selection = { ...unbound, withManagers: true };
  const object = (pod: unknown): void => {
    if (!isNominatedByUs(pod)) return;
    const metadata = property(pod, 'metadata');
    const address = {
      namespace: text(property(metadata, 'namespace')),
      name: text(property(metadata, 'name')),
    };
    const value = { metadata: { uid: uidOf(pod) }, status: { nominatedNodeName: null } };
    const carryOut = async (): Promise<WriteResult> => {
      try {
        await client.patch(RESOURCES.pods, address, { kind: 'merge', value }, 'status');
        return 'done';
      } catch (error) {
        // It is bound or gone by now: nobody looks at its nomination.
        const isOver = ['notFound', 'conflict', 'invalid'] as const;
        if (isOver.some((kind) => isKubeFault(error, kind))) return 'gone';
        throw error;
      }
    };
    const name = `Pod/${address.namespace}/${address.name}`;
    found.push({ object: name, what: 'its nomination', carryOut });
  };
  const start = (): void => {
    found = [];
  };
  await listEach(client, selection, { start, object });
  return found;
}

/**
 * All marks of ours that Karpenter would misread or never remove, in the order in which they are
 * removed: NodePools and EC2NodeClasses before claims, so that a claim without a hash is never
 * compared with a hash of theirs.
 */
export async function cleaningsOf(
  client: KubeClient,
  writer: ClusterWriter,
  state: ClusterState,
): Promise<readonly Cleaning[]> {
  const { nodeClaims, nodes } = state.objects;
  const ours = nodeClaims.filter(({ nodeClassRef }) => isOurs(nodeClassRef));
  const byProvider = new Map(ours.map((claim) => [claim.providerId, claim]));
  return [
    ...ofPools(client, writer, state),
    ...ofClasses(writer, state),
    ...ours.flatMap((claim) => ofClaim(writer, claim)),
    ...nodes.flatMap((node) =>
      node.providerId === undefined ? [] : ofNode(writer, node, byProvider.get(node.providerId)),
    ),
    ...(await ofPods(client)),
  ];
}
