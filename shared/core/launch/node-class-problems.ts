import type { NodeClass } from '../model/node-class.ts';
import {
  KUBELET_REASONS,
  type KubeletProblem,
  type KubeletReason,
  readKubelet,
} from './kubelet.ts';

/** A reason and a message for the condition ValidationSucceeded. */
export interface NodeClassProblem {
  readonly reason: KubeletReason | 'Unsupported';
  readonly message: string;
}

type Settings = Pick<NodeClass, 'spec' | 'imageFamily'>;

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** What is wrong with the class's kubelet settings, field by field. */
export function kubeletProblems({ spec, imageFamily }: Settings): readonly KubeletProblem[] {
  return readKubelet(fieldsOf(spec['kubelet']), imageFamily).problems;
}

/** What a class asks for that its family cannot do, or that Joiner does not do; one each reason. */
export function nodeClassProblems(nodeClass: Settings): readonly NodeClassProblem[] {
  const problems = kubeletProblems(nodeClass);
  const kubelet = KUBELET_REASONS.map((reason) => ({
    reason,
    message: problems
      .filter((each) => each.reason === reason)
      .map(({ path, message }) => `${path}: ${message}`)
      .join('; '),
  }));
  const { placementGroupSelector, enclaveOptions } = nodeClass.spec;
  const unsupported = [
    ...(placementGroupSelector === undefined
      ? []
      : ['spec.placementGroupSelector: placement groups are not supported']),
    ...(fieldsOf(enclaveOptions)['enabled'] === true
      ? ['spec.enclaveOptions: Nitro Enclaves are not supported']
      : []),
  ];
  const all = [...kubelet, { reason: 'Unsupported' as const, message: unsupported.join('; ') }];
  return all.filter(({ message }) => message !== '');
}
