import * as z from 'zod';
import { ALIAS_FAMILIES } from '../core/launch/image-families/families.ts';
import {
  type CapacityReservation,
  FAMILY_NAMES,
  type Image,
  type ImageFamily,
  type NodeClass,
  type NodeClassStatus,
} from '../core/model/node-class.ts';
import {
  blockDeviceMappings,
  connectionTracking,
  kubelet,
  metadataOptions,
  networkInterfaces,
  tags,
} from './ec2-node-class/instance-settings.ts';
import {
  amiSelectorTerms,
  capacityReservationSelectorTerms,
  placementGroupSelector,
  securityGroupSelectorTerms,
  subnetSelectorTerms,
} from './ec2-node-class/selectors.ts';
import type { Decoded } from './issue.ts';
import { type DecodedParts, decodeParts, type UnknownFields } from './schema/decode.ts';
import { conditions, notEmpty, requirementExpression } from './schema/parts.ts';
import { withRules } from './schema/rule.ts';

const specShape = z.strictObject({
  subnetSelectorTerms,
  securityGroupSelectorTerms,
  capacityReservationSelectorTerms,
  placementGroupSelector: placementGroupSelector.optional(),
  associatePublicIPAddress: z.boolean().optional(),
  ipPrefixCount: z.int().min(0).optional(),
  amiSelectorTerms,
  amiFamily: z.enum(FAMILY_NAMES).optional(),
  userData: z.string().optional(),
  role: withRules(z.string(), [notEmpty('role')]).optional(),
  instanceProfile: withRules(z.string(), [notEmpty('instanceProfile')]).optional(),
  tags: tags.optional(),
  kubelet: kubelet.optional(),
  blockDeviceMappings: blockDeviceMappings.optional(),
  instanceStorePolicy: z.enum(['RAID0']).optional(),
  networkInterfaces: networkInterfaces.optional(),
  detailedMonitoring: z.boolean().optional(),
  metadataOptions: metadataOptions.default({
    httpEndpoint: 'enabled',
    httpProtocolIPv6: 'disabled',
    httpPutResponseHopLimit: 1,
    httpTokens: 'required',
  }),
  connectionTracking: connectionTracking.optional(),
  enclaveOptions: z.strictObject({ enabled: z.boolean() }).optional(),
  context: z.string().optional(),
  cpuOptions: z
    .strictObject({ nestedVirtualization: z.enum(['enabled', 'disabled']).optional() })
    .optional(),
});

const ALIAS_ENTRIES = [...ALIAS_FAMILIES];

const spec = withRules(specShape, [
  {
    cel: 'has(self.role) != has(self.instanceProfile)',
    message: "must specify exactly one of ['role', 'instanceProfile']",
    check: ({ role, instanceProfile }) => (role === undefined) !== (instanceProfile === undefined),
  },
  {
    cel: 'has(self.amiFamily) || self.amiSelectorTerms.exists(term, has(term.alias))',
    message: 'must specify amiFamily if amiSelectorTerms does not contain an alias',
    check: ({ amiFamily, amiSelectorTerms }) =>
      amiFamily !== undefined || amiSelectorTerms.some((each) => each.alias !== undefined),
  },
  {
    cel: `!has(self.amiFamily) || self.amiFamily == 'Custom' || self.amiSelectorTerms.all(term, !has(term.alias) || ${ALIAS_ENTRIES.map(
      ([alias, family]) => `(self.amiFamily == '${family}' && term.alias.startsWith('${alias}@'))`,
    ).join(' || ')})`,
    message: 'amiFamily must be that of the alias, or Custom',
    check: ({ amiFamily, amiSelectorTerms }) =>
      amiFamily === undefined ||
      amiFamily === 'Custom' ||
      amiSelectorTerms.every(
        ({ alias }) => alias === undefined || amiFamily === familyOfAlias(alias),
      ),
  },
]);

function familyOfAlias(alias: string): ImageFamily | undefined {
  return ALIAS_ENTRIES.find(([name]) => alias.startsWith(`${name}@`))?.[1];
}

const statusRequirement = z.object({
  key: z.string(),
  operator: z.string(),
  values: z.array(z.string()).optional(),
  minValues: z.int().optional(),
});

