import { describe, expect, it } from 'vitest';
import {
  kubeletProblems,
  nodeClassProblems,
} from '../../../shared/core/launch/node-class-problems.ts';
import type { ImageFamily } from '../../../shared/core/model/node-class.ts';

function classWith(spec: Readonly<Record<string, unknown>>, imageFamily: ImageFamily = 'AL2023') {
  return { spec, imageFamily };
}

describe('what a class asks for that cannot be', () => {
  it('is nothing where it asks for nothing', () => {
    expect(nodeClassProblems(classWith({}))).toEqual([]);
    expect(nodeClassProblems(classWith({ kubelet: null, enclaveOptions: null }))).toEqual([]);
  });

  it('is said once for each reason, what is malformed first', () => {
    const spec = {
      kubelet: {
        maxPods: 'vcpus * 12',
        podsPerCore: -1,
        evictionMaxPodGracePeriod: -1,
        topologyManagerPolicy: 'restricted',
      },
      placementGroupSelector: { name: 'a' },
      enclaveOptions: { enabled: true },
    };
    expect(nodeClassProblems(classWith(spec, 'AL2'))).toEqual([
      {
        reason: 'InvalidKubeletConfiguration',
        message:
          'spec.kubelet.podsPerCore: must be a whole number from 0; ' +
          'spec.kubelet.evictionMaxPodGracePeriod: must be a whole number from 0',
      },
      {
        reason: 'KubeletExpressionsDisabled',
        message: 'spec.kubelet.maxPods: expressions are not supported: give an amount',
      },
      {
        reason: 'UnsupportedKubeletConfiguration',
        message: 'spec.kubelet.topologyManagerPolicy: is not supported by the image family AL2',
      },
      {
        reason: 'Unsupported',
        message:
          'spec.placementGroupSelector: placement groups are not supported; ' +
          'spec.enclaveOptions: Nitro Enclaves are not supported',
      },
    ]);
  });

  it.each([
    [{ placementGroupSelector: {} }, 1],
    [{ enclaveOptions: { enabled: false } }, 0],
    [{ enclaveOptions: {} }, 0],
    [{ enclaveOptions: 'enabled' }, 0],
  ])('%j', (spec, count) => {
    expect(nodeClassProblems(classWith(spec))).toHaveLength(count);
  });

  it('of the kubelet is told field by field', () => {
    const problems = kubeletProblems(classWith({ kubelet: { maxPods: -1, podsPerCore: -1 } }));
    expect(problems.map(({ path }) => path)).toEqual([
      'spec.kubelet.maxPods',
      'spec.kubelet.podsPerCore',
    ]);
  });
});
