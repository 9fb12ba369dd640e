import type * as z from 'zod';
import { EC2_NODE_CLASS_DEFINITION } from '../api/ec2-node-class.ts';
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
    'invalid',
    'InvalidNodeClass',
    `EC2NodeClass ${nodeClass.name}: ${issues.join('; ')}`,
  );
}
