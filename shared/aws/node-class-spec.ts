import type * as z from 'zod';
import { EC2_NODE_CLASS_DEFINITION } from '../api/ec2-node-class.ts';
import type { KubeletProblem } from '../core/launch/kubelet.ts';
import { readKubelet } from '../core/launch/kubelet.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import { PortError } from '../ports/fault.ts';

/** The whole spec of an EC2NodeClass, as its schema types it. */
export type NodeClassSpec = z.output<typeof EC2_NODE_CLASS_DEFINITION.spec>;

/** Reads `nodeClass.spec`; one that does not read as its schema is a fault that names the fields. */
export function nodeClassSpec(nodeClass: NodeClass): NodeClassSpec {
  const parsed = EC2_NODE_CLASS_DEFINITION.spec.safeParse(nodeClass.spec);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    ({ path, message }) => `spec.${path.join('.')}: ${message}`,
  );
  throw new PortError(
    'unknown',
    'InvalidNodeClass',
    `EC2NodeClass ${nodeClass.name}: ${issues.join('; ')}`,
  );
}

/** A reason and a message for the condition ValidationSucceeded. */
export interface NodeClassProblem {
  readonly reason: KubeletProblem['reason'] | 'Unsupported';
  readonly message: string;
}

/** What a class asks for that its family cannot do, or that Joiner does not do. */
export function nodeClassProblems(nodeClass: NodeClass): readonly NodeClassProblem[] {
  const spec = nodeClassSpec(nodeClass);
  const { problems } = readKubelet(spec.kubelet ?? {}, nodeClass.imageFamily);
  const kubelet = problems.map(({ reason, path, message }) => ({
    reason,
    message: `${path}: ${message}`,
  }));
  if (spec.placementGroupSelector === undefined) return kubelet;
  const message = 'spec.placementGroupSelector: placement groups are not supported';
  return [...kubelet, { reason: 'Unsupported', message }];
}
