import { type KubeletProblem, readKubelet } from '../core/launch/kubelet.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import { nodeClassSpec } from './node-class-spec.ts';

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
