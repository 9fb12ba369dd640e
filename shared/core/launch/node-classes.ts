import { conditionOf, isTrue } from '../lifecycle/conditions.ts';
import type { Labels } from '../model/labels.ts';
import type { NodeClass } from '../model/node-class.ts';
import type { NodeClassReference } from '../model/provisioning.ts';

export const NODE_CLASS_GROUP = 'karpenter.k8s.aws';
export const NODE_CLASS_KIND = 'EC2NodeClass';

/** False: another program's, EKS Auto Mode's for instance. It is capacity, and never written. */
export function isOurs({ group }: NodeClassReference): boolean {
  return group === NODE_CLASS_GROUP;
}

/** The label that says which class a claim and its node are of. */
export function nodeClassLabels({ group, kind, name }: NodeClassReference): Labels {
  return { [`${group}/${kind.toLowerCase()}`]: name };
}

/** The class that a NodePool or NodeClaim names, if it is one of ours. */
export function nodeClassOf(
  { nodeClasses }: { readonly nodeClasses: readonly NodeClass[] },
  reference: NodeClassReference,
): NodeClass | undefined {
  if (reference.group !== NODE_CLASS_GROUP || reference.kind !== NODE_CLASS_KIND) return undefined;
  return nodeClasses.find((each) => each.name === reference.name);
}

/** The status is about the spec as it is now: after a change it is not, until it is looked at. */
export function isStatusCurrent({ generation, status }: NodeClass): boolean {
  return (status.observedGeneration ?? generation) >= generation;
}

/** Whether nodes of the class can be made is not known yet: it is new, or has changed. */
export function isAwaited(nodeClass: NodeClass): boolean {
  if (nodeClass.isDeleting) return false;
  const ready = conditionOf(nodeClass.status, 'Ready')?.status ?? 'Unknown';
  return ready === 'Unknown' || !isStatusCurrent(nodeClass);
}

/** Nodes of the class can be made, and existing ones be compared with it. */
export function isUsable(nodeClass: NodeClass): boolean {
  const { isDeleting, status } = nodeClass;
  return !isDeleting && isTrue(status, 'Ready') && isStatusCurrent(nodeClass);
}
