import type { Json } from '../../shared/sim/json.ts';
import { images } from './images.ts';
import { devices, identityOf, metadataOptions, UNSAID_ALPHA } from './instances.ts';
import type { NodeTemplateSpec } from './old-classes.ts';
import { type ClassPart, present } from './part.ts';
import { filled } from './pool.ts';
import { type Identity, imageNotes, imageTerms, selectorTerms } from './selectors.ts';

/** Fields of v1 and where v1alpha1 has them, below `at`. */
function originsBelow(at: string): ClassPart['origins'] {
  return [
    ['spec.amiSelectorTerms', `${at}.amiSelector`],
    ['spec.subnetSelectorTerms', `${at}.subnetSelector`],
    ['spec.securityGroupSelectorTerms', `${at}.securityGroupSelector`],
    ['spec.role', `${at}.instanceProfile`],
    ['spec', at],
  ];
}

/** karpenter.k8s.aws/v1alpha1 AWSNodeTemplate, or a Provisioner's `provider`; `at` is where it is. */
export function classOfProvider(
  metadata: Json,
  spec: NodeTemplateSpec,
  given: Identity,
  at = 'spec',
): ClassPart {
  const { amiSelector, amiFamily = 'AL2', subnetSelector, securityGroupSelector } = spec;
  const terms = amiSelector === undefined ? [] : imageTerms(amiSelector);
  const taken = images(amiFamily, terms, `${at}.amiFamily`, `${at}.amiSelector`);
  const { identity, notes } = identityOf(spec, given, `${at}.instanceProfile`);
  const options = metadataOptions(spec.metadataOptions, UNSAID_ALPHA, `${at}.metadataOptions`);
  return {
    metadata,
    spec: present({
      ...taken.fields,
      ...identity,
      subnetSelectorTerms: subnetSelector && selectorTerms(subnetSelector),
      securityGroupSelectorTerms: securityGroupSelector && selectorTerms(securityGroupSelector),
      associatePublicIPAddress: spec.associatePublicIPAddress,
      blockDeviceMappings: devices(spec.blockDeviceMappings) ?? taken.devices,
      metadataOptions: options.metadataOptions,
      detailedMonitoring: spec.detailedMonitoring,
      userData: spec.userData,
      tags: filled(spec.tags),
      context: spec.context,
    }),
    notes: [
      ...taken.notes,
      ...(amiSelector === undefined ? [] : imageNotes(`${at}.amiSelector`, amiSelector)),
      ...notes,
      ...options.notes,
    ],
    origins: originsBelow(at),
  };
}
