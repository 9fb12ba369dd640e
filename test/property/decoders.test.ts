import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindDecoders } from '../../shared/api/kinds.ts';

const decoders = kindDecoders('server');
const metadata = { name: 'a', namespace: 'default', uid: 'u' };

/** Values as an API server of another version might have them: any, at any of the known fields. */
function objects(known: readonly string[]): fc.Arbitrary<object> {
  const json = fc.jsonValue({ maxDepth: 3 });
  const spec = fc.dictionary(fc.constantFrom(...known), json);
  return fc.record({ metadata: fc.constant(metadata), spec, status: json });
}

const POD = ['containers', 'tolerations', 'affinity', 'topologySpreadConstraints', 'volumes'];
const CLAIM = ['requirements', 'taints', 'nodeClassRef', 'expireAfter', 'resources'];

describe('objects that may not be taken for ones that are not there', () => {
  it.each([
    ['pod', decoders.Pod, [...POD, 'nodeName', 'overhead', 'priority', 'resources']],
    ['nodeClaim', decoders.NodeClaim, [...CLAIM, 'startupTaints', 'terminationGracePeriod']],
    ['node', decoders.Node, ['taints', 'providerID', 'unschedulable']],
    ['budget', decoders.PodDisruptionBudget, ['selector', 'minAvailable', 'maxUnavailable']],
  ] as const)('%s: are read in part at least, whatever is in them', (_, decode, known) => {
    fc.assert(
      fc.property(objects(known), (object) => {
        const decoded = decode(object);
        const value = decoded.ok ? decoded.value : decoded.partial;
        expect(value?.name).toBe('a');
      }),
      { numRuns: 500 },
    );
  });
});
