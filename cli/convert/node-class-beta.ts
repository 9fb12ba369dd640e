import type { Json } from '../../shared/sim/json.ts';
import { images } from './images.ts';
import { devices, identityOf, metadataOptions, UNSAID } from './instances.ts';
import { metadataOf } from './metadata.ts';
import type { NodeClassBetaSpec } from './old-classes.ts';
import { type ClassPart, present } from './part.ts';
import { filled } from './pool.ts';
import type { Identity } from './selectors.ts';

/** karpenter.k8s.aws/v1beta1 EC2NodeClass. */
export function classOfBeta(object: Json, spec: NodeClassBetaSpec, given: Identity): ClassPart {
  const terms = (spec.amiSelectorTerms ?? []).map((each) => present(each));
  const taken = images(spec.amiFamily, terms, 'spec.amiFamily', 'spec.amiSelectorTerms');
  const { identity, notes } = identityOf(spec, given, 'spec.role');
  const options = metadataOptions(spec.metadataOptions, UNSAID, 'spec.metadataOptions');
  return {
    metadata: metadataOf(object),
    spec: present({
      ...taken.fields,
      ...identity,
      subnetSelectorTerms: spec.subnetSelectorTerms.map((each) => present(each)),
      securityGroupSelectorTerms: spec.securityGroupSelectorTerms.map((each) => present(each)),
      associatePublicIPAddress: spec.associatePublicIPAddress,
      blockDeviceMappings: devices(spec.blockDeviceMappings) ?? taken.devices,
      instanceStorePolicy: spec.instanceStorePolicy,
      metadataOptions: options.metadataOptions,
      detailedMonitoring: spec.detailedMonitoring,
      userData: spec.userData,
      tags: filled(spec.tags),
      context: spec.context,
    }),
    notes: [...taken.notes, ...notes, ...options.notes],
    origins: [],
  };
}
