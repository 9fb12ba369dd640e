import type { Json } from '../../shared/sim/json.ts';
import { metadataOf, nodeMetadata } from './metadata.ts';
import type { NodePoolBetaSpec } from './old-pools.ts';
import { type Note, type PoolPart, present } from './part.ts';
import { CLASS_GROUP, CLASS_KIND, currentKeys, expiryNote, filled } from './pool.ts';

const ORIGINS = [
  ['spec.template.spec.expireAfter', 'spec.disruption.expireAfter'],
  ['spec.template.spec.nodeClassRef.group', 'spec.template.spec.nodeClassRef.apiVersion'],
] as const;

/** Where v1beta1 says nothing, it consolidates, as v1 does. */
function disruptionOf({ disruption = {} }: NodePoolBetaSpec): Json {
  const { consolidationPolicy, consolidateAfter = '0s', budgets } = disruption;
  return present({
    consolidationPolicy:
      consolidationPolicy === 'WhenEmpty' ? 'WhenEmpty' : 'WhenEmptyOrUnderutilized',
    consolidateAfter,
    budgets: budgets?.map((each) => present(each)),
  });
}

function expiryOf({ disruption = {} }: NodePoolBetaSpec): readonly Note[] {
  const { expireAfter } = disruption;
  const value = expireAfter === undefined ? 'not given, which is 720h' : `"${expireAfter}"`;
  return expiryNote('spec.disruption.expireAfter', value, expireAfter ?? '720h');
}

/** karpenter.sh/v1beta1 NodePool. */
export function poolOfBeta(object: Json, spec: NodePoolBetaSpec): PoolPart {
  const { template } = spec;
  const { nodeClassRef: reference, resources, kubelet } = template.spec;
  const at = 'spec.template.metadata';
  const fields = { labels: `${at}.labels`, annotations: `${at}.annotations` };
  const nodes = nodeMetadata(template.metadata?.labels, template.metadata?.annotations, fields);
  const unused = {
    field: 'spec.template.spec.resources',
    message: 'left out: a NodePool never had a use for it, and v1 does not know it',
  };
  return {
    metadata: metadataOf(object),
    spec: {
      template: {
        ...present({ metadata: nodes.metadata }),
        spec: present({
          requirements: currentKeys(template.spec.requirements),
          taints: filled(template.spec.taints),
          startupTaints: filled(template.spec.startupTaints),
          expireAfter: spec.disruption?.expireAfter ?? '720h',
        }),
      },
      disruption: disruptionOf(spec),
      ...present({ limits: filled(spec.limits), weight: spec.weight }),
    },
    nodeClassRef: {
      group: reference.apiVersion?.split('/')[0] || CLASS_GROUP,
      kind: reference.kind || CLASS_KIND,
      name: reference.name,
    },
    kubelet: filled(present(kubelet ?? {})),
    kubeletField: 'spec.template.spec.kubelet',
    notes: [...nodes.notes, ...(resources === undefined ? [] : [unused]), ...expiryOf(spec)],
    origins: ORIGINS,
  };
}
