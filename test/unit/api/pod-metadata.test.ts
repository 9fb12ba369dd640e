import { describe, expect, it } from 'vitest';
import { PodDecoder } from '../../../shared/api/kubernetes/pod.ts';

function decoded(metadata: object) {
  const named = { name: 'a', namespace: 'default', uid: 'u', ...metadata };
  const found = new PodDecoder().decode({ metadata: named, spec: { containers: [] } });
  if (!found.ok) throw new Error('it cannot be read');
  return found.value;
}

describe('the metadata of a pod', () => {
  it('names the API group of its owner: Volcano has Jobs, too', () => {
    const owner = { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', name: 'j', uid: 'j' };
    const ownerReferences = [{ ...owner, controller: true }];
    expect(decoded({ ownerReferences }).controller).toMatchObject(owner);
  });

  it('has the grace period of its deletion, which need not be that of its spec', () => {
    expect(decoded({ deletionGracePeriodSeconds: 5 }).deletionGraceSeconds).toBe(5);
    expect(decoded({})).not.toHaveProperty('deletionGraceSeconds');
  });

  it('does not make it the room of a CapacityBuffer', () => {
    const own = { 'joiner.dev/drain': 'rollout' };
    const annotations = { ...own, 'karpenter.sh/capacity-buffer-fake-pod': 'true' };
    expect(decoded({ annotations }).annotations).toEqual(own);
  });
});
