import { RESOURCES, type Resource } from '../../shared/api/resources.ts';
import { instanceIdOf, TERMINATION_FINALIZER } from '../../shared/core/lifecycle/actions.ts';
import { NODE_CLASS } from '../../shared/core/model/labels.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';

/** An object that a finalizer of ours may hold. */
export interface Held {
  readonly kind: 'Node' | 'NodeClaim' | 'EC2NodeClass';
  readonly name: string;
  readonly uid: string;
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly providerId: string;
  /** Uids of owners; a registered node has its NodeClaim. */
  readonly owners: readonly string[];
  /** Of a NodeClaim: the group of the class that it was made from. */
  readonly classGroup: string;
}

/** What is in the cluster. */
export interface Found {
  readonly nodes: readonly Held[];
  readonly claims: readonly Held[];
  readonly classes: readonly Held[];
}

export const CLASS_FINALIZER = 'karpenter.k8s.aws/termination';

/** By kind: the finalizer that Joiner and Karpenter put on. */
export const FINALIZERS: Readonly<Record<Held['kind'], string>> = {
  Node: TERMINATION_FINALIZER,
  NodeClaim: TERMINATION_FINALIZER,
  EC2NodeClass: CLASS_FINALIZER,
};

/** All nodes, claims and classes; of definitions that are gone there is nothing. */
export async function findAll(client: KubeClient): Promise<Found> {
  return {
    nodes: await list(client, RESOURCES.nodes, 'Node'),
    claims: await list(client, RESOURCES.nodeClaims, 'NodeClaim'),
    classes: await list(client, RESOURCES.nodeClasses, 'EC2NodeClass'),
  };
}

async function list(
  client: KubeClient,
  resource: Resource,
  kind: Held['kind'],
): Promise<readonly Held[]> {
  let found: Held[] = [];
  const visit = {
    start: () => {
      found = [];
    },
    object: (object: unknown) => void found.push(heldOf(kind, object)),
  };
  try {
    await listEach(client, { resource }, visit);
  } catch (error) {
    if (!isKubeFault(error, 'notFound')) throw error;
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function heldOf(kind: Held['kind'], object: unknown): Held {
  const metadata = property(object, 'metadata');
  const spec = property(object, 'spec');
  const source = kind === 'Node' ? spec : property(object, 'status');
  const owners = items(property(metadata, 'ownerReferences'));
  return {
    kind,
    name: text(property(metadata, 'name')),
    uid: text(property(metadata, 'uid')),
    finalizers: items(property(metadata, 'finalizers')).map(text),
    isDeleting: property(metadata, 'deletionTimestamp') !== undefined,
    labels: labelsOf(property(metadata, 'labels')),
    providerId: text(property(source, 'providerID')),
    owners: owners.map((owner) => text(property(owner, 'uid'))),
    classGroup: text(property(property(spec, 'nodeClassRef'), 'group')),
  };
}

function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function labelsOf(value: unknown): Readonly<Record<string, string>> {
  const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(pairs.map(([key, each]) => [key, text(each)]));
}

/** EKS Auto Mode runs Karpenter's kinds itself, with classes of a group of its own. */
const CLASS_GROUP = 'karpenter.k8s.aws';

export function isOurClaim(claim: Held): boolean {
  return claim.classGroup === CLASS_GROUP;
}

/** The claim that a node was launched for. */
export function claimOf(node: Held, claims: readonly Held[]): Held | undefined {
  return claims.find(
    ({ uid, providerId }) =>
      node.owners.includes(uid) || (providerId !== '' && providerId === node.providerId),
  );
}

/** Whether a node is of Joiner or Karpenter: by its claim, or where that is gone by its label. */
export function isOurNode(node: Held, claims: readonly Held[]): boolean {
  const claim = claimOf(node, claims);
  return claim === undefined ? node.labels[NODE_CLASS] !== undefined : isOurClaim(claim);
}

export function instanceOf(held: Held): string | undefined {
  return instanceIdOf(held.providerId);
}