const status = z.object({
  subnets: z
    .array(z.object({ id: z.string(), zone: z.string(), zoneID: z.string().optional() }))
    .optional(),
  securityGroups: z.array(z.object({ id: z.string(), name: z.string().optional() })).optional(),
  capacityReservations: z
    .array(
      z.object({
        availabilityZone: z.string(),
        endTime: z.iso.datetime().optional(),
        id: z.string(),
        instanceMatchCriteria: z.enum(['open', 'targeted']),
        instanceType: z.string(),
        ownerID: z.string(),
        reservationType: z.enum(['default', 'capacity-block']).default('default'),
        interruptible: z.boolean().optional(),
        state: z.enum(['active', 'expiring']).default('active'),
      }),
    )
    .optional(),
  amis: z
    .array(
      z.object({
        id: z.string(),
        name: z.string().optional(),
        deprecated: z.boolean().optional(),
        requirements: z.array(statusRequirement),
      }),
    )
    .optional(),
  instanceProfile: z.string().optional(),
  conditions,
});

/** Of the condition Ready, read leniently as all conditions are. */
const observed = z.object({ type: z.literal('Ready'), observedGeneration: z.int().min(1) });

/** karpenter.k8s.aws/v1 EC2NodeClass. https://karpenter.sh/docs/concepts/nodeclasses/ */
export const EC2_NODE_CLASS_DEFINITION = {
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  spec,
  status,
} as const;

type Spec = z.output<typeof spec>;

export function decodeEC2NodeClass(
  object: unknown,
  unknownFields: UnknownFields = 'refuse',
): Decoded<NodeClass> {
  return decodeParts(EC2_NODE_CLASS_DEFINITION, object, unknownFields, nodeClassOf);
}

function nodeClassOf(parts: DecodedParts<Spec>): NodeClass {
  const { metadata, spec, generation } = parts;
  return {
    name: metadata.name,
    uid: metadata.uid,
    generation,
    annotations: metadata.annotations,
    finalizers: metadata.finalizers,
    isDeleting: metadata.deletedAtMs !== undefined,
    subnetSelectorTerms: defined(spec.subnetSelectorTerms),
    securityGroupSelectorTerms: defined(spec.securityGroupSelectorTerms),
    capacityReservationSelectorTerms: defined(spec.capacityReservationSelectorTerms ?? []),
    amiSelectorTerms: defined(spec.amiSelectorTerms),
    imageFamily: spec.amiFamily ?? familyOfAlias(spec.amiSelectorTerms[0]?.alias ?? '') ?? 'Custom',
    role: spec.role,
    instanceProfile: spec.instanceProfile,
    tags: spec.tags ?? {},
    spec,
    status: statusOf(parts),
  };
}

/** Fields that hold something; the rest is absent rather than undefined. */
function defined<Term extends object>(terms: readonly Term[]) {
  return terms.map(
    (term) =>
      Object.fromEntries(Object.entries(term).filter(([, value]) => value !== undefined)) as {
        [Key in keyof Term]: Exclude<Term[Key], undefined>;
      },
  );
}

/** Written by the nodeclass function; a status that does not read as its schema is an issue. */
function statusOf({ status: raw, conditions, read }: DecodedParts<Spec>): NodeClassStatus {
  const parsed = status.omit({ conditions: true }).safeParse(raw);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      read.note(['status', ...path].join('.'), message);
    }
  }
  const data = parsed.data ?? {};
  return {
    subnets: (data.subnets ?? []).map(({ id, zone, zoneID }) => ({ id, zone, zoneId: zoneID })),
    securityGroups: (data.securityGroups ?? []).map(({ id, name }) => ({ id, name })),
    images: (data.amis ?? []).map(imageOf),
    capacityReservations: (data.capacityReservations ?? []).map(reservationOf),
    instanceProfile: data.instanceProfile,
    conditions,
    ...observedOf(raw['conditions']),
  };
}

function observedOf(list: unknown): Pick<NodeClassStatus, 'observedGeneration'> {
  for (const each of Array.isArray(list) ? list : []) {
    const { success, data } = observed.safeParse(each);
    if (success) return { observedGeneration: data.observedGeneration };
  }
  return {};
}

type Status = z.output<typeof status>;
type Elements<List> = NonNullable<List> extends readonly (infer Element)[] ? Element : never;

function imageOf(image: Elements<Status['amis']>): Image {
  return {
    id: image.id,
    name: image.name,
    deprecated: image.deprecated ?? false,
    requirements: image.requirements.map((each) =>
      requirementExpression(each as Parameters<typeof requirementExpression>[0]),
    ),
  };
}

function reservationOf(each: Elements<Status['capacityReservations']>): CapacityReservation {
  return {
    id: each.id,
    instanceType: each.instanceType,
    zone: each.availabilityZone,
    ownerID: each.ownerID,
    instanceMatchCriteria: each.instanceMatchCriteria,
    reservationType: each.reservationType,
    interruptible: each.interruptible ?? false,
    state: each.state,
    endsAtMs: each.endTime === undefined ? undefined : Date.parse(each.endTime),
  };
}
